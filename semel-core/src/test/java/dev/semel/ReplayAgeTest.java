package dev.semel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.engine.Limits;
import dev.semel.json.Json;
import dev.semel.replay.Order;
import dev.semel.run.RunState;
import dev.semel.store.Plans;
import dev.semel.store.Replay;
import dev.semel.testing.Lab;
import dev.semel.workflow.Workflow;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A replay rests on what its run has on record, and that goes one day. */
final class ReplayAgeTest {
    private static final Workflow<String, String> FAILS = Workflow.define("fails", String.class, String.class)
            .body((_, _) -> {
                throw new IllegalStateException("no");
            });

    private static Replay.Plan plan(Lab lab, Run<?> run) {
        var which = new Replays.Which.These(List.of(run.id()));
        int ws = lab.semel().backstage().workspace();
        return lab.semel()
                .replays()
                .plan(new Replays.Asked(ws, "ann", which, new Order("test", "", false), null, false));
    }

    @Test
    void a_run_whose_record_goes_within_the_hour_is_not_replayed() {
        try (Lab lab = new Lab()) {
            lab.register(FAILS);
            Run<String> run = lab.start(FAILS, "a");
            lab.settle();
            assertEquals(RunState.FAILED, run.status());
            lab.clock().advance(Limits.DEFAULT.finishedRuns().minusHours(1).minus(Duration.ofMinutes(1)));
            assertEquals(1, Json.parse(plan(lab, run).counts()).path("safe").asInt(), "there is time enough");
            lab.clock().advance(Duration.ofMinutes(2));
            Replay.Plan late = plan(lab, run);
            assertEquals(0, Json.parse(late.counts()).path("safe").asInt(), late.counts());
            String body = lab.semel()
                    .replays()
                    .items(new Plans.Wanted(late.id(), 0, null), null, 10)
                    .getFirst()
                    .body();
            assertTrue(body.contains("its retention is over"), body);
        }
    }
}
