package dev.semel.trials.http;

import static dev.semel.trials.support.SampleWorkflows.flow;
import static dev.semel.trials.support.TriggerResponseChecks.fresh;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.ConcurrentCalls;
import dev.semel.trials.support.OnBothStores;
import dev.semel.trials.support.ProblemResponseChecks;
import dev.semel.trials.support.ServerFixture;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** What names a person is masked wherever it comes by, and shown to whoever says why, which is on record. */
class MaskTest extends OnBothStores {
    private static final String EMAIL = "Olga.Meyer@trials.example";
    private static final String DATA = "{\"data\":{\"email\":\"" + EMAIL
            + "\",\"card\":{\"holder\":\"Olga Meyer\",\"number\":4000123412341234},\"order\":\"o-1\",\"note\":\"for"
            + " Olga Meyer\"}}";

    MaskTest(ServerFixture stage) {
        super(stage);
    }

    private ApiCaller admin() {
        return stage.admin();
    }

    @BeforeEach
    void publish() {
        admin().publish("""
            semel: 1
            workflow: letters
            owner: trials
            input:
              email: { type: string, pii: true }
              card: { type: object, pii: true }
              order: string
            steps:
              - id: greet
                set: { text: "${ 'Dear ' + lower(input.email) + ', your ' + input.order }", number: "${ input.card.number }" }
              - id: may
                approval: { to: "role:ops", title: "Write to ${ input.email }?" }
            output: { to: "${ input.email }", order: "${ input.order }" }
            """).expect(200);
    }

    private String waiting(String key) {
        String run = fresh(admin().trigger("letters", key, DATA)).runId();
        ConcurrentCalls.until(
                "it waits", () -> admin().get("/v1/runs/" + run).text("status").equals("waiting"));
        return run;
    }

    private static void silent(String where, String text) {
        for (String value : List.of("olga", "meyer", "4000123412341234")) {
            assertFalse(
                    text.toLowerCase(java.util.Locale.ROOT).contains(value),
                    () -> value + " is shown by " + where + ": " + text);
        }
    }

    @Test
    void no_api_list_or_page_shows_values_of_a_marked_field() {
        String run = waiting("mask-1");
        String review = admin().get("/v1/reviews?q=workflow:letters")
                .expect(200)
                .json()
                .at("/items/0/review_id")
                .asString();
        List<String> everywhere = List.of(
                "/v1/runs",
                "/v1/workflows/letters/runs",
                "/v1/runs/" + run,
                "/v1/runs/" + run + "/timeline",
                "/v1/runs/" + run + "/requests",
                "/v1/reviews?q=workflow:letters",
                "/v1/reviews/" + review,
                "/v1/keys/mask-1",
                "/v1/effects?q=workflow:letters");
        everywhere.forEach(path -> silent(path, admin().get(path).expect(200).body()));
        admin().post("/v1/runs/" + run + "/decide", "{\"step\":\"may\",\"decision\":\"approve\"}")
                .expect(200);
        ConcurrentCalls.until(
                "it ends", () -> admin().get("/v1/runs/" + run).text("status").equals("completed"));
        everywhere.forEach(path -> silent(path, admin().get(path).expect(200).body()));
        JsonNode shown = admin().get("/v1/runs/" + run).json();
        assertEquals("•••", shown.at("/input/email").asString());
        assertEquals("•••", shown.at("/input/card").asString());
        assertEquals("o-1", shown.at("/input/order").asString());
        assertEquals("for •••", shown.at("/input/note").asString());
        assertEquals("•••", shown.at("/output/to").asString());
        assertEquals("o-1", shown.at("/output/order").asString());
        assertEquals("[\"card\",\"email\"]", shown.path("masked").toString());
        JsonNode greeting = admin().get("/v1/runs/" + run + "/timeline").json().at("/items/0/result");
        assertEquals("Dear •••, your o-1", greeting.path("text").asString());
        assertEquals("•••", greeting.path("number").asString());
    }

    @Test
    void a_list_that_omits_a_large_input_still_masks_its_results() {
        admin().publish("""
            semel: 1
            workflow: large
            owner: trials
            input:
              email: { type: string, pii: true }
            steps:
              - id: note
                set: { ok: true }
            output: { to: "${ input.email }" }
            """).expect(200);
        String filler = DATA.replace("o-1", "x".repeat(5_000)).replace("Olga Meyer", "somebody");
        String run = fresh(admin().trigger("large", "mask-large", filler)).runId();
        ConcurrentCalls.until(
                "it ends", () -> admin().get("/v1/runs/" + run).text("status").equals("completed"));
        JsonNode listed = admin().get("/v1/workflows/large/runs").json().at("/items/0");
        assertTrue(listed.path("input_omitted").asBoolean(), listed.toString());
        assertEquals("•••", listed.at("/output/to").asString());
    }

    @Test
    void a_permitted_user_with_a_reason_sees_values_and_is_audited_without_them() {
        String run = waiting("mask-2");
        String path = "/v1/runs/" + run + "/reveal";
        ProblemResponseChecks.expect(admin().post(path, "{}"), 400, "invalid-input");
        ProblemResponseChecks.expect(admin().post(path, "{\"reason\":\"  \"}"), 400, "invalid-input");
        ApiCaller viewer = stage.server().with("read");
        ProblemResponseChecks.expect(viewer.post(path, "{\"reason\":\"curious\"}"), 403, "forbidden");
        assertEquals(0, reveals(run).size(), "who was refused was shown nothing");
        String body = "{\"reason\":\"ticket 7\"}";
        JsonNode first = admin().post(path, body, "Idempotency-Key: reveal-1")
                .expect(200)
                .json();
        assertEquals(EMAIL, first.at("/input/email").asString());
        assertEquals(4000123412341234L, first.at("/input/card/number").asLong());
        assertEquals("[\"card\",\"email\"]", first.path("revealed").toString());
        assertEquals(
                first,
                admin().post(path, body, "Idempotency-Key: reveal-1")
                        .expect(200)
                        .json());
        ProblemResponseChecks.expect(
                admin().post(path, "{\"reason\":\"another\"}", "Idempotency-Key: reveal-1"),
                422,
                "idempotency-key-conflict");
        List<JsonNode> reported = reveals(run);
        assertEquals(1, reported.size(), "asked twice with one key, reported once");
        assertEquals(
                "[card, email] ticket 7", reported.getFirst().path("reason").asString());
        assertTrue(reported.getFirst().path("actor_id").asString().startsWith("tok_"));
        silent("the audit", admin().get("/v1/audit?q=action:run.reveal").body());
    }

    private List<JsonNode> reveals(String run) {
        return admin().get("/v1/audit?q=action:run.reveal")
                .expect(200)
                .json()
                .path("items")
                .valueStream()
                .filter(row -> row.path("target").asString().equals(run))
                .toList();
    }

    @Test
    void a_run_without_marked_fields_is_shown_unchanged() {
        admin().publish(flow("plain")).expect(200);
        String run = fresh(admin().trigger("plain", "plain-1", "{\"data\":{\"email\":\"ann@trials.example\"}}"))
                .runId();
        JsonNode shown = admin().get("/v1/runs/" + run).json();
        assertEquals("ann@trials.example", shown.at("/input/email").asString());
        assertFalse(shown.has("masked"));
        ProblemResponseChecks.expect(
                admin().post("/v1/runs/" + run + "/reveal", "{\"reason\":\"r\"}"), 400, "invalid-input");
    }
}
