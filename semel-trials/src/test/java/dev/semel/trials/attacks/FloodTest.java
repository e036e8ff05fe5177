package dev.semel.trials.attacks;

import static dev.semel.trials.support.SampleWorkflows.data;
import static dev.semel.trials.support.SampleWorkflows.flow;
import static dev.semel.trials.support.TriggerResponseChecks.started;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.ConcurrentCalls;
import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.OnBothStores;
import dev.semel.trials.support.ProblemResponseChecks;
import dev.semel.trials.support.RawConnection;
import dev.semel.trials.support.ServerFixture;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Too many, too often, too slow. */
class FloodTest extends OnBothStores {
    private static final int HOT = 2_000;
    private static final int SLOW = 200;

    FloodTest(ServerFixture stage) {
        super(stage);
    }

    @BeforeEach
    void publish() {
        stage.admin().publish(flow("plain")).expect(200);
    }

    @Test
    void s17_many_keys_from_one_token_end_at_its_quota_and_others_continue() {
        int quota = 40;
        ApiCaller greedy = stage.server().as(stage.server().token("\"quota_per_minute\": " + quota, "trigger"));
        long before = stage.count("SELECT count(*) FROM semel_run");
        List<HttpReply> replies = ConcurrentCalls.atOnce(200, i -> greedy.trigger("plain", "greedy-" + i, data("")));
        long refused = replies.stream().filter(reply -> reply.status() == 429).count();
        long started = replies.stream().filter(reply -> reply.status() == 200).count();
        assertEquals(200, refused + started);
        // The bucket fills again while the test runs, so a few more than the quota is honest.
        assertTrue(started >= quota && refused > 0, () -> started + " started, " + refused + " refused");
        assertEquals(before + started, stage.count("SELECT count(*) FROM semel_run"));
        for (HttpReply reply : replies) {
            if (reply.status() == 429) {
                ProblemResponseChecks.expect(reply, 429, "over-quota");
                String wait = String.valueOf(reply.header("Retry-After"));
                assertTrue(Integer.parseInt(wait) >= 1, wait);
                assertEquals("\"fresh\";r=0;t=" + wait, reply.header("RateLimit"));
                assertEquals("\"fresh\";q=" + quota + ";w=60", reply.header("RateLimit-Policy"));
            }
        }
        started(stage.admin().trigger("plain", stage.key(), data("")));
    }

    @Test
    void s18_a_hot_key_is_one_run_and_other_keys_are_served_meanwhile() {
        String hot = stage.key();
        List<HttpReply> replies = ConcurrentCalls.atOnce(
                HOT + 100,
                i -> i % 21 == 20
                        ? stage.admin().trigger("plain", "cool-" + i, data(""))
                        : stage.admin().trigger("plain", hot, data("")));
        List<HttpReply> hots = new ArrayList<>();
        List<HttpReply> cools = new ArrayList<>();
        for (int i = 0; i < replies.size(); i++) {
            (i % 21 == 20 ? cools : hots).add(replies.get(i).expect(200));
        }
        assertEquals(HOT, hots.size());
        assertEquals(1, hots.stream().map(HttpReply::runId).distinct().count());
        assertEquals(
                1,
                hots.stream()
                        .filter(reply -> !reply.flag("idempotent_replayed"))
                        .count());
        assertEquals(
                cools.size(), cools.stream().map(HttpReply::runId).distinct().count());
        ConcurrentCalls.until(
                "the counts are exact",
                () -> stage.admin().get("/v1/keys/" + hot).json().get("replays").asInt() == HOT - 1);
        assertTrue(stage.admin()
                        .get("/v1/runs/" + hots.getFirst().runId())
                        .json()
                        .get("requests")
                        .size()
                <= 20);
    }

    @Test
    void s19_slow_clients_delay_no_one() {
        String before = stage.rows();
        List<RawConnection> slow = new ArrayList<>();
        try {
            for (int i = 0; i < SLOW; i++) {
                String head = stage.admin()
                        .head(
                                "POST",
                                "/v1/workflows/plain/trigger",
                                "Idempotency-Key: slow-" + i,
                                "Content-Type: application/json");
                slow.add(stage.server()
                        .wire()
                        .send(
                                switch (i % 3) {
                                    case 0 -> head.substring(0, 10);
                                    case 1 -> head + "Content-Length: 1000\r\n\r\n{";
                                    default -> head + "Transfer-Encoding: chunked\r\n\r\n5\r\n{";
                                }));
            }
            for (int i = 0; i < 20; i++) {
                stage.server().stranger().get("/healthz").expect(200);
            }
            assertEquals(before, stage.rows());
            started(stage.admin().trigger("plain", stage.key(), data("")));
        } finally {
            slow.forEach(RawConnection::close);
        }
        ConcurrentCalls.until(
                "still well", () -> stage.server().stranger().get("/readyz").status() == 200);
        assertEquals(0, stage.count("SELECT count(*) FROM semel_key WHERE key LIKE 'slow-%'"));
    }
}
