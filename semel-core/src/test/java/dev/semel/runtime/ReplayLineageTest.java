package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.Run;
import dev.semel.RunStatus;
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
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Plans for runs of which some were replayed before, and how many of a plan are under way at once. */
final class ReplayLineageTest {
    private final WorkflowTestKit kit = new WorkflowTestKit();
    private final AtomicBoolean broken = new AtomicBoolean();
    private final FakeExternalSystem cards = kit.provider("cards").honoursKeysFor(Duration.ofHours(24));
    private final FakeExternalSystem mail = kit.provider("mail");

    private final Workflow<String, String> flow = Workflow.define("flow", String.class, String.class)
            .body((ctx, in) -> {
                ctx.step("load").retry(Retry.none()).run(String.class, _ -> {
                    if (broken.get()) {
                        throw new IllegalStateException("not today");
                    }
                    return in;
                });
                ctx.effect("charge").providerHonoursKey(Duration.ofHours(24)).call(step -> cards.call(step.key()));
                return ctx.effect("send")
                        .retry(Retry.none())
                        .repeatable("nobody minds")
                        .call(String.class, step -> mail.call(step.key()));
            });

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

    private Run<String> failed(String in) {
        mail.reject(1);
        Run<String> run = kit.start(flow, in);
        kit.settle();
        assertEquals(RunStatus.FAILED, run.status());
        return run;
    }

    private ReplayPlanStoreWriteCommand.ReplayPlan plan(
            ReplayPlanOperations.RunSelection which, @Nullable String input) {
        return TestRuntime.of(kit)
                .replays()
                .plan(new ReplayPlanOperations.ReplayRequest(
                        ws(),
                        "ann",
                        which,
                        new ReplayPlanRequest(
                                "test", "", false, List.of(), false, false, ReplayNotificationMode.MISSING),
                        input,
                        false,
                        ReplayPlanApplyOptions.SAFE));
    }

    private ReplayPlanStoreWriteCommand.ReplayPlan plan(Run<?> run, @Nullable String input) {
        return plan(new ReplayPlanOperations.RunSelection.ByRunId(List.of(run.id())), input);
    }

    private ReplayPlanStoreWriteCommand.ReplayPlan planFailed() {
        return plan(
                new ReplayPlanOperations.RunSelection.ByFilter(
                        new StoreQueries.RunFilter(ws(), null, RunState.FAILED, null, false, 0, null, 1, null)),
                null);
    }

    private void apply(ReplayPlanStoreWriteCommand.ReplayPlan plan, ReplayPlanApplyOptions applyOptions) {
        TestRuntime.of(kit).replays().apply(ws(), plan.id(), applyOptions, "bob");
        kit.settle();
    }

    private ReplayPlanStoreWriteCommand.ReplayPlan now(ReplayPlanStoreWriteCommand.ReplayPlan plan) {
        ReplayPlanStoreWriteCommand.ReplayPlan found =
                TestRuntime.of(kit).replays().findPlan(ws(), plan.id());
        assertNotNull(found);
        return found;
    }

    private List<ReplayPlanStoreWriteCommand.PlanItem> items(ReplayPlanStoreWriteCommand.ReplayPlan plan) {
        return TestRuntime.of(kit)
                .replays()
                .listItems(new ReplayPlanQueries.ItemFilter(plan.id(), 0, null), null, 1_000);
    }

    @Test
    void a_plan_skips_runs_that_were_replayed_before() {
        Run<String> first = failed("a");
        failed("b");
        apply(plan(first, null), ReplayPlanApplyOptions.SAFE);
        assertEquals(1, mail.effects());
        ReplayPlanStoreWriteCommand.ReplayPlan rest = planFailed();
        assertEquals(1, StrictJsonCodec.parse(rest.summary()).path("safe").asInt(), rest.summary());
        apply(rest, ReplayPlanApplyOptions.SAFE);
        assertEquals(ReplayPlanStoreWriteCommand.PlanState.DONE, now(rest).state());
        assertEquals(2, mail.effects());
        assertEquals(2, cards.calls());
        assertTrue(
                items(rest).stream().anyMatch(item -> item.note().contains("has completed")),
                "why the other one was left out is said");
    }

    @Test
    void effects_from_before_an_input_edit_need_a_user_in_the_next_plan_too() {
        Run<String> run = failed("four");
        ReplayPlanApplyOptions bold = new ReplayPlanApplyOptions(List.of(SafeReplayStepAction.ASK), 0, 0, 0);
        broken.set(true);
        apply(plan(run, "\"five\""), bold);
        broken.set(false);
        assertEquals(1, cards.calls(), "the edited one failed before it came to the card");
        ReplayPlanStoreWriteCommand.ReplayPlan next = planFailed();
        assertEquals(0, StrictJsonCodec.parse(next.summary()).path("safe").asInt(), next.summary());
        assertEquals(
                1, StrictJsonCodec.parse(next.summary()).at("/actions/ask/runs").asInt(), next.summary());
    }

    @Test
    void the_rate_limit_counts_started_runs_and_not_skipped_ones() {
        List<String> ids = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            Run<String> run = failed("in" + i);
            ids.add(run.id());
            if (i < 18) {
                apply(plan(run, null), ReplayPlanApplyOptions.SAFE);
            }
        }
        ReplayPlanStoreWriteCommand.ReplayPlan plan = plan(new ReplayPlanOperations.RunSelection.ByRunId(ids), null);
        TestRuntime.of(kit).replays().apply(ws(), plan.id(), new ReplayPlanApplyOptions(List.of(), 1, 0, 0), "bob");
        kit.settle();
        kit.clock().advance(Duration.ofSeconds(2));
        kit.settle();
        assertEquals(ReplayPlanStoreWriteCommand.PlanState.DONE, now(plan).state());
        assertEquals(20, mail.effects());
    }

    @Test
    void a_plan_that_stops_after_failures_has_not_started_all_runs_at_the_first_failure() {
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
        int runs = 250;
        mail.reject(runs);
        for (int i = 0; i < runs; i++) {
            kit.start(slow, "in" + i);
        }
        kit.settle();
        ReplayPlanStoreWriteCommand.ReplayPlan plan = planFailed();
        apply(plan, new ReplayPlanApplyOptions(List.of(), 0, 0, 1));
        long made = items(plan).stream().filter(item -> item.newRun() != null).count();
        assertTrue(made <= 100, "under way at once: " + made);
        for (int night = 0; night < 4; night++) {
            kit.clock().advance(Duration.ofHours(9));
            kit.settle();
        }
        assertEquals(ReplayPlanStoreWriteCommand.PlanState.DONE, now(plan).state());
        assertEquals(runs, mail.effects());
    }
}
