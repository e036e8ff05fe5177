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
import dev.semel.store.StoreCommand;
import dev.semel.store.ReplayPlanQueries;
import dev.semel.store.StoreQueries;
import dev.semel.store.ReplayPlanOperation;
import dev.semel.store.ReplayPlanOperation.ItemOutcome;
import dev.semel.testing.WorkflowTestKit;
import dev.semel.testing.FakeProvider;
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
final class ReplaysTest {
    private final WorkflowTestKit lab = new WorkflowTestKit();
    private final FakeProvider cards = lab.provider("cards").honoursKeysFor(Duration.ofHours(24));
    private final FakeProvider mail = lab.provider("mail");

    @AfterEach
    void close() {
        lab.close();
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
        return TestRuntime.of(lab).testAccess().workspace();
    }

    private ReplayPlanOperation.ReplayPlan plan(Replays.RunSelection which, String from, @Nullable String input, boolean approval) {
        return TestRuntime.of(lab)
                .replays()
                .plan(new Replays.ReplayRequest(ws(), "ann", which, new ReplayPlanRequest("test", from, false), input, approval));
    }

    private ReplayPlanOperation.ReplayPlan planFailed() {
        var filter = new StoreQueries.RunFilter(ws(), null, RunState.FAILED, null, false, 0, null, 1);
        return plan(new Replays.RunSelection.ByFilter(filter), "", null, false);
    }

    private ReplayPlanOperation.ReplayPlan planOf(Run<?>... runs) {
        return plan(
                new Replays.RunSelection.ByRunId(
                        java.util.Arrays.stream(runs).map(Run::id).toList()),
                "",
                null,
                false);
    }

    private ReplayPlanOperation.ReplayPlan apply(ReplayPlanOperation.ReplayPlan plan, ApplyOptions manner) {
        ReplayPlanOperation.ReplayPlan applied = TestRuntime.of(lab).replays().apply(ws(), plan.id(), manner, "bob");
        lab.settle();
        return applied;
    }

    private ReplayPlanOperation.ReplayPlan now(ReplayPlanOperation.ReplayPlan plan) {
        ReplayPlanOperation.ReplayPlan found = TestRuntime.of(lab).replays().findPlan(ws(), plan.id());
        assertNotNull(found);
        return found;
    }

    private List<ReplayPlanOperation.PlanItem> items(ReplayPlanOperation.ReplayPlan plan) {
        return TestRuntime.of(lab).replays().listItems(new ReplayPlanQueries.ItemFilter(plan.id(), 0, null), null, 1_000);
    }

    private static long steps(ReplayPlanOperation.ReplayPlan plan, ReplayAction action) {
        return counts(plan).at("/actions/" + action.word() + "/steps").asLong();
    }

    private static JsonNode counts(ReplayPlanOperation.ReplayPlan plan) {
        return StrictJson.parse(plan.summary());
    }

    private Run<String> failed(Workflow<String, String> receipt, String key) {
        mail.reject(1);
        Run<String> run = lab.start(receipt, key, Start.withKey(key));
        lab.settle();
        assertEquals(RunState.FAILED, run.status());
        return run;
    }

    @Test
    void a_plan_says_what_will_happen_changes_nothing_and_then_just_that_happens() {
        Workflow<String, String> receipt = receipt();
        lab.register(receipt);
        Run<String> run = failed(receipt, "a");
        ReplayPlanOperation.ReplayPlan plan = planOf(run);
        assertEquals(ReplayPlanOperation.PlanState.PLANNED, plan.state());
        assertEquals(2, steps(plan, ReplayAction.REUSE), plan.summary());
        assertEquals(1, steps(plan, ReplayAction.SEND), plan.summary());
        assertEquals(1, counts(plan).path("safe").asInt());
        assertEquals(1, counts(plan).path("open").asInt(), "what code does next is not known");
        assertEquals(1, cards.calls());
        assertEquals(1, mail.calls());
        apply(plan, ApplyOptions.SAFE);
        ReplayPlanOperation.PlanItem item = items(plan).getFirst();
        assertEquals(ItemOutcome.APPLIED, item.outcome());
        assertEquals(1, cards.calls(), "it was charged before");
        assertEquals(2, mail.calls());
        assertEquals(1, mail.effects());
        assertEquals(ReplayPlanOperation.PlanState.DONE, now(plan).state());
        assertEquals(
                List.of(new ReplayPlanQueries.ItemCount(ItemOutcome.APPLIED, RunState.COMPLETED, 1)),
                TestRuntime.of(lab).replays().progress(plan.id()));
        String made = String.valueOf(item.newRun());
        assertEquals("cards-1", TestRuntime.of(lab).run(receipt, made).result(Duration.ZERO));
        apply(plan, ApplyOptions.SAFE);
        assertEquals(2, mail.calls(), "it is applied once");
    }

    @Test
    void a_batch_that_failed_half_way_is_replayed_without_a_duplicate() {
        Workflow<String, String> receipt = receipt();
        lab.register(receipt);
        int runs = 30;
        for (int i = 0; i < runs; i++) {
            if (i % 2 == 0) {
                mail.reject(1);
            }
            lab.start(receipt, "in" + i, Start.withKey("k" + i));
            lab.settle();
        }
        assertEquals(runs / 2, mail.effects());
        ReplayPlanOperation.ReplayPlan plan = planFailed();
        assertEquals(runs / 2, counts(plan).path("runs").asInt());
        assertEquals(runs / 2, steps(plan, ReplayAction.SEND));
        apply(plan, new ApplyOptions(List.of(), 0, 3, 1));
        assertEquals(runs, mail.effects(), "all that were missing");
        assertEquals(runs, cards.calls(), "none again");
        assertEquals(runs, java.util.Set.copyOf(cards.keys()).size());
        assertEquals(0, counts(planFailed()).path("safe").asInt(), "all of them were replayed");
    }

    @Test
    void a_death_between_a_new_run_and_its_item_is_made_good_with_the_same_run() {
        Workflow<String, String> receipt = receipt();
        lab.register(receipt);
        for (int i = 0; i < 5; i++) {
            failed(receipt, "k" + i);
        }
        ReplayPlanOperation.ReplayPlan plan = planFailed();
        lab.crashAt("replay-admitted", 1);
        lab.clock().autoAdvance();
        apply(plan, ApplyOptions.SAFE);
        assertEquals(ReplayPlanOperation.PlanState.DONE, now(plan).state());
        assertTrue(items(plan).stream().allMatch(item -> item.outcome() == ItemOutcome.APPLIED));
        assertEquals(5, mail.effects());
        assertEquals(5, cards.calls());
        var all = new StoreQueries.RunFilter(ws(), null, null, null, false, 0, null, 100);
        Integer runs = TestRuntime.of(lab).view(reads -> reads.runs(all).size());
        assertEquals(10, runs);
    }

    @Test
    void a_death_while_a_plan_is_made_leaves_one_that_nobody_can_apply() {
        Workflow<String, String> receipt = receipt();
        lab.register(receipt);
        Run<String> run = failed(receipt, "a");
        lab.crashAt("plan-noted", 1);
        assertThrows(Throwable.class, () -> planOf(run));
        lab.settle();
        ReplayPlanOperation.ReplayPlan half = TestRuntime.of(lab).replays().listPlans(ws(), null, 10).getFirst();
        assertEquals(ReplayPlanOperation.PlanState.MAKING, half.state());
        assertEquals(
                ErrorCode.PLAN_OUT_OF_DATE,
                assertThrows(SemelException.class, () -> apply(half, ApplyOptions.SAFE))
                        .code());
        var asked = new Replays.ReplayRequest(
                ws(), "ann", new Replays.RunSelection.ByRunId(List.of(run.id())), new ReplayPlanRequest("test", "", false), null, false);
        assertEquals(
                ReplayPlanOperation.PlanState.PLANNED,
                TestRuntime.of(lab).replays().buildPlan(half.id(), asked).state());
        assertEquals(1, items(half).size());
    }

    @Test
    void a_plan_is_refused_with_the_difference_when_the_world_has_moved() {
        Workflow<String, String> receipt = receipt();
        lab.register(receipt);
        Run<String> run = failed(receipt, "a");
        ReplayPlanOperation.ReplayPlan plan = planOf(run);
        ReplayPlanOperation.ReplayPlan other = planOf(run);
        apply(other, ApplyOptions.SAFE);
        SemelException refused = assertThrows(SemelException.class, () -> apply(plan, ApplyOptions.SAFE));
        assertEquals(ErrorCode.PLAN_OUT_OF_DATE, refused.code());
        assertTrue(String.valueOf(refused.members().get("differences")).contains("it was replayed by"));
        assertEquals(1, mail.effects());
        assertEquals(ReplayPlanOperation.PlanState.PLANNED, now(plan).state());
    }

    @Test
    void a_plan_is_valid_for_a_quarter_of_an_hour() {
        Workflow<String, String> receipt = receipt();
        lab.register(receipt);
        ReplayPlanOperation.ReplayPlan plan = planOf(failed(receipt, "a"));
        lab.clock().advance(ReplayPlanOperation.VALIDITY);
        assertEquals(
                ErrorCode.PLAN_OUT_OF_DATE,
                assertThrows(SemelException.class, () -> apply(plan, ApplyOptions.SAFE))
                        .code());
        assertEquals(0, mail.effects());
    }

    @Test
    void a_key_that_the_provider_forgets_meanwhile_moves_the_world() {
        Workflow<String, String> flow = Workflow.define("flow", String.class, String.class)
                .body((ctx, in) -> ctx.effect("charge")
                        .retry(Retry.none())
                        .providerHonoursKey(Duration.ofMinutes(20))
                        .call(String.class, step -> cards.call(step.key())));
        lab.register(flow);
        cards.loseResponse(1);
        Run<String> run = lab.start(flow, "x");
        lab.settle();
        assertTrue(run.cancel("ann", "it is in doubt"));
        lab.settle();
        ReplayPlanOperation.ReplayPlan plan = planOf(run);
        assertEquals(1, steps(plan, ReplayAction.RESEND), plan.summary());
        lab.clock().advance(Duration.ofMinutes(14));
        ReplayPlanOperation.ReplayPlan later = planOf(run);
        assertEquals(1, steps(later, ReplayAction.RESEND), later.summary());
        lab.clock().advance(Duration.ofMinutes(5));
        SemelException refused = assertThrows(SemelException.class, () -> apply(later, ApplyOptions.SAFE));
        assertTrue(
                String.valueOf(refused.members().get("differences")).contains("charge was resend and is ask"),
                () -> String.valueOf(refused.members()));
        assertEquals(1, cards.calls());
        assertEquals(1, steps(planOf(run), ReplayAction.ASK));
    }

    @Test
    void what_is_not_safe_is_left_out_unless_it_is_included() {
        Workflow<String, String> flow = Workflow.define("flow", String.class, String.class)
                .body((ctx, in) -> ctx.effect("charge")
                        .retry(Retry.none())
                        .askOnDoubt("ops")
                        .call(String.class, step -> cards.call(step.key())));
        lab.register(flow);
        cards.loseResponse(1);
        Run<String> run = lab.start(flow, "x");
        lab.settle();
        assertEquals(RunState.IN_DOUBT, run.status());
        assertEquals(1, counts(planOf(run)).path("blocked").asInt(), "it waits for a decision");
        assertTrue(run.cancel("ann", ""));
        lab.settle();
        ReplayPlanOperation.ReplayPlan plan = planOf(run);
        assertEquals(1, steps(plan, ReplayAction.ASK), plan.summary());
        SemelException refused = assertThrows(SemelException.class, () -> apply(plan, ApplyOptions.SAFE));
        assertEquals(ErrorCode.REPLAY_REFUSED, refused.code());
        apply(plan, new ApplyOptions(List.of(ReplayAction.ASK), 0, 0, 0));
        assertEquals(ItemOutcome.APPLIED, items(plan).getFirst().outcome());
        assertEquals(1, cards.calls(), "the new run waits for the decision");
        assertEquals(
                List.of(new ReplayPlanQueries.ItemCount(ItemOutcome.APPLIED, RunState.IN_DOUBT, 1)),
                TestRuntime.of(lab).replays().progress(plan.id()));
    }

    @Test
    void those_that_go_first_stop_the_rest_when_they_fail() {
        Workflow<String, String> receipt = receipt();
        lab.register(receipt);
        for (int i = 0; i < 6; i++) {
            failed(receipt, "k" + i);
        }
        ReplayPlanOperation.ReplayPlan plan = planFailed();
        mail.reject(6);
        apply(plan, new ApplyOptions(List.of(), 0, 2, 0));
        assertEquals(ReplayPlanOperation.PlanState.STOPPED, now(plan).state());
        assertTrue(
                now(plan).note().endsWith(" of the first 2 runs failed"),
                now(plan).note());
        assertEquals(6 + 2, mail.calls());
        assertEquals(
                4,
                items(plan).stream().filter(item -> item.outcome() == ItemOutcome.PLANNED).count());
    }

    @Test
    void a_replay_that_failed_again_is_replayed_after_it_and_the_first_one_is_not_replayed_twice() {
        Workflow<String, String> receipt = receipt();
        lab.register(receipt);
        Run<String> first = failed(receipt, "a");
        mail.reject(1);
        apply(planOf(first), ApplyOptions.SAFE);
        assertEquals(2, mail.calls());
        ReplayPlanOperation.ReplayPlan plan = planFailed();
        assertEquals(1, counts(plan).path("runs").asInt(), "one lineage");
        apply(plan, ApplyOptions.SAFE);
        assertEquals(1, mail.effects());
        assertEquals(1, cards.calls());
        assertEquals(1, counts(planOf(first)).path("blocked").asInt());
    }

    @Test
    void a_plan_with_another_input_needs_somebody_who_says_so() {
        Workflow<String, String> receipt = receipt();
        lab.register(receipt);
        Run<String> run = failed(receipt, "a");
        ReplayPlanOperation.ReplayPlan plan = plan(new Replays.RunSelection.ByRunId(List.of(run.id())), "", "\"b\"", false);
        assertEquals(2, steps(plan, ReplayAction.ASK), plan.summary());
        assertThrows(SemelException.class, () -> apply(plan, ApplyOptions.SAFE));
        apply(plan, new ApplyOptions(List.of(ReplayAction.ASK), 0, 0, 0));
        assertEquals(1, cards.calls(), "reused all the same");
        assertEquals(1, mail.effects());
    }

    @Test
    void a_plan_that_needs_it_waits_for_another_person() {
        Workflow<String, String> receipt = receipt();
        lab.register(receipt);
        Run<String> run = failed(receipt, "a");
        ReplayPlanOperation.ReplayPlan plan = plan(new Replays.RunSelection.ByRunId(List.of(run.id())), "", null, true);
        Replays replays = TestRuntime.of(lab).replays();
        assertEquals(
                ErrorCode.FORBIDDEN,
                assertThrows(SemelException.class, () -> apply(plan, ApplyOptions.SAFE))
                        .code());
        assertEquals(
                ErrorCode.FORBIDDEN,
                assertThrows(SemelException.class, () -> replays.approve(ws(), plan.id(), "ann"))
                        .code());
        assertEquals("eve", replays.approve(ws(), plan.id(), "eve").approvedBy());
        apply(plan, ApplyOptions.SAFE);
        assertEquals(1, mail.effects());
    }

    @Test
    void a_plan_that_was_stopped_is_not_applied() {
        Workflow<String, String> receipt = receipt();
        lab.register(receipt);
        ReplayPlanOperation.ReplayPlan plan = planOf(failed(receipt, "a"));
        StoreCommand.ChangeAuthor by = new StoreCommand.ChangeAuthor(TestRuntime.of(lab).newId(), "ann", "wrong runs");
        assertEquals(
                ReplayPlanOperation.PlanState.STOPPED,
                TestRuntime.of(lab).replays().stop(ws(), plan.id(), by).state());
        assertThrows(SemelException.class, () -> apply(plan, ApplyOptions.SAFE));
        assertEquals(0, mail.effects());
    }

    @Test
    void sleeps_and_decisions_on_record_are_not_waited_for_again() {
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
        lab.register(flow);
        mail.reject(1);
        Run<String> run = lab.start(flow, "x");
        lab.clock().advance(Duration.ofHours(8));
        assertEquals(RunState.FAILED, run.status());
        apply(planOf(run), ApplyOptions.SAFE);
        assertEquals(1, mail.effects());
        assertEquals(1, java.util.Set.copyOf(seen).size(), "the same id in both runs");
    }
}
