package dev.semel.trials.http;

import static dev.semel.trials.support.SampleWorkflows.flow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.trials.support.ConcurrentCalls;
import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.LiveServer;
import dev.semel.trials.support.ServerFixture;
import dev.semel.trials.support.StoreKind;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

/** Two servers on one PostgreSQL: an event is one run, and a subscription counts at both as soon as it is answered. */
class EventsOnTwoServersTest {
    private static final ServerFixture STAGE = new ServerFixture(StoreKind.POSTGRES);

    @AfterAll
    static void the_invariants_hold() {
        STAGE.end();
    }

    private static String event(String id, String type) {
        return "{\"id\":\"" + id + "\",\"source\":\"/shop\",\"type\":\"" + type + "\",\"data\":{}}";
    }

    private static String run(HttpReply reply) {
        return reply.expect(200).json().path("runs").path(0).path("run_id").asString();
    }

    @Test
    void equal_concurrent_events_at_both_servers_are_one_run() {
        STAGE.admin()
                .publish(flow("both", "trigger: { events: [{ type: n.paid }] }"))
                .expect(200);
        try (LiveServer other = STAGE.another()) {
            for (int round = 0; round < 8; round++) {
                String event = event("n" + round, "n.paid");
                List<String> runs = ConcurrentCalls.atOnce(
                        16, i -> run((i % 2 == 0 ? STAGE.admin() : other.admin()).post("/v1/events", event)));
                assertEquals(1, Set.copyOf(runs).size(), runs::toString);
            }
        }
    }

    @Test
    void a_subscription_at_one_server_applies_at_the_other_immediately() {
        try (LiveServer other = STAGE.another()) {
            for (int round = 0; round < 10; round++) {
                String type = "fresh" + round + ".paid";
                assertEquals("", run(other.admin().post("/v1/events", event("before", type))), "nobody yet");
                STAGE.admin()
                        .publish(flow("fresh" + round, "trigger: { events: [{ type: " + type + " }] }"))
                        .expect(200);
                String started = run(other.admin().post("/v1/events", event("after", type)));
                assertTrue(started.startsWith("run_"), started);
            }
        }
    }
}
