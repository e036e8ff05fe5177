package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.Run;
import dev.semel.error.ErrorCode;
import dev.semel.error.Rejected;
import dev.semel.error.SemelException;
import dev.semel.replay.ApplyOptions;
import dev.semel.replay.ReplayPlanRequest;
import dev.semel.workflow.RunState;
import dev.semel.store.ReplayPlanQueries;
import dev.semel.store.ReplayPlanOperation;
import dev.semel.testing.WorkflowTestKit;
import dev.semel.testing.FakeProvider;
import dev.semel.workflow.OnMismatch;
import dev.semel.workflow.Retry;
import dev.semel.workflow.Start;
import dev.semel.workflow.Workflow;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A caller who tries a failed run again and an operator who replays it: one of them starts a run, both get that one. */
final class RunAgainTest {
    private final WorkflowTestKit lab = new WorkflowTestKit();
    private final FakeProvider mail = lab.provider("mail");
    private final AtomicInteger refusals = new AtomicInteger(1);

    private final Workflow<String, String> flow = Workflow.define("flow", String.class, String.class)
            .runAgainAfterFailure()
            .onMismatch(OnMismatch.REJECT)
            .body((ctx, in) -> {
                ctx.effect("ask").retry(Retry.none()).repeatable("a question").call(_ -> {
                    if (refusals.getAndDecrement() > 0) {
                        throw new Rejected("not today");
                    }
                });
                ctx.sleep("pause", Duration.ofHours(1));
                return ctx.effect("send").repeatable("nobody minds").call(String.class, step -> mail.call(step.key()));
            });

    private Run<String> failed;

    @BeforeEach
    void open() {
        lab.register(flow);
        failed = lab.start(flow, "in", Start.withKey("K"));
        lab.settle();
        assertEquals(RunState.FAILED, failed.status());
    }

    @AfterEach
    void close() {
        lab.close();
    }

    private int ws() {
        return TestRuntime.of(lab).testAccess().workspace();
    }

    private ReplayPlanOperation.ReplayPlan plan(String run) {
        var these = new Replays.RunSelection.ByRunId(List.of(run));
        return TestRuntime.of(lab)
                .replays()
                .plan(new Replays.ReplayRequest(ws(), "ann", these, new ReplayPlanRequest("test", "", false), null, false));
    }

    private String replayed(String run) {
        ReplayPlanOperation.ReplayPlan plan = plan(run);
        TestRuntime.of(lab).replays().apply(ws(), plan.id(), ApplyOptions.SAFE, "ann");
        lab.settle();
        ReplayPlanOperation.PlanItem item = TestRuntime.of(lab)
                .replays()
                .listItems(new ReplayPlanQueries.ItemFilter(plan.id(), 0, null), null, 1)
                .getFirst();
        assertNotNull(item.newRun(), item.note());
        return item.newRun().text();
    }

    private Run<String> retry(String in) {
        Run<String> again = lab.start(flow, in, Start.withKey("K"));
        lab.settle();
        return again;
    }

    @Test
    void a_retry_while_a_replay_is_under_way_is_answered_with_the_replay() {
        String replay = replayed(failed.id());
        Run<String> retry = retry("in");
        assertEquals(replay, retry.id());
        assertTrue(retry.replayed());
        lab.clock().advance(Duration.ofHours(2));
        assertEquals(RunState.COMPLETED, retry.status());
        assertEquals(1, mail.calls());
        assertEquals(replay, retry("in").id(), "it has completed: there is nothing to run again");
        assertEquals(1, mail.calls());
    }

    @Test
    void a_retry_while_its_run_goes_on_in_place_is_answered_with_that_run() {
        failed.resume("ann", "it is back");
        lab.settle();
        Run<String> retry = retry("in");
        assertEquals(failed.id(), retry.id());
        lab.clock().advance(Duration.ofHours(2));
        assertEquals(RunState.COMPLETED, retry.status());
        assertEquals(1, mail.calls());
    }

    @Test
    void a_run_that_failed_again_in_place_is_followed_once_by_a_retry_or_a_replay() {
        refusals.set(1);
        failed.resume("ann", "it is back");
        lab.settle();
        assertEquals(RunState.FAILED, failed.status());
        ReplayPlanOperation.ReplayPlan plan = plan(failed.id());
        Run<String> retry = retry("in");
        assertNotEquals(failed.id(), retry.id(), "it failed, and is run again");
        var refused = assertThrows(
                SemelException.class, () -> TestRuntime.of(lab).replays().apply(ws(), plan.id(), ApplyOptions.SAFE, "ann"));
        assertTrue(
                refused.detail().contains("moved") || refused.code() == ErrorCode.PRECONDITION_FAILED,
                refused.detail());
        lab.clock().advance(Duration.ofHours(2));
        assertEquals(RunState.COMPLETED, retry.status());
        assertEquals(1, mail.calls());
    }

    @Test
    void a_plan_that_was_made_before_a_retry_starts_nothing_beside_it() {
        ReplayPlanOperation.ReplayPlan plan = plan(failed.id());
        Run<String> retry = retry("in");
        assertFalse(retry.replayed());
        SemelException moved = assertThrows(
                SemelException.class, () -> TestRuntime.of(lab).replays().apply(ws(), plan.id(), ApplyOptions.SAFE, "ann"));
        assertEquals(ErrorCode.PLAN_OUT_OF_DATE, moved.code());
        lab.clock().advance(Duration.ofHours(2));
        assertEquals(RunState.COMPLETED, retry.status());
        assertEquals(1, mail.calls());
    }

    @Test
    void a_replay_that_failed_as_well_is_run_again_in_the_same_line() {
        refusals.set(1);
        String replay = replayed(failed.id());
        Run<String> retry = retry("in");
        assertNotEquals(replay, retry.id());
        assertNotEquals(failed.id(), retry.id());
        assertFalse(retry.replayed());
        assertEquals(retry.id(), retry("in").id());
        lab.clock().advance(Duration.ofHours(2));
        assertEquals("mail-1", lab.result(retry));
        assertEquals(1, mail.calls());
    }

    @Test
    void a_retry_that_means_something_else_than_the_replay_under_way_is_a_conflict() {
        replayed(failed.id());
        SemelException conflict = assertThrows(SemelException.class, () -> retry("other"));
        assertEquals(ErrorCode.IDEMPOTENCY_KEY_CONFLICT, conflict.code());
        lab.clock().advance(Duration.ofHours(2));
        assertEquals(1, mail.calls());
    }

    @Test
    void a_retry_of_a_failed_run_with_other_data_is_a_conflict_and_starts_nothing() {
        SemelException conflict = assertThrows(SemelException.class, () -> retry("other"));
        assertEquals(ErrorCode.IDEMPOTENCY_KEY_CONFLICT, conflict.code());
        Run<String> same = retry("in");
        assertNotEquals(failed.id(), same.id(), "what was asked for first is run again");
        lab.clock().advance(Duration.ofHours(2));
        assertEquals(RunState.COMPLETED, same.status());
        assertEquals(1, mail.calls());
    }

    @Test
    void where_the_key_alone_decides_other_data_are_answered_with_the_failed_run() {
        AtomicInteger calls = new AtomicInteger();
        Workflow<String, String> loud = Workflow.define("loud", String.class, String.class)
                .runAgainAfterFailure()
                .body((ctx, in) -> {
                    ctx.effect("ask")
                            .retry(Retry.none())
                            .repeatable("a question")
                            .call(_ -> {
                                calls.incrementAndGet();
                                throw new Rejected("not today");
                            });
                    return in;
                });
        lab.register(loud);
        Run<String> first = lab.start(loud, "in", Start.withKey("L"));
        lab.settle();
        Run<String> other = lab.start(loud, "other", Start.withKey("L"));
        lab.settle();
        assertEquals(first.id(), other.id());
        assertTrue(other.replayed());
        assertEquals(1, calls.get(), "the line goes on with its own data only");
        Run<String> same = lab.start(loud, "in", Start.withKey("L"));
        lab.settle();
        assertNotEquals(first.id(), same.id());
        assertEquals(2, calls.get());
    }

    @Test
    void the_key_of_a_failed_run_is_not_given_to_another_workflow() {
        Workflow<String, String> stranger = Workflow.define("stranger", String.class, String.class)
                .runAgainAfterFailure()
                .body((ctx, in) -> in);
        lab.register(stranger);
        SemelException conflict =
                assertThrows(SemelException.class, () -> lab.start(stranger, "in", Start.withKey("K")));
        assertEquals(ErrorCode.IDEMPOTENCY_KEY_CONFLICT, conflict.code());
    }

    /** @param at when it was sent, which says nothing of what it is about */
    record Noisy(String id, String at) {}

    @Test
    void what_a_retry_with_other_noise_finds_done_is_reused_and_not_asked_about() {
        AtomicInteger breaks = new AtomicInteger();
        Workflow<Noisy, String> noisy = Workflow.define("noisy", Noisy.class, String.class)
                .runAgainAfterFailure()
                .fingerprintIgnore("at")
                .body((ctx, in) -> {
                    ctx.step("first").retry(Retry.none()).run(String.class, _ -> {
                        if (breaks.getAndDecrement() > 0) {
                            throw new IllegalStateException("not today");
                        }
                        return in.id();
                    });
                    ctx.effect("send").askOnDoubt("role:ops").call(String.class, step -> mail.call(step.key()));
                    throw new IllegalStateException("broken");
                });
        lab.register(noisy);
        Run<String> first = lab.start(noisy, new Noisy("o1", "noon"), Start.withKey("N"));
        lab.settle();
        breaks.set(1);
        Run<String> second = lab.start(noisy, new Noisy("o1", "one"), Start.withKey("N"));
        lab.settle();
        assertNotEquals(first.id(), second.id());
        assertEquals(RunState.FAILED, second.status());
        assertEquals(
                0,
                dev.semel.json.StrictJson.parse(plan(second.id()).summary())
                        .at("/actions/ask/runs")
                        .asInt());
    }
}
