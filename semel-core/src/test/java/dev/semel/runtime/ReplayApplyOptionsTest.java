package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.Run;
import dev.semel.RunStatus;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJsonCodec;
import dev.semel.replay.ReplayNotificationMode;
import dev.semel.replay.ReplayPlanApplyOptions;
import dev.semel.replay.ReplayPlanRequest;
import dev.semel.replay.SafeReplayStepAction;
import dev.semel.run.RunState;
import dev.semel.store.ReplayPlanQueries;
import dev.semel.store.ReplayPlanStoreWriteCommand;
import dev.semel.store.StoreQueries;
import dev.semel.testing.FakeExternalSystem;
import dev.semel.testing.WorkflowTestKit;
import dev.semel.workflow.Retry;
import dev.semel.workflow.Workflow;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** How a plan is applied: as was approved, at a pace, a few first; and what an attempt to make it leaves behind. */
final class ReplayApplyOptionsTest {
    private static final ReplayPlanApplyOptions BOLD =
            new ReplayPlanApplyOptions(List.of(SafeReplayStepAction.UNPROTECTED, SafeReplayStepAction.ASK), 0, 0, 0);

    private final WorkflowTestKit kit = new WorkflowTestKit();
    private final FakeExternalSystem mail = kit.provider("mail");
    private final Workflow<String, String> flow = Workflow.define("flow", String.class, String.class)
            .body((ctx, in) -> ctx.effect("send")
                    .retry(Retry.none())
                    .repeatable("nobody minds")
                    .call(String.class, step -> mail.call(step.key())));

    @BeforeEach
    void open() {
        kit.register(flow);
    }

    @AfterEach
    void close() {
        kit.close();
    }

    private int ws() {
        return TestRuntime.of(kit).testAccess().workspace();
    }

    private ReplayPlanOperations replays() {
        return TestRuntime.of(kit).replays();
    }

    private Run<String> failed(String in) {
        mail.reject(1);
        Run<String> run = kit.start(flow, in);
        kit.settle();
        assertEquals(RunStatus.FAILED, run.status());
        return run;
    }

    private ReplayPlanOperations.ReplayRequest asked(
            ReplayPlanOperations.RunSelection which, boolean approval, ReplayPlanApplyOptions applyOptions) {
        return new ReplayPlanOperations.ReplayRequest(
                ws(),
                "ann",
                which,
                new ReplayPlanRequest("test", "", false, List.of(), false, false, ReplayNotificationMode.MISSING),
                null,
                approval,
                applyOptions);
    }

    private static ReplayPlanOperations.RunSelection these(Run<?>... runs) {
        return new ReplayPlanOperations.RunSelection.ByRunId(
                java.util.Arrays.stream(runs).map(Run::id).toList());
    }

    private ReplayPlanStoreWriteCommand.ReplayPlan now(ReplayPlanStoreWriteCommand.ReplayPlan plan) {
        ReplayPlanStoreWriteCommand.ReplayPlan found = replays().findPlan(ws(), plan.id());
        assertNotNull(found);
        return found;
    }

    private List<ReplayPlanStoreWriteCommand.PlanItem> items(ReplayPlanStoreWriteCommand.ReplayPlan plan) {
        return replays().listItems(new ReplayPlanQueries.ItemFilter(plan.id(), 0, null), null, 1_000);
    }

    @Test
    void a_plan_approved_as_safe_is_not_applied_with_more() {
        ReplayPlanStoreWriteCommand.ReplayPlan plan =
                replays().plan(asked(these(failed("a")), true, ReplayPlanApplyOptions.SAFE));
        assertEquals(
                ReplayPlanApplyOptions.SAFE.toJson().toString(),
                plan.applyOptions(),
                "who approves it sees how it will be applied");
        replays().approve(ws(), plan.id(), "bob");
        SemelException refused =
                assertThrows(SemelException.class, () -> replays().apply(ws(), plan.id(), BOLD, "ann"));
        assertEquals(ErrorCode.FORBIDDEN, refused.code());
        assertTrue(refused.detail().contains("unprotected"), refused.detail());
        assertEquals(ReplayPlanStoreWriteCommand.PlanState.PLANNED, now(plan).state());
        kit.settle();
        assertEquals(1, mail.calls());
        replays().apply(ws(), plan.id(), ReplayPlanApplyOptions.SAFE, "ann");
        kit.settle();
        assertEquals(ReplayPlanStoreWriteCommand.PlanState.DONE, now(plan).state());
    }

    @Test
    void options_given_with_the_plan_are_applied() {
        ReplayPlanApplyOptions shuffled = new ReplayPlanApplyOptions(
                List.of(SafeReplayStepAction.ASK, SafeReplayStepAction.UNPROTECTED), 0, 0, 0);
        ReplayPlanStoreWriteCommand.ReplayPlan plan = replays().plan(asked(these(failed("a")), true, BOLD));
        replays().approve(ws(), plan.id(), "bob");
        replays().apply(ws(), plan.id(), shuffled, "ann");
        kit.settle();
        assertEquals(
                BOLD,
                ReplayPlanApplyOptions.parse(String.valueOf(now(plan).applyOptions())),
                "in any order it is the same");
        ReplayPlanStoreWriteCommand.ReplayPlan free = replays().plan(asked(these(failed("b")), false, BOLD));
        replays().apply(ws(), free.id(), null, "ann");
        assertEquals(BOLD, ReplayPlanApplyOptions.parse(String.valueOf(now(free).applyOptions())));
    }

    @Test
    void a_run_that_left_the_filter_before_replanning_is_not_applied() {
        failed("old");
        kit.clock().advance(Duration.ofHours(1));
        Run<String> young = failed("young");
        kit.crashAt("plan-noted", 1);
        assertThrows(Throwable.class, () -> replays().plan(asked(all(0), false, ReplayPlanApplyOptions.SAFE)));
        kit.settle();
        ReplayPlanStoreWriteCommand.ReplayPlan half =
                replays().listPlans(ws(), null, 10).getFirst();
        assertEquals(2, items(half).size());
        long since = java.util.Objects.requireNonNull(TestRuntime.of(kit).view(reads -> reads.now())) - 60_000_000;
        ReplayPlanStoreWriteCommand.ReplayPlan made =
                replays().buildPlan(half.id(), asked(all(since), false, ReplayPlanApplyOptions.SAFE));
        assertEquals(1, StrictJsonCodec.parse(made.summary()).path("runs").asInt());
        assertEquals(
                List.of(young.id()),
                items(made).stream().map(item -> item.run().text()).toList());
    }

    private ReplayPlanOperations.RunSelection all(long since) {
        return new ReplayPlanOperations.RunSelection.ByFilter(
                new StoreQueries.RunFilter(ws(), null, RunState.FAILED, null, false, since, null, 1, null));
    }

    @Test
    void a_plan_waiting_for_its_first_runs_does_not_stop_another_plan() {
        Workflow<String, String> slow = Workflow.define("slow", String.class, String.class)
                .body((ctx, in) -> {
                    ctx.effect("send")
                            .retry(Retry.none())
                            .repeatable("nobody minds")
                            .call(step -> mail.call(step.key()));
                    ctx.sleep("night", Duration.ofHours(8));
                    return in;
                });
        kit.register(slow);
        mail.reject(2);
        Run<String> one = kit.start(slow, "1");
        Run<String> two = kit.start(slow, "2");
        kit.settle();
        ReplayPlanStoreWriteCommand.ReplayPlan waits =
                replays().plan(asked(these(one, two), false, ReplayPlanApplyOptions.SAFE));
        replays().apply(ws(), waits.id(), new ReplayPlanApplyOptions(List.of(), 0, 1, 0), "ann");
        kit.settle();
        assertEquals(
                1, items(waits).stream().filter(item -> item.newRun() != null).count());
        ReplayPlanStoreWriteCommand.ReplayPlan other =
                replays().plan(asked(these(failed("a")), false, ReplayPlanApplyOptions.SAFE));
        replays().apply(ws(), other.id(), null, "ann");
        kit.settle();
        assertEquals(ReplayPlanStoreWriteCommand.PlanState.DONE, now(other).state());
        assertEquals(ReplayPlanStoreWriteCommand.PlanState.APPLYING, now(waits).state());
        kit.clock().advance(Duration.ofHours(9));
        kit.settle();
        assertEquals(ReplayPlanStoreWriteCommand.PlanState.DONE, now(waits).state());
    }
}
