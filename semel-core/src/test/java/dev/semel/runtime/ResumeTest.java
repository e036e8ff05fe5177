package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.RunStatus;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.policy.ChangedEffectDataPolicy;
import dev.semel.replay.FailedRunResumeRequest;
import dev.semel.replay.PlannedReplayStep;
import dev.semel.replay.ReplayNotificationMode;
import dev.semel.replay.ReplayPlanApplyOptions;
import dev.semel.replay.ReplayPlanRequest;
import dev.semel.replay.ReplayPreview;
import dev.semel.replay.SafeReplayStepAction;
import dev.semel.run.RunId;
import dev.semel.store.HumanReviewStoreWriteCommand;
import dev.semel.store.MetricCounter;
import dev.semel.store.MetricQueries;
import dev.semel.store.ReplayPlanQueries;
import dev.semel.store.ReplayPlanStoreWriteCommand;
import dev.semel.testing.FakeExternalSystem;
import dev.semel.testing.WorkflowTestKit;
import dev.semel.workflow.Retry;
import dev.semel.workflow.Start;
import dev.semel.workflow.Workflow;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Runs that failed go on in place, under their own ids; counted at the providers. */
final class ResumeTest {
    private final WorkflowTestKit kit = new WorkflowTestKit();
    private final FakeExternalSystem cards = kit.provider("cards").honoursKeysFor(Duration.ofHours(24));
    private final FakeExternalSystem mail = kit.provider("mail");

    @AfterEach
    void close() {
        kit.close();
    }

    /** Charges a card, then sends a mail, which may be refused. */
    private final Workflow<String, String> receipt = Workflow.define("receipt", String.class, String.class)
            .deadline(Duration.ofHours(2))
            .body((ctx, in) -> {
                ctx.step("load").run(String.class, _ -> in);
                String paid = ctx.effect("charge")
                        .providerHonoursKey(Duration.ofHours(24))
                        .call(String.class, step -> cards.call(step.key()));
                String sent = ctx.effect("send")
                        .retry(Retry.none())
                        .lookup(String.class, step -> mail.find(step.key()))
                        .call(step -> mail.call(step.key()));
                return paid + " " + sent;
            });

    private RunHandle<String> failed(String key) {
        kit.register(receipt);
        mail.reject(1);
        RunHandle<String> run = TestRuntime.handle(kit.start(receipt, key, Start.withKey(key)));
        kit.settle();
        assertEquals(RunStatus.FAILED, run.status());
        return run;
    }

    private static Map<String, SafeReplayStepAction> actions(ReplayPreview prediction) {
        return prediction.steps().stream()
                .collect(Collectors.toMap(PlannedReplayStep::step, PlannedReplayStep::action));
    }

    private static String refusal(RunHandle<?> run, FailedRunResumeRequest resumeRequest) {
        SemelException refused = assertThrows(SemelException.class, () -> run.resume(resumeRequest));
        assertEquals(ErrorCode.RESUME_REFUSED, refused.code());
        return refused.detail();
    }

    private static FailedRunResumeRequest mended() {
        return FailedRunResumeRequest.because("ann", "the provider is back");
    }

    private int ws() {
        return TestRuntime.of(kit).testAccess().workspace();
    }

    private ReplayPlanStoreWriteCommand.ReplayPlan plan(RunHandle<?> run) {
        return TestRuntime.of(kit)
                .replays()
                .plan(new ReplayPlanOperations.ReplayRequest(
                        ws(),
                        "ann",
                        new ReplayPlanOperations.RunSelection.ByRunId(List.of(run.id())),
                        new ReplayPlanRequest(
                                "test", "", false, List.of(), false, false, ReplayNotificationMode.MISSING),
                        null,
                        false,
                        ReplayPlanApplyOptions.SAFE));
    }

    private ReplayPlanStoreWriteCommand.PlanItem item(ReplayPlanStoreWriteCommand.ReplayPlan plan) {
        return TestRuntime.of(kit)
                .replays()
                .listItems(new ReplayPlanQueries.ItemFilter(plan.id(), 0, null), null, 10)
                .getFirst();
    }

    private void apply(ReplayPlanStoreWriteCommand.ReplayPlan plan) {
        TestRuntime.of(kit).replays().apply(ws(), plan.id(), ReplayPlanApplyOptions.SAFE, "bob");
        kit.settle();
    }

    @Test
    void a_run_continues_from_the_failed_step_and_nothing_is_done_twice() {
        RunHandle<String> run = failed("a");
        ReplayPreview prediction = run.previewResume(mended()).preview();
        assertEquals(
                Map.of(
                        "load",
                        SafeReplayStepAction.REUSE,
                        "charge",
                        SafeReplayStepAction.REUSE,
                        "send",
                        SafeReplayStepAction.SEND),
                actions(prediction));
        assertEquals(RunStatus.FAILED, run.status(), "a look changes nothing");
        run.resume(mended());
        kit.settle();
        assertEquals("cards-1 mail-1", run.result(Duration.ZERO));
        assertEquals(1, cards.calls());
        assertEquals(2, mail.calls());
        assertEquals(1, mail.effects());
        assertEquals(1, java.util.Set.copyOf(mail.keys()).size(), "the same key as before");
        var again = TestRuntime.handle(kit.start(receipt, "a", Start.withKey("a")));
        assertEquals(run.id(), again.id());
        assertTrue(refusal(run, mended()).contains("it has completed"));
    }

    @Test
    void a_resumed_run_may_fail_and_be_resumed_again() {
        RunHandle<String> run = failed("a");
        for (int i = 0; i < 3; i++) {
            mail.reject(1);
            run.resume(mended());
            kit.settle();
            assertEquals(RunStatus.FAILED, run.status());
        }
        kit.crash();
        run.resume(mended());
        kit.settle();
        assertEquals("cards-1 mail-1", run.result(Duration.ZERO));
        assertEquals(1, cards.calls());
        assertEquals(5, mail.calls());
    }

    @Test
    void a_run_resumed_often_counts_as_one_recovery() {
        RunHandle<String> run = failed("a");
        mail.reject(1);
        run.resume(mended());
        kit.settle();
        run.resume(mended());
        kit.settle();
        assertEquals(RunStatus.COMPLETED, run.status());
        var all = new MetricQueries.MetricRange(ws(), "", 0, Long.MAX_VALUE);
        Integer recovered = TestRuntime.of(kit)
                .view(reads -> reads.metrics()
                        .facts(all, MetricCounter.RECOVERED, MetricQueries.FactCursor.START, 10)
                        .size());
        assertEquals(1, recovered);
    }

    /** A mail under one key for all runs, and what it says now. */
    private final AtomicReference<String> text = new AtomicReference<>("first");

    private final Workflow<String, String> news = Workflow.define("news", String.class, String.class)
            .body((ctx, in) -> ctx.effect("send")
                    .key("news")
                    .oncePer(Duration.ofDays(1))
                    .data(text.get())
                    .onChange(ChangedEffectDataPolicy.REVIEW)
                    .retry(Retry.none())
                    .lookup(String.class, step -> mail.find(step.key()))
                    .call(step -> mail.call(step.key())));

    /** A run whose changed message was approved, and refused by the provider. */
    private RunHandle<String> approvedThenFailed() {
        kit.register(news);
        TestRuntime.handle(kit.start(news, "x"));
        kit.settle();
        text.set("second");
        RunHandle<String> run = TestRuntime.handle(kit.start(news, "y"));
        kit.settle();
        mail.reject(1);
        assertTrue(run.decideChangedMessage("send", true, "ann", "fine"));
        kit.settle();
        assertEquals(RunStatus.FAILED, run.status());
        assertEquals(1, mail.effects());
        return run;
    }

    @Test
    void a_changed_message_that_was_approved_stays_approved() {
        RunHandle<String> run = approvedThenFailed();
        run.resume(mended());
        kit.settle();
        assertEquals("mail-2", run.result(Duration.ZERO));
    }

    @Test
    void an_approval_of_one_message_does_not_apply_to_another() {
        RunHandle<String> run = approvedThenFailed();
        text.set("third");
        run.resume(mended());
        kit.settle();
        assertEquals(1, mail.effects(), "nobody has seen what it says now");
        assertTrue(String.valueOf(run.waitingFor()).contains("review"), run.waitingFor());
        HumanReviewStoreWriteCommand.ReviewRow review =
                TestRuntime.of(kit).reviews().find(ws(), HumanReviewStoreWriteCommand.id(row(run), "send"));
        assertNotNull(review);
        assertTrue(review.isOpen());
        assertEquals(2, review.version(), "whoever read the first one is notified that it is another");
        assertTrue(run.decideChangedMessage("send", true, "bob", "this one too"));
        kit.settle();
        assertEquals("mail-2", run.result(Duration.ZERO));
    }

    @Test
    void a_message_equal_to_the_accepted_one_is_suppressed() {
        RunHandle<String> run = approvedThenFailed();
        text.set("first");
        run.resume(mended());
        kit.settle();
        assertEquals("mail-1", run.result(Duration.ZERO));
        assertEquals(1, mail.effects());
    }

    private RunId row(RunHandle<?> run) {
        return Objects.requireNonNull(TestRuntime.of(kit).testAccess().findRun(run.id()))
                .id();
    }

    @Test
    void the_deadline_starts_over_at_a_resume() {
        RunHandle<String> run = failed("a");
        kit.clock().advance(Duration.ofHours(3));
        run.resume(mended());
        kit.settle();
        assertEquals("cards-1 mail-1", run.result(Duration.ZERO));
    }

    @Test
    void a_crash_after_the_resume_leaves_a_run_that_continues() {
        RunHandle<String> run = failed("a");
        kit.crashAt("effect-sent", 1);
        kit.clock().autoAdvance();
        run.resume(mended());
        kit.settle();
        assertEquals("cards-1 mail-1", run.result(Duration.ZERO));
        assertEquals(1, mail.effects());
        assertEquals(1, cards.calls());
    }

    @Test
    void a_skipped_step_has_the_given_result_and_is_never_sent() {
        RunHandle<String> run = failed("a");
        FailedRunResumeRequest skip = mended().skipping("send", "by hand");
        assertEquals(
                SafeReplayStepAction.REUSE,
                actions(run.previewResume(skip).preview()).get("send"));
        run.resume(skip);
        kit.settle();
        assertEquals("cards-1 by hand", run.result(Duration.ZERO));
        assertEquals(1, mail.calls());
        ReplayPlanStoreWriteCommand.ReplayPlan plan = TestRuntime.of(kit)
                .replays()
                .plan(new ReplayPlanOperations.ReplayRequest(
                        ws(),
                        "ann",
                        new ReplayPlanOperations.RunSelection.ByRunId(List.of(run.id())),
                        new ReplayPlanRequest(
                                "test", "start", false, List.of(), false, false, ReplayNotificationMode.MISSING),
                        null,
                        false,
                        ReplayPlanApplyOptions.SAFE));
        assertEquals(
                SafeReplayStepAction.REUSE,
                actions(ReplayPreview.parse(item(plan).preview())).get("send"),
                "the ledger says that it happened");
        apply(plan);
        RunHandle<String> replay =
                TestRuntime.of(kit).run(receipt, String.valueOf(item(plan).newRun()));
        assertEquals("cards-1 by hand", replay.result(Duration.ZERO));
        assertEquals(1, mail.calls());
    }

    @Test
    void only_the_failed_step_is_skipped() {
        RunHandle<String> run = failed("a");
        assertTrue(refusal(run, mended().skipping("charge", "x")).contains("\"charge\" did not fail"));
        assertTrue(refusal(run, mended().skipping("nothing", "x")).contains("\"nothing\" did not fail"));
    }

    @Test
    void if_two_users_resume_one_succeeds_and_the_other_gets_an_error() {
        RunHandle<String> run = failed("a");
        FailedRunResumePlan one = run.previewResume(mended());
        FailedRunResumePlan other = run.previewResume(FailedRunResumeRequest.because("bob", "me too"));
        TestRuntime.of(kit).change(one.edit());
        var outcome = TestRuntime.of(kit).change(other.edit());
        SemelException refused = assertThrows(SemelException.class, () -> run.checkResumed(other, outcome));
        assertTrue(refused.detail().contains("ann resumed it at the same time"), refused.detail());
        kit.settle();
        assertEquals(1, mail.effects());
    }

    @Test
    void a_replayed_run_cannot_be_resumed_and_names_the_replay() {
        RunHandle<String> run = failed("a");
        ReplayPlanStoreWriteCommand.ReplayPlan plan = plan(run);
        apply(plan);
        String made = String.valueOf(item(plan).newRun());
        assertTrue(refusal(run, mended()).contains("it was replayed by " + made));
    }

    @Test
    void a_plan_of_a_resumed_run_is_outdated_and_a_later_one_is_not() {
        RunHandle<String> run = failed("a");
        ReplayPlanStoreWriteCommand.ReplayPlan early = plan(run);
        mail.reject(1);
        run.resume(mended());
        kit.settle();
        assertEquals(RunStatus.FAILED, run.status());
        SemelException moved = assertThrows(SemelException.class, () -> apply(early));
        assertEquals(ErrorCode.PLAN_OUT_OF_DATE, moved.code());
        ReplayPlanStoreWriteCommand.ReplayPlan late = plan(run);
        apply(late);
        assertEquals(
                ReplayPlanStoreWriteCommand.ItemOutcome.APPLIED,
                item(late).outcome(),
                item(late).note());
        assertEquals(1, mail.effects());
        assertEquals(1, cards.calls());
    }

    @Test
    void completed_cancelled_or_running_runs_cannot_be_resumed() {
        kit.register(receipt);
        RunHandle<String> done = TestRuntime.handle(kit.start(receipt, "a"));
        kit.settle();
        assertTrue(refusal(done, mended()).contains("it has completed"));
        Workflow<String, String> sleeping = Workflow.define("sleeping", String.class, String.class)
                .body((ctx, in) -> {
                    ctx.sleep("long", Duration.ofHours(1));
                    return in;
                });
        kit.register(sleeping);
        RunHandle<String> waiting = TestRuntime.handle(kit.start(sleeping, "x"));
        kit.settle();
        assertTrue(refusal(waiting, mended()).contains("it has not ended"));
        waiting.cancel();
        kit.settle();
        assertTrue(refusal(waiting, mended()).contains("it was cancelled"));
    }

    @Test
    void a_child_run_cannot_be_resumed_and_its_caller_gets_the_result() {
        kit.register(receipt);
        Workflow<String, String> parent = Workflow.define("parent", String.class, String.class)
                .body((ctx, in) -> ctx.call("child", receipt, in, Start.fresh()));
        kit.register(parent);
        mail.reject(1);
        RunHandle<String> run = TestRuntime.handle(kit.start(parent, "x"));
        kit.settle();
        assertEquals(RunStatus.FAILED, run.status());
        var row = TestRuntime.of(kit).testAccess().findRun(run.id());
        assertNotNull(row);
        var child =
                TestRuntime.of(kit).view(reads -> reads.children(row.id(), 1).getFirst());
        assertNotNull(child);
        assertTrue(refusal(TestRuntime.of(kit).run(receipt, child.text()), mended())
                .contains("called this run and has recorded the failure"));
        SemelException refused = assertThrows(SemelException.class, () -> run.resume(mended()));
        assertEquals(ErrorCode.REPLAY_REFUSED, refused.code(), "it would find the run that failed again");
        assertNull(run.previewResume(mended()).preview().blocked());
        run.resume(mended().skipping("child", "by hand"));
        kit.settle();
        assertEquals("by hand", run.result(Duration.ZERO));
    }

    @Test
    void a_run_that_undid_its_steps_cannot_be_resumed() {
        Workflow<String, String> undoing = Workflow.define("undoing", String.class, String.class)
                .body((ctx, in) -> {
                    ctx.compensate("refund", undo -> undo.step("back").run(String.class, _ -> "back"));
                    return ctx.effect("send")
                            .retry(Retry.none())
                            .lookup(String.class, step -> mail.find(step.key()))
                            .call(step -> mail.call(step.key()));
                });
        kit.register(undoing);
        mail.reject(1);
        RunHandle<String> run = TestRuntime.handle(kit.start(undoing, "x"));
        kit.settle();
        assertTrue(refusal(run, mended()).contains("has compensated its steps"));
    }
}
