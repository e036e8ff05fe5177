package dev.semel.trials.http;

import static dev.semel.trials.support.TriggerResponseChecks.fresh;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.json.StrictJsonCodec;
import dev.semel.run.RunId;
import dev.semel.store.StoreWriteCommand;
import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.ConcurrentCalls;
import dev.semel.trials.support.OnBothStores;
import dev.semel.trials.support.ServerFixture;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** What a marked field holds does not come out by a way around the run: old versions, drafts, counts, stories, events. */
class MaskEverywhereTest extends OnBothStores {
    private static final String EMAIL = "Olga.Meyer@trials.example";
    private static final String DATA =
            "{\"data\":{\"email\":\"" + EMAIL + "\",\"order\":\"o-1\",\"seen\":{\"" + EMAIL + "\":\"sent\"}}}";
    private static final String MARKED = "email: { type: string, pii: true }";

    /** More than are read at once. */
    private static final int LARGE = 18;

    private static final String FLOW = """
        semel: 1
        workflow: NAME
        owner: trials
        input:
          email: { type: string, pii: true }
          order: string
        steps:
          - id: compose
            set: { to: "${ input.email }", about: "${ input.order }" }
          - id: make
            java: shout
            input: { text: hi }
            protect: ask
            does: create
            object: "${ 'mailbox ' + input.email }"
            idempotent: { key: "${ 'NAME/' + steps.compose.to }", time: 1, unit: days }
        output: { to: "${ steps.compose.to }" }
        """;

    MaskEverywhereTest(ServerFixture stage) {
        super(stage);
    }

    private ApiCaller admin() {
        return stage.admin();
    }

    private void publish(String text, String name) {
        admin().publish(text.replace("NAME", name)).expect(200);
    }

    private String ended(String workflow, String key) {
        String run = fresh(admin().trigger(workflow, key, DATA)).runId();
        ConcurrentCalls.until(
                "it ends",
                () -> !admin().get("/v1/runs/" + run).json().path("ended_at").isNull());
        return run;
    }

    private static void silent(String where, String text) {
        for (String value : List.of("olga", "meyer")) {
            assertFalse(
                    text.toLowerCase(Locale.ROOT).contains(value), () -> value + " is shown by " + where + ": " + text);
        }
    }

    @Test
    void marking_a_field_masks_earlier_runs_and_they_can_be_revealed() {
        String open = FLOW.replace(MARKED, "email: string");
        publish(open, "later");
        String run = ended("later", stage.key());
        assertTrue(admin().get("/v1/runs/" + run).body().contains(EMAIL), "nothing is marked yet");
        String staged = FLOW.replace("NAME", "later");
        admin().send("PUT", "/v1/workflows/later?percentage=5", staged, "Content-Type: application/yaml")
                .expect(200);
        silent(
                "a run beside a candidate that marks",
                admin().get("/v1/runs/" + run).body());
        publish(FLOW, "later");
        for (String path : List.of("/v1/runs/" + run, "/v1/runs/" + run + "/timeline", "/v1/workflows/later/runs")) {
            silent(path, admin().get(path).expect(200).body());
        }
        JsonNode shown = admin().get("/v1/runs/" + run).json();
        assertEquals("{\"•••\":\"sent\"}", shown.at("/input/seen").toString());
        JsonNode revealed = admin().post("/v1/runs/" + run + "/reveal", "{\"reason\":\"ticket 7\"}")
                .expect(200)
                .json();
        assertEquals(EMAIL, revealed.at("/input/email").asString());
        assertEquals("[\"email\"]", revealed.path("revealed").toString());
    }

    @Test
    void a_run_started_while_a_field_was_marked_stays_masked() {
        publish(FLOW, "earlier");
        String run = ended("earlier", stage.key());
        publish(FLOW.replace(MARKED, "email: string"), "earlier");
        silent("the run", admin().get("/v1/runs/" + run).expect(200).body());
    }

    @Test
    void a_draft_shows_a_viewer_no_key_derived_from_masked_data() {
        publish(FLOW, "drafted");
        ended("drafted", stage.key());
        assertEquals("o-1", preview("${ steps.compose.about }").path("key").asString());
        assertEquals("o-1", preview("${ input.order }").path("key").asString());
        for (String key : List.of(
                "${ input.email }",
                "${ steps.compose.to }",
                "x ${ steps.compose.to } y",
                "${ lower(steps.compose.to) }",
                "${ steps.compose.to.startsWith(\"O\") ? \"yes\" : \"no\" }",
                "${ json(steps.compose) }",
                "${ json(input.seen) }")) {
            JsonNode preview = preview(key);
            assertTrue(preview.path("key").isNull(), () -> key + ": " + preview);
            assertTrue(preview.path("problem").asString().contains("personal"), () -> key + ": " + preview);
        }
    }

    private JsonNode preview(String key) {
        String text =
                FLOW.replace("NAME", "drafted").replace("\"${ 'drafted/' + steps.compose.to }\"", "'" + key + "'");
        var body = JsonNodeFactory.instance.objectNode().put("workflow", "drafted");
        body.put("text", text).put("step", "make");
        return stage.server()
                .with("read")
                .post("/v1/drafts", StrictJsonCodec.write(body))
                .expect(200)
                .json()
                .path("preview");
    }

    @Test
    void effects_are_masked_in_key_histories_facts_objects_and_incident_reports() {
        publish(FLOW, "effects");
        String key = stage.key();
        ended("effects", key);
        publish(FLOW.replaceFirst("    idempotent: .*\n", ""), "twice");
        ended("twice", stage.key());
        ended("twice", stage.key());
        silent("the story", admin().get("/v1/keys/" + key).expect(200).body());
        String look = admin().post("/v1/keys/" + key + "/release?dry_run=true", "{\"reason\":\"a look\"}")
                .expect(200)
                .body();
        silent("a look at a release", look);
        assertTrue(look.contains("mailbox •••"), look);
        ConcurrentCalls.until("it is counted", () -> objects().at("/0/writes").asInt() == 2);
        silent("objects", objects().toString());
        assertEquals("mailbox •••", objects().at("/0/object").asString());
        String facts =
                admin().get("/v1/facts?kind=written&workflow=twice").expect(200).body();
        silent("facts", facts);
        assertTrue(facts.contains("mailbox •••"), facts);
        JsonNode incident = admin().post("/v1/incidents", "{\"since\":\"1h\",\"workflow\":\"twice\"}")
                .expect(200)
                .json();
        assertEquals(1, incident.at("/facts/duplicated").asInt(), incident::toString);
        silent("the review of an incident", incident.toString());
    }

    private JsonNode objects() {
        return admin().get("/v1/objects?having=writes%3E1&workflow=twice")
                .expect(200)
                .json()
                .path("items");
    }

    @Test
    void data_left_after_payload_or_run_deletion_are_masked_too() {
        publish(FLOW.replaceFirst("    idempotent: .*\n", ""), "gone");
        String run = fresh(admin().unkeyed("gone", DATA)).runId();
        ConcurrentCalls.until(
                "it ends",
                () -> !admin().get("/v1/runs/" + run).json().path("ended_at").isNull());
        var semel = stage.server().serve().semel();
        List<RunId> first = List.of(Objects.requireNonNull(RunId.parse(run)));
        assertEquals(1, semel.change(new StoreWriteCommand.ErasePayloads(first, Long.MAX_VALUE)));
        assertEquals(
                "{}",
                admin().get("/v1/runs/" + run).expect(200).json().path("input").toString());
        for (String path : List.of("/v1/effects?q=workflow:gone", "/v1/facts?kind=written&workflow=gone")) {
            String shown = admin().get(path).expect(200).body();
            assertTrue(shown.contains("•••"), shown);
            silent(path + " without its payload", shown);
        }
        assertEquals(1, semel.change(new StoreWriteCommand.DeleteRuns(first, Long.MAX_VALUE)));
        for (String path : List.of("/v1/objects?workflow=gone", "/v1/facts?kind=written&workflow=gone")) {
            String shown = admin().get(path).expect(200).body();
            assertTrue(shown.contains("•••"), shown);
            silent(path + " without its run", shown);
        }
    }

    @Test
    void large_inputs_omitted_from_a_list_still_mask_their_runs() {
        publish(FLOW.replace("output: {", "output: { of: \"${ input.order }\","), "large");
        String filler = "x".repeat(10_000);
        for (int i = 0; i < LARGE; i++) {
            String mail = "olga.meyer." + i + "@trials.example";
            fresh(admin().unkeyed(
                            "large",
                            "{\"data\":{\"email\":\"" + mail + "\",\"order\":\"o-" + i + "\",\"more\":\"" + filler
                                    + "\"}}"));
        }
        ConcurrentCalls.until("all have ended", () -> ended().equals(LARGE));
        JsonNode page =
                admin().get("/v1/workflows/large/runs?limit=100").expect(200).json();
        silent("a list of large runs", page.toString());
        for (JsonNode run : page.path("items")) {
            assertTrue(run.path("input_omitted").asBoolean(), run.toString());
            assertEquals("•••", run.at("/output/to").asString(), run.toString());
            assertTrue(run.at("/output/of").asString().startsWith("o-"), run.toString());
        }
    }

    private Integer ended() {
        int ended = 0;
        for (JsonNode run :
                admin().get("/v1/workflows/large/runs?limit=100").json().path("items")) {
            ended += run.path("ended_at").isNull() ? 0 : 1;
        }
        return ended;
    }

    @Test
    void an_event_is_masked_by_its_subscribed_workflows_and_others_are_shown() {
        publish(FLOW.replace("input:\n", "trigger: { events: [{ type: mask.signed_up }] }\ninput:\n"), "by_event");
        publish(
                FLOW.replace(
                        "input:\n",
                        "trigger: { events: [{ type: mask.moved, data: { email: \"${ event.data.who.mail }\" } }] }\n"
                                + "input:\n"),
                "by_part");
        String plain = "{\"email\":\"" + EMAIL + "\",\"note\":\"for " + EMAIL + "\",\"order\":\"o-1\",\"seen\":{\""
                + EMAIL + "\":1}}";
        JsonNode signed = sent("mask.signed_up", plain);
        assertEquals(
                StrictJsonCodec.parse(
                        "{\"email\":\"•••\",\"note\":\"for •••\",\"order\":\"o-1\",\"seen\":{\"•••\":1}}"),
                signed.at("/event/data"));
        JsonNode moved = sent("mask.moved", "{\"who\":{\"mail\":\"" + EMAIL + "\"},\"to\":\"Bonn\"}");
        assertEquals(StrictJsonCodec.parse("{\"who\":{\"mail\":\"•••\"},\"to\":\"Bonn\"}"), moved.at("/event/data"));
        for (String type : List.of("mask.signed_up", "mask.moved")) {
            silent(
                    "a list of events",
                    admin().get("/v1/events?type=" + type).expect(200).body());
        }
        assertEquals(EMAIL, sent("mask.unknown", plain).at("/event/data/email").asString());
    }

    private JsonNode sent(String type, String data) {
        String event =
                "{\"id\":\"" + type + "\",\"source\":\"trials\",\"type\":\"" + type + "\",\"data\":" + data + "}";
        String id = admin().post("/v1/events", event)
                .expect(200)
                .json()
                .at("/event/event_id")
                .asString();
        return stage.server().with("read").get("/v1/events/" + id).expect(200).json();
    }
}
