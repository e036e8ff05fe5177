package dev.semel.trials.http;

import static dev.semel.trials.support.SampleWorkflows.failing;

import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.ConcurrentCalls;
import dev.semel.trials.support.ServerFixture;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Decisions of people, and safe replays, as {@link AuditTest} does them. */
final class AuditedDecisions {
    private final ServerFixture stage;

    AuditedDecisions(ServerFixture stage) {
        this.stage = stage;
    }

    private ApiCaller admin() {
        return stage.admin();
    }

    /** @param waiting two runs that ask whether they may go on */
    void addTo(Map<String, AuditTest.AuditedAction> actions, List<String> waiting) {
        reviews(actions, waiting);
        replays(actions);
    }

    private void reviews(Map<String, AuditTest.AuditedAction> actions, List<String> waiting) {
        String one = review(waiting.getFirst());
        actions.put(
                "POST /v1/reviews/{review_id}/decide",
                new AuditTest.AuditedAction(
                        "review.approve",
                        one,
                        () -> admin().post("/v1/reviews/" + one + "/decide", "{\"decision\":\"approve\"}")));
        String two = review(waiting.getLast());
        actions.put(
                "POST /v1/reviews/decide",
                new AuditTest.AuditedAction(
                        "review.reject",
                        two,
                        () -> admin().post(
                                        "/v1/reviews/decide", "{\"ids\":[\"" + two + "\"],\"decision\":\"reject\"}")));
    }

    /** The id of what a run asks. */
    private String review(String run) {
        List<String> found = new ArrayList<>();
        ConcurrentCalls.until("it asks", () -> {
            admin().get("/v1/reviews?limit=200&q=workflow:asking")
                    .expect(200)
                    .json()
                    .path("items")
                    .valueStream()
                    .filter(item -> item.path("run_id").asString("").equals(run))
                    .forEach(item -> found.add(item.path("review_id").asString("")));
            return !found.isEmpty();
        });
        return found.getFirst();
    }

    private void replays(Map<String, AuditTest.AuditedAction> actions) {
        admin().publish(failing("to_replay")).expect(200);
        String run = admin().post("/v1/workflows/to_replay/trigger?wait=60s", "{}", "Idempotency-Key: replay-1")
                .expect(200)
                .runId();
        String one = plan(run);
        String path = "/v1/replays/{replay_id}";
        actions.put(
                "POST " + path + "/approve",
                new AuditTest.AuditedAction(
                        "replay.approve", one, () -> admin().post("/v1/replays/" + one + "/approve", "")));
        actions.put(
                "POST " + path + "/apply",
                new AuditTest.AuditedAction(
                        "replay.apply", one, () -> admin().post("/v1/replays/" + one + "/apply", "")));
        String two = plan(run);
        actions.put(
                "POST " + path + "/stop",
                new AuditTest.AuditedAction(
                        "replay.stop", two, () -> admin().post("/v1/replays/" + two + "/stop", "{}")));
    }

    /** Made by somebody else, since a plan is approved by a second person. */
    private String plan(String run) {
        String body = "{\"runs\":[\"" + run + "\"],\"approval\":true}";
        return stage.server()
                .with("read", "operate")
                .post("/v1/replays", body)
                .expect(200)
                .text("replay_id");
    }
}
