package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.Run;
import dev.semel.RunStatus;
import dev.semel.engine.EngineLimits;
import dev.semel.json.StrictJsonCodec;
import dev.semel.replay.ReplayNotificationMode;
import dev.semel.replay.ReplayPlanApplyOptions;
import dev.semel.replay.ReplayPlanRequest;
import dev.semel.store.ReplayPlanQueries;
import dev.semel.store.ReplayPlanStoreWriteCommand;
import dev.semel.testing.WorkflowTestKit;
import dev.semel.workflow.Workflow;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A replay rests on what its run has on record, and that goes one day. */
final class ReplayRetentionTest {
    private static final Workflow<String, String> FAILS = Workflow.define("fails", String.class, String.class)
            .body((_, _) -> {
                throw new IllegalStateException("no");
            });

    private static ReplayPlanStoreWriteCommand.ReplayPlan plan(WorkflowTestKit kit, Run<?> run) {
        var which = new ReplayPlanOperations.RunSelection.ByRunId(List.of(run.id()));
        int ws = TestRuntime.of(kit).testAccess().workspace();
        return TestRuntime.of(kit)
                .replays()
                .plan(new ReplayPlanOperations.ReplayRequest(
                        ws,
                        "ann",
                        which,
                        new ReplayPlanRequest(
                                "test", "", false, List.of(), false, false, ReplayNotificationMode.MISSING),
                        null,
                        false,
                        ReplayPlanApplyOptions.SAFE));
    }

    @Test
    void a_run_whose_record_expires_within_the_hour_is_not_replayed() {
        try (WorkflowTestKit kit = new WorkflowTestKit()) {
            kit.register(FAILS);
            Run<String> run = kit.start(FAILS, "a");
            kit.settle();
            assertEquals(RunStatus.FAILED, run.status());
            kit.clock()
                    .advance(EngineLimits.DEFAULT.finishedRuns().minusHours(1).minus(Duration.ofMinutes(1)));
            assertEquals(
                    1,
                    StrictJsonCodec.parse(plan(kit, run).summary()).path("safe").asInt(),
                    "there is time enough");
            kit.clock().advance(Duration.ofMinutes(2));
            ReplayPlanStoreWriteCommand.ReplayPlan late = plan(kit, run);
            assertEquals(0, StrictJsonCodec.parse(late.summary()).path("safe").asInt(), late.summary());
            String body = TestRuntime.of(kit)
                    .replays()
                    .listItems(new ReplayPlanQueries.ItemFilter(late.id(), 0, null), null, 10)
                    .getFirst()
                    .preview();
            assertTrue(body.contains("its retention period has ended"), body);
        }
    }
}
