package dev.semel.trials.http;

import static dev.semel.trials.support.SampleWorkflows.flow;
import static dev.semel.trials.support.SampleWorkflows.keyed;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.OnBothStores;
import dev.semel.trials.support.ProblemResponseChecks;
import dev.semel.trials.support.ServerFixture;
import java.util.HashSet;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** Up to a thousand triggers in one request, each judged by itself. */
class BatchTest extends OnBothStores {
    private static final String DATA = "\"data\": {\"note\": \"" + ServerFixture.CANARY + "\"}";

    BatchTest(ServerFixture stage) {
        super(stage);
    }

    @Test
    void a_thousand_items_are_a_thousand_runs_and_the_same_batch_again_is_none() {
        admin().publish(flow("plain")).expect(200);
        String batch = batch(IntStream.range(0, 1_000)
                .mapToObj(i -> "{\"key\": \"big-" + i + "\", " + DATA + "}")
                .toArray(String[]::new));
        long before = stage.count("SELECT count(*) FROM semel_run");
        JsonNode first = send("plain", batch);
        JsonNode again = send("plain", batch);
        Set<String> runs = new HashSet<>();
        for (int i = 0; i < 1_000; i++) {
            assertEquals(200, first.get(i).get("status_code").asInt());
            assertFalse(first.get(i).get("idempotent_replayed").asBoolean(), () -> first.toString());
            assertTrue(again.get(i).get("idempotent_replayed").asBoolean());
            assertEquals(
                    first.get(i).get("run_id").asString(),
                    again.get(i).get("run_id").asString());
            runs.add(first.get(i).get("run_id").asString());
        }
        assertEquals(1_000, runs.size());
        assertEquals(before + 1_000, stage.count("SELECT count(*) FROM semel_run"));
    }

    @Test
    void duplicates_inside_a_batch_are_duplicates_of_the_first() {
        admin().publish(keyed("declared", "fingerprint: [a]")).expect(200);
        String key = stage.key();
        JsonNode items = send(
                "declared",
                batch(
                        item(key, "{\"a\": 1}"),
                        item(key, "{\"a\": 1}"),
                        item(key, "{\"a\": 2}"),
                        item(key, "{\"a\": 1}")));
        assertFalse(items.get(0).get("idempotent_replayed").asBoolean(), items::toString);
        assertTrue(items.get(1).get("idempotent_replayed").asBoolean(), items::toString);
        assertEquals(422, items.get(2).get("status_code").asInt());
        assertEquals("idempotency-key-conflict", items.get(2).get("code").asString());
        assertEquals(
                items.get(0).get("run_id").asString(),
                items.get(2).get("run_id").asString());
        assertEquals(
                items.get(0).get("run_id").asString(),
                items.get(3).get("run_id").asString());
    }

    @Test
    void every_item_gets_its_own_result_in_its_own_position() {
        admin().publish(flow("typed", "input: { a: { type: integer, required: true } }"))
                .expect(200);
        String key = stage.key();
        JsonNode items = send(
                "typed",
                batch(
                        item(key, "{\"a\": 1}"),
                        item(key + "-bad", "{\"a\": \"" + ServerFixture.CANARY + "\"}"),
                        "{\"key\": \"\", \"data\": {\"a\": 1}}",
                        "{\"key\": \"caf\u00e9\", \"data\": {\"a\": 1}}",
                        "{\"key\": 5, \"data\": {\"a\": 1}}",
                        "7",
                        "{\"a\": 1}",
                        "{\"data\": {\"a\": 1}}",
                        "{\"data\": {\"a\": 1}, \"run_id\": \"batch-" + stage + "\", \"extra\": 1}"));
        int[] codes = {200, 400, 400, 400, 400, 400, 400, 200, 200};
        String[] words = {
            "",
            "invalid-input",
            "idempotency-key-invalid",
            "idempotency-key-invalid",
            "invalid-input",
            "invalid-input",
            "invalid-input",
            "",
            ""
        };
        assertEquals(codes.length, items.size());
        for (int i = 0; i < codes.length; i++) {
            JsonNode item = items.get(i);
            assertEquals(codes[i], item.get("status_code").asInt(), item::toString);
            if (codes[i] == 200) {
                assertTrue(item.get("workflow_id").asString().startsWith("wf_"), item::toString);
            } else {
                ProblemResponseChecks.check(item, codes[i]);
                assertEquals(words[i], item.get("code").asString(), item::toString);
                assertFalse(item.toString().contains(ServerFixture.CANARY), item::toString);
            }
        }
        assertEquals("batch-" + stage, items.get(8).get("run_id").asString());
        assertEquals(1, items.get(8).get("warnings").size());
        ProblemResponseChecks.expect(admin().get("/v1/keys/" + key + "-bad"), 404, "not-found");
    }

    @Test
    void a_batch_and_a_single_trigger_share_their_keys() {
        admin().publish(flow("plain")).expect(200);
        String key = stage.key();
        HttpReply single =
                admin().trigger("plain", key, "{\"data\": {\"x\": 1}}").expect(200);
        JsonNode items = send("plain", batch(item(key, "{\"x\": 1}"), "{\"data\": {}}", "{\"data\": {}}"));
        assertEquals(single.runId(), items.get(0).get("run_id").asString());
        assertNotEquals(
                items.get(1).get("run_id").asString(),
                items.get(2).get("run_id").asString());
    }

    @Test
    void strict_handling_applies_to_every_item() {
        admin().publish(flow("plain")).expect(200);
        String key = stage.key();
        HttpReply reply = admin().post(
                        "/v1/workflows/plain/trigger-batch",
                        batch(item(key, "{\"a\": 1}"), item(key, "{\"a\": 2}")),
                        "Prefer: handling=strict");
        assertEquals("handling=strict", reply.expect(200).header("Preference-Applied"));
        assertEquals(422, reply.json().at("/items/1/status_code").asInt());
    }

    @Test
    void an_invalid_batch_is_400_and_starts_nothing() {
        admin().publish(flow("plain")).expect(200);
        String before = stage.rows();
        String tooMany = batch(IntStream.range(0, 1_001).mapToObj(_ -> "{}").toArray(String[]::new));
        for (String body :
                new String[] {tooMany, "{\"items\": []}", "{}", "[]", "{\"items\": {}}", "{\"items\": [{]}"}) {
            ProblemResponseChecks.expect(admin().post("/v1/workflows/plain/trigger-batch", body), 400, "invalid-input");
        }
        ProblemResponseChecks.expect(admin().post("/v1/workflows/none/trigger-batch", batch("{}")), 404, "not-found");
        ProblemResponseChecks.expect(
                stage.server().with("read").post("/v1/workflows/plain/trigger-batch", batch("{}")), 403, "forbidden");
        ProblemResponseChecks.expect(
                admin().send("POST", "/v1/workflows/plain/trigger-batch", batch("{}")), 415, "unsupported-media-type");
        assertEquals(before, stage.rows().replaceAll("tokens \\d+", before.replaceAll(".*(tokens \\d+)", "$1")));
    }

    @Test
    void a_quota_counts_items() {
        admin().publish(flow("plain")).expect(200);
        ApiCaller small = stage.server().as(stage.server().token("\"quota_per_minute\": 2", "trigger"));
        String keys = stage.key();
        HttpReply reply = small.post(
                "/v1/workflows/plain/trigger-batch",
                batch(
                        item(keys + "-1", "{}"),
                        item(keys + "-2", "{}"),
                        item(keys + "-3", "{}"),
                        item(keys + "-4", "{}")));
        String codes = IntStream.range(0, 4)
                .mapToObj(i -> reply.json().at("/items/" + i + "/status_code").asString())
                .sorted()
                .collect(Collectors.joining(" "));
        assertEquals("200 200 429 429", codes, reply::body);
    }

    private JsonNode send(String workflow, String batch) {
        HttpReply reply = admin().post("/v1/workflows/" + workflow + "/trigger-batch", batch)
                .expect(200);
        return reply.json().get("items");
    }

    private static String item(String key, String data) {
        return "{\"key\": \"" + key + "\", \"data\": " + data + "}";
    }

    private static String batch(String... items) {
        return "{\"items\": [" + String.join(", ", items) + "]}";
    }

    private ApiCaller admin() {
        return stage.admin();
    }
}
