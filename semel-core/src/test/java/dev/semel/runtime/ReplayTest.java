package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.RunStatus;
import dev.semel.error.EffectInDoubt;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.replay.ReplayNotificationMode;
import dev.semel.replay.ReplayPlanApplyOptions;
import dev.semel.replay.ReplayPlanRequest;
import dev.semel.store.Await;
import dev.semel.store.ReplayPlanQueries;
import dev.semel.store.ReplayPlanStoreWriteCommand;
import dev.semel.workflow.Retry;
import dev.semel.workflow.Start;
import dev.semel.workflow.Workflow;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** What a safe replay may be of, and what it can be notified. */
final class ReplayTest extends SqliteTestBase {
    private final AtomicInteger sent = new AtomicInteger();

    private Workflow<String, Integer> mailing(String name) {
        return Workflow.define(name, String.class, Integer.class)
                .body((ctx, _) -> ctx.effect("mail").repeatable("a test").call(Integer.class, _ -> {
                    return sent.incrementAndGet();
                }));
    }

    @Test
    void a_run_of_one_workflow_is_not_replayed_by_another() {
        Workflow<String, Integer> one = mailing("one");
        Workflow<String, Integer> two = mailing("two");
        semel.register(one, two);
        RunHandle<Integer> run = semel.start(one, "x");
        assertEquals(1, run.result(SOON));
        SemelException refused =
                assertThrows(SemelException.class, () -> semel.start(two, "x", Start.replayOf(run.id())));
        assertEquals(ErrorCode.INVALID_INPUT, refused.code());
        assertEquals(2, semel.start(two, "x").result(SOON), "its mail is its own");
        assertEquals(1, semel.start(one, "x", Start.replayOf(run.id())).result(SOON));
    }

    @Test
    void a_child_is_not_started_as_a_replay() {
        Workflow<String, Integer> one = mailing("one");
        semel.register(one);
        RunHandle<Integer> run = semel.start(one, "x");
        assertEquals(1, run.result(SOON));
        RunHandle<Integer> parent =
                start(flow(Integer.class, (ctx, in) -> ctx.call(one, in, Start.replayOf(run.id()))));
        says(failure(parent), "replay");
        assertEquals(1, sent.get());
    }

    @Test
    void a_replay_waiting_on_the_first_runs_doubt_can_be_decided_itself() {
        Workflow<String, Integer> flow = flow(
                Integer.class,
                (ctx, _) -> ctx.effect("mail").askOnDoubt("ops").call(Integer.class, _ -> {
                    sent.incrementAndGet();
                    throw new java.io.IOException("no answer");
                }));
        RunHandle<Integer> first = start(flow);
        untilWaiting(first, "decision");
        assertTrue(first.cancel());
        Await.until("it has ended", () -> first.status() == RunStatus.CANCELLED);
        RunHandle<Integer> replay = semel.start(flow, "x", Start.replayOf(first.id()));
        untilWaiting(replay, "decision");
        String reported =
                assertThrows(EffectInDoubt.class, () -> replay.result(SOON)).detail();
        assertTrue(reported.contains("\"mail\""), reported);
        assertEquals(List.of("mail"), replay.stepsInDoubt());
        assertTrue(replay.confirmDone("mail", 17, "ann"));
        Await.until("it goes on at once", () -> replay.status() == RunStatus.COMPLETED);
        assertEquals(17, replay.result(SOON));
        assertEquals(List.of(), first.stepsInDoubt());
        assertEquals(1, sent.get());
    }

    @Test
    void a_replay_with_another_input_is_rejected_unless_requested() {
        Workflow<String, Integer> one = mailing("one");
        semel.register(one);
        RunHandle<Integer> run = semel.start(one, "x");
        assertEquals(1, run.result(SOON));
        SemelException refused =
                assertThrows(SemelException.class, () -> semel.start(one, "y", Start.replayOf(run.id())));
        assertEquals(ErrorCode.INVALID_INPUT, refused.code());
        assertTrue(refused.detail().contains("a different input"), refused.detail());
        assertTrue(refused.detail().contains("No run was started"), refused.detail());
        RunHandle<Integer> meant = semel.start(one, "y", Start.replayWithOtherInput(run.id()));
        assertEquals(1, meant.result(SOON), "what was done is reused");
        assertEquals(1, sent.get());
    }

    @Test
    void a_replay_requested_twice_is_one_run() {
        Workflow<String, Integer> one = mailing("one");
        semel.register(one);
        RunHandle<Integer> run = semel.start(one, "x");
        assertEquals(1, run.result(SOON));
        RunHandle<Integer> first = semel.start(one, "x", Start.replayOf(run.id()));
        assertEquals(first.id(), semel.start(one, "x", Start.replayOf(run.id())).id());
        assertEquals(1, first.result(SOON));
        SemelException other =
                assertThrows(SemelException.class, () -> semel.start(one, "y", Start.replayWithOtherInput(run.id())));
        assertEquals(ErrorCode.REPLAY_REFUSED, other.code());
        RunHandle<Integer> second = semel.start(one, "x", Start.replayOf(first.id()));
        assertNotEquals(first.id(), second.id(), "that is another end, followed on its own");
    }

    @Test
    void a_replay_from_code_and_one_from_a_plan_make_one_run() {
        AtomicInteger tries = new AtomicInteger();
        Workflow<String, String> flow =
                flow((ctx, in) -> ctx.step("try").retry(Retry.none()).run(String.class, _ -> {
                    if (tries.incrementAndGet() == 1) {
                        throw new IllegalStateException("not today");
                    }
                    return in;
                }));
        RunHandle<String> run = start(flow);
        failure(run);
        int ws = semel.testAccess().workspace();
        ReplayPlanStoreWriteCommand.ReplayPlan plan = semel.replays()
                .plan(new ReplayPlanOperations.ReplayRequest(
                        ws,
                        "ann",
                        new ReplayPlanOperations.RunSelection.ByRunId(List.of(run.id())),
                        new ReplayPlanRequest(
                                "test", "", false, List.of(), false, false, ReplayNotificationMode.MISSING),
                        null,
                        false,
                        ReplayPlanApplyOptions.SAFE));
        semel.replays().apply(ws, plan.id(), ReplayPlanApplyOptions.SAFE, "ann");
        Await.until("it is applied", () -> item(plan).outcome() == ReplayPlanStoreWriteCommand.ItemOutcome.APPLIED);
        assertEquals(
                String.valueOf(item(plan).newRun()),
                semel.start(flow, "x", Start.replayOf(run.id())).id());
        assertEquals(2, tries.get());
    }

    private ReplayPlanStoreWriteCommand.PlanItem item(ReplayPlanStoreWriteCommand.ReplayPlan plan) {
        return semel.replays()
                .listItems(new ReplayPlanQueries.ItemFilter(plan.id(), 0, null), null, 10)
                .getFirst();
    }

    record Before(String id) {}

    record After(
            String id, @org.jspecify.annotations.Nullable String note) {}

    @Test
    void an_input_whose_type_gained_fields_is_still_the_same() {
        Workflow<Before, String> before =
                Workflow.define("growing", Before.class, String.class).body((_, in) -> in.id());
        semel.register(before);
        RunHandle<String> run = semel.start(before, new Before("a"));
        assertEquals("a", run.result(SOON));
        Workflow<After, String> after =
                Workflow.define("growing", After.class, String.class).body((_, in) -> in.id());
        semel.register(after);
        assertEquals(
                "a",
                semel.start(after, new After("a", null), Start.replayOf(run.id()))
                        .result(SOON));
        assertThrows(SemelException.class, () -> semel.start(after, new After("a", "new"), Start.replayOf(run.id())));
    }

    @Test
    void a_replay_of_a_replay_waits_for_the_doubt_of_the_middle_run() {
        Workflow<String, Integer> flow = flow(Integer.class, (ctx, _) -> {
            ctx.effect("first").repeatable("a test").call(_ -> {
                if (sent.get() == 0) {
                    throw new dev.semel.error.RequestRejected("not today");
                }
            });
            return ctx.effect("mail").askOnDoubt("ops").call(Integer.class, _ -> {
                throw new java.io.IOException("no answer");
            });
        });
        RunHandle<Integer> first = start(flow);
        failure(first);
        sent.set(1);
        RunHandle<Integer> between = semel.start(flow, "x", Start.replayOf(first.id()));
        untilWaiting(between, "decision");
        assertTrue(between.cancel());
        Await.until("it has ended", () -> between.status() == RunStatus.CANCELLED);
        RunHandle<Integer> last = semel.start(flow, "x", Start.replayOf(between.id()));
        untilWaiting(last, "decision");
        assertEquals(List.of("mail"), last.stepsInDoubt());
        assertTrue(last.confirmDone("mail", 17, "ann"));
        Await.until("it goes on at once", () -> last.status() == RunStatus.COMPLETED);
        assertEquals(17, last.result(SOON));
    }

    @Test
    void an_undo_cannot_have_an_undo() {
        RunHandle<String> run = start(flow((ctx, _) -> {
            ctx.compensate("outer", c -> c.compensate("inner", _ -> sent.incrementAndGet()));
            throw new IllegalStateException("no");
        }));
        says(failure(run), "Not compensated: ");
        assertEquals(0, sent.get());
    }
}
