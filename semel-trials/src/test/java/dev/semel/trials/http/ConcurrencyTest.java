package dev.semel.trials.http;

import static dev.semel.trials.support.SampleWorkflows.data;
import static dev.semel.trials.support.SampleWorkflows.flow;
import static dev.semel.trials.support.SampleWorkflows.keyed;
import static dev.semel.trials.support.TriggerResponseChecks.replay;
import static dev.semel.trials.support.TriggerResponseChecks.started;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import dev.semel.trials.support.ConcurrentCalls;
import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.LiveServer;
import dev.semel.trials.support.OnBothStores;
import dev.semel.trials.support.ProblemResponseChecks;
import dev.semel.trials.support.ServerFixture;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Equal requests at once: one run, whatever the store, and however many servers stand before it. */
class ConcurrencyTest extends OnBothStores {
    private static final int MANY = 64;

    ConcurrencyTest(ServerFixture stage) {
        super(stage);
    }

    @Test
    void equal_concurrent_requests_start_one_run() {
        stage.admin().publish(flow("plain")).expect(200);
        String key = stage.key();
        oneRun(ConcurrentCalls.atOnce(MANY, _ -> stage.admin().trigger("plain", key, data(""))));
    }

    @Test
    void equal_concurrent_requests_with_derived_key_or_chosen_id_start_one_run() {
        stage.admin()
                .publish(flow("derived", "trigger: { http: { key: \"${ input.id }\" } }"))
                .expect(200);
        oneRun(ConcurrentCalls.atOnce(MANY, _ -> stage.admin().unkeyed("derived", data("\"id\": \"at-once\""))));
        stage.admin().publish(flow("plain")).expect(200);
        oneRun(ConcurrentCalls.atOnce(
                MANY, _ -> stage.admin().put("/v1/workflows/plain/runs/chosen-at-once", data(""))));
    }

    @Test
    void concurrent_requests_that_differ_in_a_declared_field_start_one_run_and_conflict() {
        stage.admin().publish(keyed("declared", "fingerprint: [a]")).expect(200);
        String key = stage.key();
        List<HttpReply> replies =
                ConcurrentCalls.atOnce(MANY, i -> stage.admin().trigger("declared", key, data("\"a\": " + i % 2)));
        Map<Integer, Long> statuses =
                replies.stream().collect(Collectors.groupingBy(HttpReply::status, Collectors.counting()));
        assertEquals(Map.of(200, MANY / 2L, 422, MANY / 2L), statuses);
        assertEquals(1, replies.stream().map(HttpReply::runId).distinct().count());
        assertEquals(1, fresh(replies));
    }

    @Test
    void equal_concurrent_unique_payloads_under_different_keys_start_one_run() {
        stage.admin()
                .publish(keyed("once", "duplicate_payload: reject, fingerprint: [a]"))
                .expect(200);
        List<HttpReply> replies =
                ConcurrentCalls.atOnce(MANY, _ -> stage.admin().trigger("once", stage.key(), data("\"a\": 1")));
        Map<Integer, Long> statuses =
                replies.stream().collect(Collectors.groupingBy(HttpReply::status, Collectors.counting()));
        assertEquals(Map.of(200, 1L, 409, MANY - 1L), statuses);
        assertEquals(1, replies.stream().map(HttpReply::runId).distinct().count());
    }

    @Test
    void two_servers_on_one_store_start_one_run() {
        stage.admin().publish(flow("plain")).expect(200);
        String key = stage.key();
        try (ServerPair pair = new ServerPair()) {
            oneRun(ConcurrentCalls.atOnce(MANY, i -> pair.of(i).admin().trigger("plain", key, data(""))));
        }
    }

    @Test
    void two_servers_on_one_store_agree_on_concurrent_conflicts_and_releases() {
        stage.admin().publish(keyed("agreed", "fingerprint: [a]")).expect(200);
        String key = stage.key();
        try (ServerPair pair = new ServerPair()) {
            HttpReply first = started(pair.of(0).admin().trigger("agreed", key, data("\"a\": 1")));
            replay(first, pair.of(1).admin().trigger("agreed", key, data("\"a\": 1")));
            HttpReply other = pair.of(1).admin().trigger("agreed", key, data("\"a\": 2"));
            assertEquals(
                    first.runId(),
                    ProblemResponseChecks.expect(other, 422, "idempotency-key-conflict")
                            .runId());
            pair.of(0)
                    .admin()
                    .post("/v1/keys/" + key + "/release", "{\"reason\": \"trial\"}")
                    .expect(200);
            HttpReply second = started(pair.of(1).admin().trigger("agreed", key, data("\"a\": 2")));
            assertNotEquals(first.runId(), second.runId());
            assertEquals(first.runId(), second.text("previous_run_id"));
            replay(second, pair.of(0).admin().trigger("agreed", key, data("\"a\": 2")));
        }
    }

    @Test
    void a_publish_pause_or_revocation_at_one_server_applies_at_the_other() {
        String token = stage.server().token("\"name\": \"shared\"", "trigger", "read");
        try (ServerPair pair = new ServerPair()) {
            pair.of(1).as(token).get("/v1/runs").expect(200);
            pair.of(0).admin().publish(flow("follows")).expect(200);
            started(pair.of(1).as(token).unkeyed("follows", data("")));
            pair.of(0).admin().post("/v1/workflows/follows/pause", "{}").expect(200);
            ConcurrentCalls.until(
                    "the other server queues",
                    () -> pair.of(1)
                            .as(token)
                            .unkeyed("follows", data(""))
                            .text("status")
                            .equals("queued"));
            pair.of(0).admin().post("/v1/workflows/follows/resume", "{}").expect(200);
            String id = tokenId("shared");
            pair.of(0).admin().delete("/v1/tokens/" + id).expect(200);
            pair.of(0).as(token).get("/v1/runs").expect(401);
            ConcurrentCalls.until(
                    "the other server refuses",
                    () -> pair.of(1).as(token).get("/v1/runs").status() == 401);
        }
    }

    private String tokenId(String name) {
        for (var token : stage.admin().get("/v1/tokens").json().get("items")) {
            if (token.get("name").asString().equals(name)
                    && token.get("revoked_at").isNull()) {
                return token.get("token_id").asString();
            }
        }
        throw new AssertionError("no token " + name);
    }

    private static void oneRun(List<HttpReply> replies) {
        replies.forEach(reply -> reply.expect(200));
        assertEquals(1, replies.stream().map(HttpReply::runId).distinct().count());
        assertEquals(1, fresh(replies));
        assertEquals(
                replies.size() - 1L,
                replies.stream()
                        .filter(reply -> "true".equals(reply.header("X-Idempotent-Replayed")))
                        .count());
    }

    private static long fresh(List<HttpReply> replies) {
        return replies.stream()
                .filter(reply -> reply.status() == 200 && !reply.flag("idempotent_replayed"))
                .count();
    }

    /** Two servers on PostgreSQL. A SQLite file has one process, so there both are the same one. */
    private final class ServerPair implements AutoCloseable {
        private final LiveServer first = stage.server();
        private final LiveServer second = switch (stage.kind()) {
            case POSTGRES -> stage.another();
            case SQLITE -> first;
        };

        LiveServer of(int number) {
            return number % 2 == 0 ? first : second;
        }

        @Override
        public void close() {
            switch (stage.kind()) {
                case POSTGRES -> second.close();
                case SQLITE -> {}
            }
        }
    }
}
