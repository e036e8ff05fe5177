package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.Run;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJson;
import dev.semel.replay.ReplayAction;
import dev.semel.replay.ApplyOptions;
import dev.semel.replay.ReplayPlanRequest;
import dev.semel.workflow.RunState;
import dev.semel.store.ReplayPlanQueries;
import dev.semel.store.StoreQueries;
import dev.semel.store.ReplayPlanOperation;
import dev.semel.testing.WorkflowTestKit;
import dev.semel.testing.FakeProvider;
import dev.semel.workflow.Retry;
import dev.semel.workflow.Workflow;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** How a plan is applied: as was approved, at a pace, a few first; and what an attempt to make it leaves behind. */
final class ReplayMannerTest {
    private static final ApplyOptions BOLD = new ApplyOptions(List.of(ReplayAction.UNPROTECTED, ReplayAction.ASK), 0, 0, 0);

    private final WorkflowTestKit lab = new WorkflowTestKit();
    private final FakeProvider mail = lab.provider("mail");
    private final Workflow<String, String> flow = Workflow.define("flow", String.class, String.class)
            .body((ctx, in) -> ctx.effect("send")
                    .retry(Retry.none())
                    .repeatable("nobody minds")
                    .call(String.class, step -> mail.call(step.key())));

    @BeforeEach
    void open() {
        lab.register(flow);
    }

    @AfterEach
    void close() {
        lab.close();
    }

    private int ws() {
        return TestRuntime.of(lab).testAccess().workspace();
    }

    private Replays replays() {
        return TestRuntime.of(lab).replays();
    }

    private Run<String> failed(String in) {
        mail.reject(1);
        Run<String> run = lab.start(flow, in);
        lab.settle();
        assertEquals(RunState.FAILED, run.status());
        return run;
    }

    private Replays.ReplayRequest asked(Replays.RunSelection which, boolean approval, ApplyOptions manner) {
        return new Replays.ReplayRequest(ws(), "ann", which, new ReplayPlanRequest("test", "", false), null, approval, manner);
    }

    private static Replays.RunSelection these(Run<?>... runs) {
        return new Replays.RunSelection.ByRunId(
                java.util.Arrays.stream(runs).map(Run::id).toList());
    }

    private ReplayPlanOperation.ReplayPlan now(ReplayPlanOperation.ReplayPlan plan) {
        ReplayPlanOperation.ReplayPlan found = replays().findPlan(ws(), plan.id());
        assertNotNull(found);
        return found;
    }

    private List<ReplayPlanOperation.PlanItem> items(ReplayPlanOperation.ReplayPlan plan) {
        return replays().listItems(new ReplayPlanQueries.ItemFilter(plan.id(), 0, null), null, 1_000);
    }

    @Test
    void what_was_approved_as_safe_is_not_applied_with_more() {
        ReplayPlanOperation.ReplayPlan plan = replays().plan(asked(these(failed("a")), true, ApplyOptions.SAFE));
        assertEquals(ApplyOptions.SAFE.toJson().toString(), plan.applyOptions(), "who approves it sees how it will be applied");
        replays().approve(ws(), plan.id(), "bob");
        SemelException refused =
                assertThrows(SemelException.class, () -> replays().apply(ws(), plan.id(), BOLD, "ann"));
        assertEquals(ErrorCode.FORBIDDEN, refused.code());
        assertTrue(refused.detail().contains("unprotected"), refused.detail());
        assertEquals(ReplayPlanOperation.PlanState.PLANNED, now(plan).state());
        lab.settle();
        assertEquals(1, mail.calls());
        replays().apply(ws(), plan.id(), ApplyOptions.SAFE, "ann");
        lab.settle();
        assertEquals(ReplayPlanOperation.PlanState.DONE, now(plan).state());
    }

    @Test
    void what_was_said_with_the_plan_is_how_it_is_applied() {
        ApplyOptions shuffled = new ApplyOptions(List.of(ReplayAction.ASK, ReplayAction.UNPROTECTED), 0, 0, 0);
        ReplayPlanOperation.ReplayPlan plan = replays().plan(asked(these(failed("a")), true, BOLD));
        replays().approve(ws(), plan.id(), "bob");
        replays().apply(ws(), plan.id(), shuffled, "ann");
        lab.settle();
        assertEquals(BOLD, ApplyOptions.parse(String.valueOf(now(plan).applyOptions())), "in any order it is the same");
        ReplayPlanOperation.ReplayPlan free = replays().plan(asked(these(failed("b")), false, BOLD));
        replays().apply(ws(), free.id(), null, "ann");
        assertEquals(BOLD, ApplyOptions.parse(String.valueOf(now(free).applyOptions())));
    }

    @Test
    void a_run_that_fell_out_of_the_filter_before_the_plan_was_made_anew_is_not_applied() {
        failed("old");
        lab.clock().advance(Duration.ofHours(1));
        Run<String> young = failed("young");
        lab.crashAt("plan-noted", 1);
        assertThrows(Throwable.class, () -> replays().plan(asked(all(0), false, ApplyOptions.SAFE)));
        lab.settle();
        ReplayPlanOperation.ReplayPlan half = replays().listPlans(ws(), null, 10).getFirst();
        assertEquals(2, items(half).size());
        long since = java.util.Objects.requireNonNull(TestRuntime.of(lab).view(reads -> reads.now())) - 60_000_000;
        ReplayPlanOperation.ReplayPlan made = replays().buildPlan(half.id(), asked(all(since), false, ApplyOptions.SAFE));
        assertEquals(1, StrictJson.parse(made.summary()).path("runs").asInt());
        assertEquals(
                List.of(young.id()),
                items(made).stream().map(item -> item.run().text()).toList());
    }

    private Replays.RunSelection all(long since) {
        return new Replays.RunSelection.ByFilter(new StoreQueries.RunFilter(ws(), null, RunState.FAILED, null, false, since, null, 1));
    }

    @Test
    void of_two_plans_one_that_waits_for_its_first_runs_does_not_stop_the_other() {
        Workflow<String, String> slow = Workflow.define("slow", String.class, String.class)
                .body((ctx, in) -> {
                    ctx.effect("send")
                            .retry(Retry.none())
                            .repeatable("nobody minds")
                            .call(step -> mail.call(step.key()));
                    ctx.sleep("night", Duration.ofHours(8));
                    return in;
                });
        lab.register(slow);
        mail.reject(2);
        Run<String> one = lab.start(slow, "1");
        Run<String> two = lab.start(slow, "2");
        lab.settle();
        ReplayPlanOperation.ReplayPlan waits = replays().plan(asked(these(one, two), false, ApplyOptions.SAFE));
        replays().apply(ws(), waits.id(), new ApplyOptions(List.of(), 0, 1, 0), "ann");
        lab.settle();
        assertEquals(
                1, items(waits).stream().filter(item -> item.newRun() != null).count());
        ReplayPlanOperation.ReplayPlan other = replays().plan(asked(these(failed("a")), false, ApplyOptions.SAFE));
        replays().apply(ws(), other.id(), null, "ann");
        lab.settle();
        assertEquals(ReplayPlanOperation.PlanState.DONE, now(other).state());
        assertEquals(ReplayPlanOperation.PlanState.APPLYING, now(waits).state());
        lab.clock().advance(Duration.ofHours(9));
        lab.settle();
        assertEquals(ReplayPlanOperation.PlanState.DONE, now(waits).state());
    }
}
