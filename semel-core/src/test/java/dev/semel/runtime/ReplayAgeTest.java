package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.Run;
import dev.semel.engine.EngineLimits;
import dev.semel.json.StrictJson;
import dev.semel.replay.ReplayPlanRequest;
import dev.semel.workflow.RunState;
import dev.semel.store.ReplayPlanQueries;
import dev.semel.store.ReplayPlanOperation;
import dev.semel.testing.WorkflowTestKit;
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

    private static ReplayPlanOperation.ReplayPlan plan(WorkflowTestKit lab, Run<?> run) {
        var which = new Replays.RunSelection.ByRunId(List.of(run.id()));
        int ws = TestRuntime.of(lab).testAccess().workspace();
        return TestRuntime.of(lab)
                .replays()
                .plan(new Replays.ReplayRequest(ws, "ann", which, new ReplayPlanRequest("test", "", false), null, false));
    }

    @Test
    void a_run_whose_record_goes_within_the_hour_is_not_replayed() {
        try (WorkflowTestKit lab = new WorkflowTestKit()) {
            lab.register(FAILS);
            Run<String> run = lab.start(FAILS, "a");
            lab.settle();
            assertEquals(RunState.FAILED, run.status());
            lab.clock().advance(EngineLimits.DEFAULT.finishedRuns().minusHours(1).minus(Duration.ofMinutes(1)));
            assertEquals(1, StrictJson.parse(plan(lab, run).summary()).path("safe").asInt(), "there is time enough");
            lab.clock().advance(Duration.ofMinutes(2));
            ReplayPlanOperation.ReplayPlan late = plan(lab, run);
            assertEquals(0, StrictJson.parse(late.summary()).path("safe").asInt(), late.summary());
            String body = TestRuntime.of(lab)
                    .replays()
                    .listItems(new ReplayPlanQueries.ItemFilter(late.id(), 0, null), null, 10)
                    .getFirst()
                    .preview();
            assertTrue(body.contains("its retention is over"), body);
        }
    }
}
