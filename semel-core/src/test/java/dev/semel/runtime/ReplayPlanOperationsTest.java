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
import dev.semel.store.ReplayPlanStoreWriteCommand.ItemOutcome;
import dev.semel.store.StoreQueries;
import dev.semel.store.StoreWriteCommand;
import dev.semel.testing.FakeExternalSystem;
import dev.semel.testing.WorkflowTestKit;
import dev.semel.workflow.Retry;
import dev.semel.workflow.Start;
import dev.semel.workflow.Workflow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** Plans of safe replays, and what they do when they are applied, counted at the providers. */
final class ReplayPlanOperationsTest {
    private final WorkflowTestKit kit = new WorkflowTestKit();
    private final FakeExternalSystem cards = kit.provider("cards").honoursKeysFor(Duration.ofHours(24));
    private final FakeExternalSystem mail = kit.provider("mail");

    @AfterEach
    void close() {
        kit.close();
    }

    /** Charges a card, then sends a mail, which may be refused. */
    private Workflow<String, String> receipt() {
        return Workflow.define("receipt", String.class, String.class).body((ctx, in) -> {
            ctx.step("load").run(String.class, _ -> in);
            String paid = ctx.effect("charge")
                    .providerHonoursKey(Duration.ofHours(24))
                    .call(String.class, step -> cards.call(step.key()));
            ctx.effect("send")
                    .retry(Retry.none())
                    .lookup(String.class, step -> mail.find(step.key()))
                    .call(step -> mail.call(step.key()));
            return paid;
        });
    }

    private int ws() {
        return TestRuntime.of(kit).testAccess().workspace();
    }

    private ReplayPlanStoreWriteCommand.ReplayPlan plan(
            ReplayPlanOperations.RunSelection which, String from, @Nullable String input, boolean approval) {
        return TestRuntime.of(kit)
                .replays()
                .plan(new ReplayPlanOperations.ReplayRequest(
                        ws(),
                        "ann",
                        which,
                        new ReplayPlanRequest(
                                "test", from, false, List.of(), false, false, ReplayNotificationMode.MISSING),
                        input,
                        approval,
                        ReplayPlanApplyOptions.SAFE));
    }

    private ReplayPlanStoreWriteCommand.ReplayPlan planFailed() {
        var filter = new StoreQueries.RunFilter(ws(), null, RunState.FAILED, null, false, 0, null, 1, null);
        return plan(new ReplayPlanOperations.RunSelection.ByFilter(filter), "", null, false);
    }

    private ReplayPlanStoreWriteCommand.ReplayPlan planOf(Run<?>... runs) {
        return plan(
                new ReplayPlanOperations.RunSelection.ByRunId(
                        java.util.Arrays.stream(runs).map(Run::id).toList()),
                "",
                null,
                false);
    }

    private ReplayPlanStoreWriteCommand.ReplayPlan apply(
            ReplayPlanStoreWriteCommand.ReplayPlan plan, ReplayPlanApplyOptions applyOptions) {
        ReplayPlanStoreWriteCommand.ReplayPlan applied =
                TestRuntime.of(kit).replays().apply(ws(), plan.id(), applyOptions, "bob");
        kit.settle();
        return applied;
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

    private static long steps(ReplayPlanStoreWriteCommand.ReplayPlan plan, SafeReplayStepAction action) {
        return counts(plan).at("/actions/" + action.word() + "/steps").asLong();
    }

    private static JsonNode counts(ReplayPlanStoreWriteCommand.ReplayPlan plan) {
        return StrictJsonCodec.parse(plan.summary());
    }

    private Run<String> failed(Workflow<String, String> receipt, String key) {
        mail.reject(1);
        Run<String> run = kit.start(receipt, key, Start.withKey(key));
        kit.settle();
        assertEquals(RunStatus.FAILED, run.status());
        return run;
    }

    @Test
    void applying_a_plan_does_exactly_what_its_preview_showed() {
        Workflow<String, String> receipt = receipt();
        kit.register(receipt);
        Run<String> run = failed(receipt, "a");
        ReplayPlanStoreWriteCommand.ReplayPlan plan = planOf(run);
        assertEquals(ReplayPlanStoreWriteCommand.PlanState.PLANNED, plan.state());
        assertEquals(2, steps(plan, SafeReplayStepAction.REUSE), plan.summary());
        assertEquals(1, steps(plan, SafeReplayStepAction.SEND), plan.summary());
        assertEquals(1, counts(plan).path("safe").asInt());
        assertEquals(1, counts(plan).path("incomplete").asInt(), "what code does next is not known");
        assertEquals(1, cards.calls());
        assertEquals(1, mail.calls());
        apply(plan, ReplayPlanApplyOptions.SAFE);
        ReplayPlanStoreWriteCommand.PlanItem item = items(plan).getFirst();
        assertEquals(ItemOutcome.APPLIED, item.outcome());
        assertEquals(1, cards.calls(), "it was charged before");
        assertEquals(2, mail.calls());
        assertEquals(1, mail.effects());
        assertEquals(ReplayPlanStoreWriteCommand.PlanState.DONE, now(plan).state());
        assertEquals(
                List.of(new ReplayPlanQueries.ItemCount(ItemOutcome.APPLIED, RunState.COMPLETED, 1)),
                TestRuntime.of(kit).replays().progress(plan.id()));
        String made = String.valueOf(item.newRun());
        assertEquals("cards-1", TestRuntime.of(kit).run(receipt, made).result(Duration.ZERO));
        apply(plan, ReplayPlanApplyOptions.SAFE);
        assertEquals(2, mail.calls(), "it is applied once");
    }

    @Test
    void a_batch_that_failed_half_way_is_replayed_without_a_duplicate() {
        Workflow<String, String> receipt = receipt();
        kit.register(receipt);
        int runs = 30;
        for (int i = 0; i < runs; i++) {
            if (i % 2 == 0) {
                mail.reject(1);
            }
            kit.start(receipt, "in" + i, Start.withKey("k" + i));
            kit.settle();
        }
        assertEquals(runs / 2, mail.effects());
        ReplayPlanStoreWriteCommand.ReplayPlan plan = planFailed();
        assertEquals(runs / 2, counts(plan).path("runs").asInt());
        assertEquals(runs / 2, steps(plan, SafeReplayStepAction.SEND));
        apply(plan, new ReplayPlanApplyOptions(List.of(), 0, 3, 1));
        assertEquals(runs, mail.effects(), "all that were missing");
        assertEquals(runs, cards.calls(), "none again");
        assertEquals(runs, java.util.Set.copyOf(cards.keys()).size());
        assertEquals(0, counts(planFailed()).path("safe").asInt(), "all of them were replayed");
    }

    @Test
    void a_crash_between_a_new_run_and_its_item_continues_with_the_same_run() {
        Workflow<String, String> receipt = receipt();
        kit.register(receipt);
        for (int i = 0; i < 5; i++) {
            failed(receipt, "k" + i);
        }
        ReplayPlanStoreWriteCommand.ReplayPlan plan = planFailed();
        kit.crashAt("replay-admitted", 1);
        kit.clock().autoAdvance();
        apply(plan, ReplayPlanApplyOptions.SAFE);
        assertEquals(ReplayPlanStoreWriteCommand.PlanState.DONE, now(plan).state());
        assertTrue(items(plan).stream().allMatch(item -> item.outcome() == ItemOutcome.APPLIED));
        assertEquals(5, mail.effects());
        assertEquals(5, cards.calls());
        var all = new StoreQueries.RunFilter(ws(), null, null, null, false, 0, null, 100, null);
        Integer runs = TestRuntime.of(kit).view(reads -> reads.runs(all).size());
        assertEquals(10, runs);
    }

    @Test
    void a_crash_while_planning_leaves_a_plan_that_cannot_be_applied() {
        Workflow<String, String> receipt = receipt();
        kit.register(receipt);
        Run<String> run = failed(receipt, "a");
        kit.crashAt("plan-noted", 1);
        assertThrows(Throwable.class, () -> planOf(run));
        kit.settle();
        ReplayPlanStoreWriteCommand.ReplayPlan half =
                TestRuntime.of(kit).replays().listPlans(ws(), null, 10).getFirst();
        assertEquals(ReplayPlanStoreWriteCommand.PlanState.PLANNING, half.state());
        assertEquals(
                ErrorCode.PLAN_OUT_OF_DATE,
                assertThrows(SemelException.class, () -> apply(half, ReplayPlanApplyOptions.SAFE))
                        .code());
        var replayRequest = new ReplayPlanOperations.ReplayRequest(
                ws(),
                "ann",
                new ReplayPlanOperations.RunSelection.ByRunId(List.of(run.id())),
                new ReplayPlanRequest("test", "", false, List.of(), false, false, ReplayNotificationMode.MISSING),
                null,
                false,
                ReplayPlanApplyOptions.SAFE);
        assertEquals(
                ReplayPlanStoreWriteCommand.PlanState.PLANNED,
                TestRuntime.of(kit)
                        .replays()
                        .buildPlan(half.id(), replayRequest)
                        .state());
        assertEquals(1, items(half).size());
    }

    @Test
    void an_outdated_plan_is_rejected_with_the_differences() {
        Workflow<String, String> receipt = receipt();
        kit.register(receipt);
        Run<String> run = failed(receipt, "a");
        ReplayPlanStoreWriteCommand.ReplayPlan plan = planOf(run);
        ReplayPlanStoreWriteCommand.ReplayPlan other = planOf(run);
        apply(other, ReplayPlanApplyOptions.SAFE);
        SemelException refused = assertThrows(SemelException.class, () -> apply(plan, ReplayPlanApplyOptions.SAFE));
        assertEquals(ErrorCode.PLAN_OUT_OF_DATE, refused.code());
        assertTrue(String.valueOf(refused.members().get("differences")).contains("it was replayed by"));
        assertEquals(1, mail.effects());
        assertEquals(ReplayPlanStoreWriteCommand.PlanState.PLANNED, now(plan).state());
    }

    @Test
    void a_plan_is_valid_for_15_minutes() {
        Workflow<String, String> receipt = receipt();
        kit.register(receipt);
        ReplayPlanStoreWriteCommand.ReplayPlan plan = planOf(failed(receipt, "a"));
        kit.clock().advance(ReplayPlanStoreWriteCommand.VALIDITY);
        assertEquals(
                ErrorCode.PLAN_OUT_OF_DATE,
                assertThrows(SemelException.class, () -> apply(plan, ReplayPlanApplyOptions.SAFE))
                        .code());
        assertEquals(0, mail.effects());
    }

    @Test
    void a_key_that_the_provider_forgot_meanwhile_outdates_the_plan() {
        Workflow<String, String> flow = Workflow.define("flow", String.class, String.class)
                .body((ctx, in) -> ctx.effect("charge")
                        .retry(Retry.none())
                        .providerHonoursKey(Duration.ofMinutes(20))
                        .call(String.class, step -> cards.call(step.key())));
        kit.register(flow);
        cards.loseResponse(1);
        Run<String> run = kit.start(flow, "x");
        kit.settle();
        assertEquals(RunStatus.FAILED, run.status());
        ReplayPlanStoreWriteCommand.ReplayPlan plan = planOf(run);
        assertEquals(1, steps(plan, SafeReplayStepAction.RESEND), plan.summary());
        kit.clock().advance(Duration.ofMinutes(14));
        ReplayPlanStoreWriteCommand.ReplayPlan later = planOf(run);
        assertEquals(1, steps(later, SafeReplayStepAction.RESEND), later.summary());
        kit.clock().advance(Duration.ofMinutes(5));
        SemelException refused = assertThrows(SemelException.class, () -> apply(later, ReplayPlanApplyOptions.SAFE));
        assertTrue(
                String.valueOf(refused.members().get("differences"))
                        .contains("the action of step charge was resend and is now ask"),
                () -> String.valueOf(refused.members()));
        assertEquals(1, cards.calls());
        assertEquals(1, steps(planOf(run), SafeReplayStepAction.ASK));
    }

    @Test
    void unsafe_runs_are_left_out_unless_included() {
        Workflow<String, String> flow = Workflow.define("flow", String.class, String.class)
                .body((ctx, in) -> ctx.effect("charge")
                        .retry(Retry.none())
                        .askOnDoubt("ops")
                        .call(String.class, step -> cards.call(step.key())));
        kit.register(flow);
        cards.loseResponse(1);
        Run<String> run = kit.start(flow, "x");
        kit.settle();
        assertEquals(RunStatus.IN_DOUBT, run.status());
        assertEquals(1, counts(planOf(run)).path("blocked").asInt(), "it waits for a decision");
        assertTrue(run.cancel("ann", ""));
        kit.settle();
        ReplayPlanStoreWriteCommand.ReplayPlan plan = planOf(run);
        assertEquals(1, steps(plan, SafeReplayStepAction.ASK), plan.summary());
        SemelException refused = assertThrows(SemelException.class, () -> apply(plan, ReplayPlanApplyOptions.SAFE));
        assertEquals(ErrorCode.REPLAY_REFUSED, refused.code());
        apply(plan, new ReplayPlanApplyOptions(List.of(SafeReplayStepAction.ASK), 0, 0, 0));
        assertEquals(ItemOutcome.APPLIED, items(plan).getFirst().outcome());
        assertEquals(1, cards.calls(), "the new run waits for the decision");
        assertEquals(
                List.of(new ReplayPlanQueries.ItemCount(ItemOutcome.APPLIED, RunState.IN_DOUBT, 1)),
                TestRuntime.of(kit).replays().progress(plan.id()));
    }

    @Test
    void failing_first_runs_stop_the_rest() {
        Workflow<String, String> receipt = receipt();
        kit.register(receipt);
        for (int i = 0; i < 6; i++) {
            failed(receipt, "k" + i);
        }
        ReplayPlanStoreWriteCommand.ReplayPlan plan = planFailed();
        mail.reject(6);
        apply(plan, new ReplayPlanApplyOptions(List.of(), 0, 2, 0));
        assertEquals(ReplayPlanStoreWriteCommand.PlanState.STOPPED, now(plan).state());
        assertTrue(
                now(plan).note().endsWith(" of the first 2 runs failed"),
                now(plan).note());
        assertEquals(6 + 2, mail.calls());
        assertEquals(
                4,
                items(plan).stream()
                        .filter(item -> item.outcome() == ItemOutcome.PLANNED)
                        .count());
    }

    @Test
    void a_failed_replay_is_replayed_and_the_first_run_is_not_replayed_twice() {
        Workflow<String, String> receipt = receipt();
        kit.register(receipt);
        Run<String> first = failed(receipt, "a");
        mail.reject(1);
        apply(planOf(first), ReplayPlanApplyOptions.SAFE);
        assertEquals(2, mail.calls());
        ReplayPlanStoreWriteCommand.ReplayPlan plan = planFailed();
        assertEquals(1, counts(plan).path("runs").asInt(), "one lineage");
        apply(plan, ReplayPlanApplyOptions.SAFE);
        assertEquals(1, mail.effects());
        assertEquals(1, cards.calls());
        assertEquals(1, counts(planOf(first)).path("blocked").asInt());
    }

    @Test
    void a_plan_with_another_input_needs_a_confirmation() {
        Workflow<String, String> receipt = receipt();
        kit.register(receipt);
        Run<String> run = failed(receipt, "a");
        ReplayPlanStoreWriteCommand.ReplayPlan plan =
                plan(new ReplayPlanOperations.RunSelection.ByRunId(List.of(run.id())), "", "\"b\"", false);
        assertEquals(2, steps(plan, SafeReplayStepAction.ASK), plan.summary());
        assertThrows(SemelException.class, () -> apply(plan, ReplayPlanApplyOptions.SAFE));
        apply(plan, new ReplayPlanApplyOptions(List.of(SafeReplayStepAction.ASK), 0, 0, 0));
        assertEquals(1, cards.calls(), "reused all the same");
        assertEquals(1, mail.effects());
    }

    @Test
    void a_plan_that_needs_approval_waits_for_another_user() {
        Workflow<String, String> receipt = receipt();
        kit.register(receipt);
        Run<String> run = failed(receipt, "a");
        ReplayPlanStoreWriteCommand.ReplayPlan plan =
                plan(new ReplayPlanOperations.RunSelection.ByRunId(List.of(run.id())), "", null, true);
        ReplayPlanOperations replays = TestRuntime.of(kit).replays();
        assertEquals(
                ErrorCode.FORBIDDEN,
                assertThrows(SemelException.class, () -> apply(plan, ReplayPlanApplyOptions.SAFE))
                        .code());
        assertEquals(
                ErrorCode.FORBIDDEN,
                assertThrows(SemelException.class, () -> replays.approve(ws(), plan.id(), "ann"))
                        .code());
        assertEquals("eve", replays.approve(ws(), plan.id(), "eve").approvedBy());
        apply(plan, ReplayPlanApplyOptions.SAFE);
        assertEquals(1, mail.effects());
    }

    @Test
    void a_plan_that_was_stopped_is_not_applied() {
        Workflow<String, String> receipt = receipt();
        kit.register(receipt);
        ReplayPlanStoreWriteCommand.ReplayPlan plan = planOf(failed(receipt, "a"));
        StoreWriteCommand.ChangeAuthor by =
                new StoreWriteCommand.ChangeAuthor(TestRuntime.of(kit).newId(), "ann", "wrong runs");
        assertEquals(
                ReplayPlanStoreWriteCommand.PlanState.STOPPED,
                TestRuntime.of(kit).replays().stop(ws(), plan.id(), by).state());
        assertThrows(SemelException.class, () -> apply(plan, ReplayPlanApplyOptions.SAFE));
        assertEquals(0, mail.effects());
    }

    @Test
    void recorded_sleeps_and_decisions_are_not_waited_for_again() {
        List<String> seen = new ArrayList<>();
        Workflow<String, String> flow = Workflow.define("flow", String.class, String.class)
                .body((ctx, in) -> {
                    String id = ctx.uuid().toString();
                    ctx.sleep("night", Duration.ofHours(8));
                    seen.add(id);
                    return ctx.effect("send")
                            .retry(Retry.none())
                            .askOnDoubt("ops")
                            .call(String.class, step -> mail.call(step.key()));
                });
        kit.register(flow);
        mail.reject(1);
        Run<String> run = kit.start(flow, "x");
        kit.clock().advance(Duration.ofHours(8));
        assertEquals(RunStatus.FAILED, run.status());
        apply(planOf(run), ReplayPlanApplyOptions.SAFE);
        assertEquals(1, mail.effects());
        assertEquals(1, java.util.Set.copyOf(seen).size(), "the same id in both runs");
    }
}
