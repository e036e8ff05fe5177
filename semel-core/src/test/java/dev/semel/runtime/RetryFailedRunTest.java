package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.Run;
import dev.semel.RunStatus;
import dev.semel.error.ErrorCode;
import dev.semel.error.RequestRejected;
import dev.semel.error.SemelException;
import dev.semel.policy.SameKeyDifferentPayloadPolicy;
import dev.semel.replay.ReplayNotificationMode;
import dev.semel.replay.ReplayPlanApplyOptions;
import dev.semel.replay.ReplayPlanRequest;
import dev.semel.store.ReplayPlanQueries;
import dev.semel.store.ReplayPlanStoreWriteCommand;
import dev.semel.testing.FakeExternalSystem;
import dev.semel.testing.WorkflowTestKit;
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
final class RetryFailedRunTest {
    private final WorkflowTestKit kit = new WorkflowTestKit();
    private final FakeExternalSystem mail = kit.provider("mail");
    private final AtomicInteger refusals = new AtomicInteger(1);

    private final Workflow<String, String> flow = Workflow.define("flow", String.class, String.class)
            .runAgainAfterFailure()
            .onMismatch(SameKeyDifferentPayloadPolicy.REJECT)
            .body((ctx, in) -> {
                ctx.effect("ask").retry(Retry.none()).repeatable("a question").call(_ -> {
                    if (refusals.getAndDecrement() > 0) {
                        throw new RequestRejected("not today");
                    }
                });
                ctx.sleep("pause", Duration.ofHours(1));
                return ctx.effect("send").repeatable("nobody minds").call(String.class, step -> mail.call(step.key()));
            });

    private Run<String> failed;

    @BeforeEach
    void open() {
        kit.register(flow);
        failed = kit.start(flow, "in", Start.withKey("K"));
        kit.settle();
        assertEquals(RunStatus.FAILED, failed.status());
    }

    @AfterEach
    void close() {
        kit.close();
    }

    private int ws() {
        return TestRuntime.of(kit).testAccess().workspace();
    }

    private ReplayPlanStoreWriteCommand.ReplayPlan plan(String run) {
        var these = new ReplayPlanOperations.RunSelection.ByRunId(List.of(run));
        return TestRuntime.of(kit)
                .replays()
                .plan(new ReplayPlanOperations.ReplayRequest(
                        ws(),
                        "ann",
                        these,
                        new ReplayPlanRequest(
                                "test", "", false, List.of(), false, false, ReplayNotificationMode.MISSING),
                        null,
                        false,
                        ReplayPlanApplyOptions.SAFE));
    }

    private String replayed(String run) {
        ReplayPlanStoreWriteCommand.ReplayPlan plan = plan(run);
        TestRuntime.of(kit).replays().apply(ws(), plan.id(), ReplayPlanApplyOptions.SAFE, "ann");
        kit.settle();
        ReplayPlanStoreWriteCommand.PlanItem item = TestRuntime.of(kit)
                .replays()
                .listItems(new ReplayPlanQueries.ItemFilter(plan.id(), 0, null), null, 1)
                .getFirst();
        assertNotNull(item.newRun(), item.note());
        return item.newRun().text();
    }

    private Run<String> retry(String in) {
        Run<String> again = kit.start(flow, in, Start.withKey("K"));
        kit.settle();
        return again;
    }

    @Test
    void a_retry_during_a_replay_returns_the_replay() {
        String replay = replayed(failed.id());
        Run<String> retry = retry("in");
        assertEquals(replay, retry.id());
        assertTrue(retry.replayed());
        kit.clock().advance(Duration.ofHours(2));
        assertEquals(RunStatus.COMPLETED, retry.status());
        assertEquals(1, mail.calls());
        assertEquals(replay, retry("in").id(), "it has completed: there is nothing to run again");
        assertEquals(1, mail.calls());
    }

    @Test
    void a_retry_during_a_resume_in_place_returns_that_run() {
        failed.resume("ann", "it is back");
        kit.settle();
        Run<String> retry = retry("in");
        assertEquals(failed.id(), retry.id());
        kit.clock().advance(Duration.ofHours(2));
        assertEquals(RunStatus.COMPLETED, retry.status());
        assertEquals(1, mail.calls());
    }

    @Test
    void a_run_that_failed_again_in_place_is_followed_by_one_retry_or_replay() {
        refusals.set(1);
        failed.resume("ann", "it is back");
        kit.settle();
        assertEquals(RunStatus.FAILED, failed.status());
        ReplayPlanStoreWriteCommand.ReplayPlan plan = plan(failed.id());
        Run<String> retry = retry("in");
        assertNotEquals(failed.id(), retry.id(), "it failed, and is run again");
        var refused = assertThrows(
                SemelException.class,
                () -> TestRuntime.of(kit).replays().apply(ws(), plan.id(), ReplayPlanApplyOptions.SAFE, "ann"));
        assertTrue(
                refused.detail().contains("is out of date") || refused.code() == ErrorCode.PRECONDITION_FAILED,
                refused.detail());
        kit.clock().advance(Duration.ofHours(2));
        assertEquals(RunStatus.COMPLETED, retry.status());
        assertEquals(1, mail.calls());
    }

    @Test
    void a_plan_made_before_a_retry_starts_no_second_run() {
        ReplayPlanStoreWriteCommand.ReplayPlan plan = plan(failed.id());
        Run<String> retry = retry("in");
        assertFalse(retry.replayed());
        SemelException moved = assertThrows(
                SemelException.class,
                () -> TestRuntime.of(kit).replays().apply(ws(), plan.id(), ReplayPlanApplyOptions.SAFE, "ann"));
        assertEquals(ErrorCode.PLAN_OUT_OF_DATE, moved.code());
        kit.clock().advance(Duration.ofHours(2));
        assertEquals(RunStatus.COMPLETED, retry.status());
        assertEquals(1, mail.calls());
    }

    @Test
    void a_failed_replay_is_retried_in_the_same_lineage() {
        refusals.set(1);
        String replay = replayed(failed.id());
        Run<String> retry = retry("in");
        assertNotEquals(replay, retry.id());
        assertNotEquals(failed.id(), retry.id());
        assertFalse(retry.replayed());
        assertEquals(retry.id(), retry("in").id());
        kit.clock().advance(Duration.ofHours(2));
        assertEquals("mail-1", kit.result(retry));
        assertEquals(1, mail.calls());
    }

    @Test
    void a_retry_with_other_meaning_than_the_current_replay_is_a_conflict() {
        replayed(failed.id());
        SemelException conflict = assertThrows(SemelException.class, () -> retry("other"));
        assertEquals(ErrorCode.IDEMPOTENCY_KEY_CONFLICT, conflict.code());
        kit.clock().advance(Duration.ofHours(2));
        assertEquals(1, mail.calls());
    }

    @Test
    void a_retry_of_a_failed_run_with_other_data_is_a_conflict_and_starts_nothing() {
        SemelException conflict = assertThrows(SemelException.class, () -> retry("other"));
        assertEquals(ErrorCode.IDEMPOTENCY_KEY_CONFLICT, conflict.code());
        Run<String> same = retry("in");
        assertNotEquals(failed.id(), same.id(), "what was asked for first is run again");
        kit.clock().advance(Duration.ofHours(2));
        assertEquals(RunStatus.COMPLETED, same.status());
        assertEquals(1, mail.calls());
    }

    @Test
    void if_the_key_alone_decides_other_data_return_the_failed_run() {
        AtomicInteger calls = new AtomicInteger();
        Workflow<String, String> loud = Workflow.define("loud", String.class, String.class)
                .runAgainAfterFailure()
                .body((ctx, in) -> {
                    ctx.effect("ask")
                            .retry(Retry.none())
                            .repeatable("a question")
                            .call(_ -> {
                                calls.incrementAndGet();
                                throw new RequestRejected("not today");
                            });
                    return in;
                });
        kit.register(loud);
        Run<String> first = kit.start(loud, "in", Start.withKey("L"));
        kit.settle();
        Run<String> other = kit.start(loud, "other", Start.withKey("L"));
        kit.settle();
        assertEquals(first.id(), other.id());
        assertTrue(other.replayed());
        assertEquals(1, calls.get(), "the line goes on with its own data only");
        Run<String> same = kit.start(loud, "in", Start.withKey("L"));
        kit.settle();
        assertNotEquals(first.id(), same.id());
        assertEquals(2, calls.get());
    }

    @Test
    void the_key_of_a_failed_run_is_not_given_to_another_workflow() {
        Workflow<String, String> stranger = Workflow.define("stranger", String.class, String.class)
                .runAgainAfterFailure()
                .body((ctx, in) -> in);
        kit.register(stranger);
        SemelException conflict =
                assertThrows(SemelException.class, () -> kit.start(stranger, "in", Start.withKey("K")));
        assertEquals(ErrorCode.IDEMPOTENCY_KEY_CONFLICT, conflict.code());
    }

    /** @param at when it was sent, which says nothing of what it is about */
    record Noisy(String id, String at) {}

    @Test
    void effects_found_by_a_retry_with_other_ignored_fields_are_reused_without_review() {
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
        kit.register(noisy);
        Run<String> first = kit.start(noisy, new Noisy("o1", "noon"), Start.withKey("N"));
        kit.settle();
        breaks.set(1);
        Run<String> second = kit.start(noisy, new Noisy("o1", "one"), Start.withKey("N"));
        kit.settle();
        assertNotEquals(first.id(), second.id());
        assertEquals(RunStatus.FAILED, second.status());
        assertEquals(
                0,
                dev.semel.json.StrictJsonCodec.parse(plan(second.id()).summary())
                        .at("/actions/ask/runs")
                        .asInt());
    }
}
