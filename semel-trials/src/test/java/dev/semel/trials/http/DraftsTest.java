package dev.semel.trials.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.json.StrictJsonCodec;
import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.ConcurrentCalls;
import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.OnBothStores;
import dev.semel.trials.support.ProblemResponseChecks;
import dev.semel.trials.support.SampleWorkflows;
import dev.semel.trials.support.ServerFixture;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Texts that are not published yet: looked at, edited, and published over what their author has seen. */
class DraftsTest extends OnBothStores {
    private static final String TEXT = """
        # who is notified what
        semel: 1
        workflow: reported
        owner: trials
        input:
          id: { type: string, required: true }
          mail: { type: string, pii: true }
        steps:
          - id: note              # first of all
            set: { place: "${ input.id + '-x' }" }
          - id: branch
            choose:
              - when: ${ input.id != "" }
                steps:
                  - id: tell      # inside
                    http: { method: POST, url: https://api.example.com/things }
                    protect: at_most_once
        """;

    DraftsTest(ServerFixture stage) {
        super(stage);
    }

    private ApiCaller admin() {
        return stage.admin();
    }

    private HttpReply draft(String text, String workflow, String step, String edits) {
        ObjectNode body = JsonNodeFactory.instance.objectNode().put("text", text);
        if (!workflow.isEmpty()) {
            body.put("workflow", workflow);
        }
        if (!step.isEmpty()) {
            body.put("step", step);
        }
        body.set("edits", StrictJsonCodec.parse(edits));
        return admin().post("/v1/drafts", StrictJsonCodec.write(body));
    }

    @Test
    void an_edit_by_step_and_field_changes_only_that_text() {
        String edits = """
            [{"op":"set","step":"tell","field":"idempotent.key","value":"${ key(\\"t\\", input.id) }"},
             {"op":"set","step":"tell","field":"idempotent.time","value":12},
             {"op":"set","step":"tell","field":"idempotent.unit","value":"hours"}]\
            """;
        JsonNode draft = draft(TEXT, "", "tell", edits).expect(200).json();
        String wanted = TEXT.replace("protect: at_most_once\n", """
            protect: at_most_once
                        idempotent:
                          key: ${ key("t", input.id) }
                          time: 12
                          unit: hours
            """);
        assertEquals(wanted, draft.path("text").stringValue());
        assertTrue(draft.path("valid").asBoolean(), draft::toString);
        assertEquals(12, draft.at("/fields/idempotent/time").asInt());
        JsonNode tell = draft.at("/steps/2");
        assertEquals("tell", tell.path("step").stringValue());
        assertEquals(1, tell.path("depth").asInt());
        assertEquals("when ${ input.id != \"\" }", tell.path("branch").stringValue());
        assertEquals(15, tell.path("line").asInt());
        assertEquals("trigger", draft.at("/items/0/subject").stringValue(), "the six questions");
    }

    @Test
    void steps_are_added_moved_and_removed_by_their_ids() {
        String moved =
                draft(TEXT, "", "", "[{\"op\":\"up\",\"step\":\"branch\"}]").text("text");
        assertTrue(moved.indexOf("id: branch") < moved.indexOf("id: note"), moved);
        assertEquals(
                TEXT,
                draft(moved, "", "", "[{\"op\":\"down\",\"step\":\"branch\"}]").text("text"));
        for (JsonNode kind : draft(TEXT, "", "", "[]").json().path("kinds")) {
            String add = "[{\"op\":\"add\",\"step\":\"tell\",\"id\":\"fresh\",\"kind\":" + kind + "}]";
            JsonNode more = draft(TEXT, "", "", add).expect(200).json();
            assertEquals("fresh", more.at("/steps/3/step").stringValue(), kind::toString);
            assertEquals(kind.stringValue(), more.at("/steps/3/kind").stringValue());
            for (JsonNode error : more.path("errors")) {
                assertTrue(error.path("message").stringValue().contains("input."), kind + ": " + error);
            }
            String gone = "[{\"op\":\"delete\",\"step\":\"fresh\"}]";
            assertEquals(
                    TEXT, draft(more.path("text").stringValue(), "", "", gone).text("text"));
        }
    }

    @Test
    void a_text_with_a_mistake_is_shown_with_its_position_and_its_steps() {
        JsonNode draft = draft(TEXT.replace("at_most_once", "sometimes"), "", "tell", "[]")
                .expect(200)
                .json();
        assertFalse(draft.path("valid").asBoolean());
        assertEquals(17, draft.at("/errors/0/line").asInt());
        assertTrue(draft.at("/errors/0/excerpt").stringValue().contains("^"), draft::toString);
        assertEquals(3, draft.path("steps").size());
        assertEquals("sometimes", draft.at("/fields/protect").stringValue());
        JsonNode broken = draft("semel: [", "", "", "[]").expect(200).json();
        assertEquals(0, broken.path("steps").size());
        assertEquals(1, broken.at("/errors/0/line").asInt());
    }

    @Test
    void an_impossible_edit_is_rejected_completely() {
        for (String edits : new String[] {
            "[{\"op\":\"set\",\"step\":\"none\",\"field\":\"when\",\"value\":\"x\"}]",
            "[{\"op\":\"up\",\"step\":\"note\"}]",
            "[{\"op\":\"add\",\"step\":\"note\",\"id\":\"tell\",\"kind\":\"set\"}]",
            "[{\"op\":\"add\",\"step\":\"note\",\"id\":\"Not An Id\",\"kind\":\"set\"}]",
            "[{\"op\":\"set\",\"step\":\"note\",\"field\":\"a..b\",\"value\":\"x\"}]",
            "[{\"op\":\"fly\",\"step\":\"note\"}]",
            "[{\"op\":\"set\",\"step\":\"tell\",\"field\":\"http\",\"value\":\"x\"}]",
            "[{\"op\":\"delete\",\"step\":\"tell\"}]"
        }) {
            HttpReply reply = draft(TEXT, "", "", edits);
            assertEquals(400, reply.status(), edits + reply.body());
        }
        ProblemResponseChecks.expect(draft(TEXT, "none", "", "[]"), 404, "not-found");
    }

    @Test
    void a_key_preview_uses_the_newest_run_but_hides_personal_data() {
        String flow = SampleWorkflows.flow(
                "shown", "input:\n  id: { type: string, required: true }\n  mail: { type: string, pii: true }");
        admin().publish(flow).expect(200);
        String id = admin().trigger("shown", stage.key(), "{\"data\":{\"id\":\"one two\",\"mail\":\"a@b\"}}")
                .expect(200)
                .text("run_id");
        ConcurrentCalls.until(
                "it has ended",
                () -> !admin().get("/v1/runs/" + id).json().path("ended_at").isNull());
        String text = flow.replace("output:", """
              - id: tell
                http: { method: POST, url: https://api.example.com/things }
                protect: at_most_once
                idempotent: { key: KEY }
            output:\
            """);
        assertEquals(
                "t:one%20two",
                preview(text, "'${ key(\"t\", input.id) }'").path("key").stringValue());
        assertEquals(
                "true-x", preview(text, "'${ steps.note.ok }-x'").path("key").stringValue());
        for (String personal :
                new String[] {"'${ input.mail }'", "'${ input[\"ma\" + \"il\"] }'", "'${ json(input) }'"}) {
            JsonNode preview = preview(text, personal);
            assertTrue(preview.path("key").isNull(), preview::toString);
            assertTrue(preview.path("problem").stringValue().contains("personal"), preview::toString);
        }
        JsonNode unmarked = preview(text.replace(", pii: true", ""), "'${ input.mail }'");
        assertTrue(unmarked.path("key").isNull(), "the run was started when it was marked");
    }

    private JsonNode preview(String text, String key) {
        return draft(text.replace("KEY", key), "shown", "tell", "[]")
                .expect(200)
                .json()
                .path("preview");
    }

    private HttpReply publish(String text, String name, String header) {
        return admin().send("PUT", "/v1/workflows/" + name, text, "Content-Type: application/yaml", header);
    }

    @Test
    void a_text_is_published_only_over_the_version_that_its_author_saw() {
        assertEquals(
                200,
                publish(SampleWorkflows.flow("seen"), "seen", "If-None-Match: *")
                        .status());
        ProblemResponseChecks.expect(
                publish(SampleWorkflows.flow("seen", "title: b"), "seen", "If-None-Match: *"),
                412,
                "precondition-failed");
        assertEquals("\"1\"", admin().get("/v1/workflows/seen").header("ETag"));
        assertEquals(
                2,
                publish(SampleWorkflows.flow("seen", "title: b"), "seen", "If-Match: \"1\"")
                        .expect(200)
                        .json()
                        .path("version")
                        .asInt());
        HttpReply late = publish(SampleWorkflows.flow("seen", "title: c"), "seen", "If-Match: \"1\"");
        ProblemResponseChecks.expect(late, 412, "precondition-failed");
        assertEquals(2, late.json().path("version").asInt());
        assertEquals(2, admin().get("/v1/workflows/seen").json().path("version").asInt());
        assertFalse(
                publish(SampleWorkflows.flow("seen", "title: b"), "seen", "If-Match: \"1\"")
                        .expect(200)
                        .flag("changed"),
                "asked twice");
        JsonNode diff = draft(SampleWorkflows.flow("seen", "title: c"), "seen", "", "[]")
                .json()
                .path("diff");
        assertEquals("\"2\"", diff.path("tag").stringValue());
        assertTrue(diff.path("unified").stringValue().contains("-title: b\n+title: c\n"), diff::toString);
    }

    @Test
    void an_unseen_candidate_is_not_overwritten() {
        admin().publish(SampleWorkflows.flow("tried_seen")).expect(200);
        admin().send(
                        "PUT",
                        "/v1/workflows/tried_seen?percentage=10",
                        SampleWorkflows.flow("tried_seen", "title: b"),
                        "Content-Type: application/yaml")
                .expect(200);
        assertEquals("\"1-2\"", admin().get("/v1/workflows/tried_seen").header("ETag"));
        String mine = SampleWorkflows.flow("tried_seen", "title: c");
        ProblemResponseChecks.expect(publish(mine, "tried_seen", "If-Match: \"1\""), 412, "precondition-failed");
        publish(mine, "tried_seen", "If-Match: \"1-2\"").expect(200);
        for (String bad : new String[] {"If-Match: 1", "If-Match: \"x\"", "If-None-Match: \"1\"", "If-Match: *"}) {
            ProblemResponseChecks.expect(publish(mine, "tried_seen", bad), 400, "invalid-input");
        }
    }
}
