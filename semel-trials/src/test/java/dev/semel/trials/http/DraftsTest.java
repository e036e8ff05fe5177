package dev.semel.trials.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.json.StrictJson;
import dev.semel.trials.support.Caller;
import dev.semel.trials.support.Crowd;
import dev.semel.trials.support.Flows;
import dev.semel.trials.support.OnBothStores;
import dev.semel.trials.support.Problem;
import dev.semel.trials.support.Reply;
import dev.semel.trials.support.Stage;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Texts that are not published yet: looked at, edited, and published over what their author has seen. */
class DraftsTest extends OnBothStores {
    private static final String TEXT = """
        # who is told what
        semel: 1
        workflow: told
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

    DraftsTest(Stage stage) {
        super(stage);
    }

    private Caller admin() {
        return stage.admin();
    }

    private Reply draft(String text, String workflow, String step, String edits) {
        ObjectNode body = JsonNodeFactory.instance.objectNode().put("text", text);
        if (!workflow.isEmpty()) {
            body.put("workflow", workflow);
        }
        if (!step.isEmpty()) {
            body.put("step", step);
        }
        body.set("edits", StrictJson.parse(edits));
        return admin().post("/v1/drafts", StrictJson.write(body));
    }

    @Test
    void an_edit_by_step_and_field_changes_that_place_of_the_text() {
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
    void a_text_with_a_mistake_is_shown_with_its_place_and_its_steps_all_the_same() {
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
    void an_edit_that_cannot_be_made_is_refused_as_a_whole() {
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
            Reply reply = draft(TEXT, "", "", edits);
            assertEquals(400, reply.status(), edits + reply.body());
        }
        Problem.expect(draft(TEXT, "none", "", "[]"), 404, "not-found");
    }

    @Test
    void a_key_is_shown_with_the_data_of_the_newest_run_but_not_what_is_made_of_personal_data() {
        String flow = Flows.flow(
                "shown", "input:\n  id: { type: string, required: true }\n  mail: { type: string, pii: true }");
        admin().publish(flow).expect(200);
        String id = admin().trigger("shown", stage.key(), "{\"data\":{\"id\":\"one two\",\"mail\":\"a@b\"}}")
                .expect(200)
                .text("run_id");
        Crowd.until(
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

    private Reply publish(String text, String name, String header) {
        return admin().send("PUT", "/v1/workflows/" + name, text, "Content-Type: application/yaml", header);
    }

    @Test
    void a_text_is_published_over_what_its_author_saw_and_over_nothing_else() {
        assertEquals(
                200, publish(Flows.flow("seen"), "seen", "If-None-Match: *").status());
        Problem.expect(publish(Flows.flow("seen", "title: b"), "seen", "If-None-Match: *"), 412, "precondition-failed");
        assertEquals("\"1\"", admin().get("/v1/workflows/seen").header("ETag"));
        assertEquals(
                2,
                publish(Flows.flow("seen", "title: b"), "seen", "If-Match: \"1\"")
                        .expect(200)
                        .json()
                        .path("version")
                        .asInt());
        Reply late = publish(Flows.flow("seen", "title: c"), "seen", "If-Match: \"1\"");
        Problem.expect(late, 412, "precondition-failed");
        assertEquals(2, late.json().path("version").asInt());
        assertEquals(2, admin().get("/v1/workflows/seen").json().path("version").asInt());
        assertFalse(
                publish(Flows.flow("seen", "title: b"), "seen", "If-Match: \"1\"")
                        .expect(200)
                        .flag("changed"),
                "asked twice");
        JsonNode diff =
                draft(Flows.flow("seen", "title: c"), "seen", "", "[]").json().path("diff");
        assertEquals("\"2\"", diff.path("tag").stringValue());
        assertTrue(diff.path("unified").stringValue().contains("-title: b\n+title: c\n"), diff::toString);
    }

    @Test
    void a_candidate_that_was_not_seen_is_not_written_over() {
        admin().publish(Flows.flow("tried_seen")).expect(200);
        admin().send(
                        "PUT",
                        "/v1/workflows/tried_seen?percentage=10",
                        Flows.flow("tried_seen", "title: b"),
                        "Content-Type: application/yaml")
                .expect(200);
        assertEquals("\"1-2\"", admin().get("/v1/workflows/tried_seen").header("ETag"));
        String mine = Flows.flow("tried_seen", "title: c");
        Problem.expect(publish(mine, "tried_seen", "If-Match: \"1\""), 412, "precondition-failed");
        publish(mine, "tried_seen", "If-Match: \"1-2\"").expect(200);
        for (String bad : new String[] {"If-Match: 1", "If-Match: \"x\"", "If-None-Match: \"1\"", "If-Match: *"}) {
            Problem.expect(publish(mine, "tried_seen", bad), 400, "invalid-input");
        }
    }
}
