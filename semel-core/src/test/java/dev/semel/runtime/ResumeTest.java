package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.replay.ReplayAction;
import dev.semel.replay.PlannedStep;
import dev.semel.replay.ApplyOptions;
import dev.semel.replay.ReplayPlanRequest;
import dev.semel.replay.ReplayPreview;
import dev.semel.replay.ResumeRequest;
import dev.semel.run.RunId;
import dev.semel.workflow.RunState;
import dev.semel.store.MetricCounter;
import dev.semel.store.MetricQueries;
import dev.semel.store.ReplayPlanQueries;
import dev.semel.store.ReplayPlanOperation;
import dev.semel.store.ReviewOperation;
import dev.semel.testing.WorkflowTestKit;
import dev.semel.testing.FakeProvider;
import dev.semel.workflow.OnChange;
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
    private final WorkflowTestKit lab = new WorkflowTestKit();
    private final FakeProvider cards = lab.provider("cards").honoursKeysFor(Duration.ofHours(24));
    private final FakeProvider mail = lab.provider("mail");

    @AfterEach
    void close() {
        lab.close();
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
        lab.register(receipt);
        mail.reject(1);
        RunHandle<String> run = TestRuntime.handle(lab.start(receipt, key, Start.withKey(key)));
        lab.settle();
        assertEquals(RunState.FAILED, run.status());
        return run;
    }

    private static Map<String, ReplayAction> actions(ReplayPreview outlook) {
        return outlook.steps().stream().collect(Collectors.toMap(PlannedStep::step, PlannedStep::action));
    }

    private static String refusal(RunHandle<?> run, ResumeRequest wish) {
        SemelException refused = assertThrows(SemelException.class, () -> run.resume(wish));
        assertEquals(ErrorCode.RESUME_REFUSED, refused.code());
        return refused.detail();
    }

    private static ResumeRequest mended() {
        return ResumeRequest.because("ann", "the provider is back");
    }

    private int ws() {
        return TestRuntime.of(lab).testAccess().workspace();
    }

    private ReplayPlanOperation.ReplayPlan plan(RunHandle<?> run) {
        return TestRuntime.of(lab)
                .replays()
                .plan(new Replays.ReplayRequest(
                        ws(),
                        "ann",
                        new Replays.RunSelection.ByRunId(List.of(run.id())),
                        new ReplayPlanRequest("test", "", false),
                        null,
                        false));
    }

    private ReplayPlanOperation.PlanItem item(ReplayPlanOperation.ReplayPlan plan) {
        return TestRuntime.of(lab)
                .replays()
                .listItems(new ReplayPlanQueries.ItemFilter(plan.id(), 0, null), null, 10)
                .getFirst();
    }

    private void apply(ReplayPlanOperation.ReplayPlan plan) {
        TestRuntime.of(lab).replays().apply(ws(), plan.id(), ApplyOptions.SAFE, "bob");
        lab.settle();
    }

    @Test
    void a_run_goes_on_from_the_step_that_failed_and_nothing_is_done_twice() {
        RunHandle<String> run = failed("a");
        ReplayPreview outlook = run.previewResume(mended()).preview();
        assertEquals(Map.of("load", ReplayAction.REUSE, "charge", ReplayAction.REUSE, "send", ReplayAction.SEND), actions(outlook));
        assertEquals(RunState.FAILED, run.status(), "a look changes nothing");
        run.resume(mended());
        lab.settle();
        assertEquals("cards-1 mail-1", run.result(Duration.ZERO));
        assertEquals(1, cards.calls());
        assertEquals(2, mail.calls());
        assertEquals(1, mail.effects());
        assertEquals(1, java.util.Set.copyOf(mail.keys()).size(), "the same key as before");
        var again = TestRuntime.handle(lab.start(receipt, "a", Start.withKey("a")));
        assertEquals(run.id(), again.id());
        assertTrue(refusal(run, mended()).contains("it has completed"));
    }

    @Test
    void it_may_fail_again_and_go_on_again() {
        RunHandle<String> run = failed("a");
        for (int i = 0; i < 3; i++) {
            mail.reject(1);
            run.resume(mended());
            lab.settle();
            assertEquals(RunState.FAILED, run.status());
        }
        lab.crash();
        run.resume(mended());
        lab.settle();
        assertEquals("cards-1 mail-1", run.result(Duration.ZERO));
        assertEquals(1, cards.calls());
        assertEquals(5, mail.calls());
    }

    @Test
    void it_is_one_recovery_however_often_it_failed() {
        RunHandle<String> run = failed("a");
        mail.reject(1);
        run.resume(mended());
        lab.settle();
        run.resume(mended());
        lab.settle();
        assertEquals(RunState.COMPLETED, run.status());
        var all = new MetricQueries.MetricRange(ws(), "", 0, Long.MAX_VALUE);
        Integer recovered = TestRuntime.of(lab)
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
                    .onChange(OnChange.REVIEW)
                    .retry(Retry.none())
                    .lookup(String.class, step -> mail.find(step.key()))
                    .call(step -> mail.call(step.key())));

    /** A run whose changed message was approved, and refused by the provider. */
    private RunHandle<String> approvedThenFailed() {
        lab.register(news);
        lab.start(news, "x");
        lab.settle();
        text.set("second");
        RunHandle<String> run = TestRuntime.handle(lab.start(news, "y"));
        lab.settle();
        mail.reject(1);
        assertTrue(run.decideChangedMessage("send", true, "ann", "fine"));
        lab.settle();
        assertEquals(RunState.FAILED, run.status());
        assertEquals(1, mail.effects());
        return run;
    }

    @Test
    void a_changed_message_that_was_approved_stays_approved() {
        RunHandle<String> run = approvedThenFailed();
        run.resume(mended());
        lab.settle();
        assertEquals("mail-2", run.result(Duration.ZERO));
    }

    @Test
    void an_approval_of_one_message_does_not_count_for_another() {
        RunHandle<String> run = approvedThenFailed();
        text.set("third");
        run.resume(mended());
        lab.settle();
        assertEquals(1, mail.effects(), "nobody has seen what it says now");
        assertTrue(String.valueOf(run.waitingFor()).contains("review"), run.waitingFor());
        ReviewOperation.ReviewRow asked = TestRuntime.of(lab).reviews().find(ws(), ReviewOperation.id(row(run), "send"));
        assertNotNull(asked);
        assertTrue(asked.isOpen());
        assertEquals(2, asked.version(), "whoever read the first one is told that it is another");
        assertTrue(run.decideChangedMessage("send", true, "bob", "this one too"));
        lab.settle();
        assertEquals("mail-2", run.result(Duration.ZERO));
    }

    @Test
    void a_message_that_is_again_what_was_accepted_is_suppressed() {
        RunHandle<String> run = approvedThenFailed();
        text.set("first");
        run.resume(mended());
        lab.settle();
        assertEquals("mail-1", run.result(Duration.ZERO));
        assertEquals(1, mail.effects());
    }

    private RunId row(RunHandle<?> run) {
        return Objects.requireNonNull(TestRuntime.of(lab).testAccess().findRun(run.id())).id();
    }

    @Test
    void its_deadline_begins_anew() {
        RunHandle<String> run = failed("a");
        lab.clock().advance(Duration.ofHours(3));
        run.resume(mended());
        lab.settle();
        assertEquals("cards-1 mail-1", run.result(Duration.ZERO));
    }

    @Test
    void a_crash_after_the_resumption_leaves_a_run_that_goes_on() {
        RunHandle<String> run = failed("a");
        lab.crashAt("effect-sent", 1);
        lab.clock().autoAdvance();
        run.resume(mended());
        lab.settle();
        assertEquals("cards-1 mail-1", run.result(Duration.ZERO));
        assertEquals(1, mail.effects());
        assertEquals(1, cards.calls());
    }

    @Test
    void a_step_that_is_skipped_has_the_result_that_was_given_and_is_never_sent() {
        RunHandle<String> run = failed("a");
        ResumeRequest skip = mended().skipping("send", "by hand");
        assertEquals(ReplayAction.REUSE, actions(run.previewResume(skip).preview()).get("send"));
        run.resume(skip);
        lab.settle();
        assertEquals("cards-1 by hand", run.result(Duration.ZERO));
        assertEquals(1, mail.calls());
        ReplayPlanOperation.ReplayPlan plan = TestRuntime.of(lab)
                .replays()
                .plan(new Replays.ReplayRequest(
                        ws(),
                        "ann",
                        new Replays.RunSelection.ByRunId(List.of(run.id())),
                        new ReplayPlanRequest("test", "start", false),
                        null,
                        false));
        assertEquals(
                ReplayAction.REUSE,
                actions(ReplayPreview.parse(item(plan).preview())).get("send"),
                "the ledger says that it happened");
        apply(plan);
        RunHandle<String> replay = TestRuntime.of(lab).run(receipt, String.valueOf(item(plan).newRun()));
        assertEquals("cards-1 by hand", replay.result(Duration.ZERO));
        assertEquals(1, mail.calls());
    }

    @Test
    void only_the_step_that_failed_is_skipped() {
        RunHandle<String> run = failed("a");
        assertTrue(refusal(run, mended().skipping("charge", "x")).contains("\"charge\" did not fail"));
        assertTrue(refusal(run, mended().skipping("nothing", "x")).contains("\"nothing\" did not fail"));
    }

    @Test
    void of_two_people_at_once_one_resumes_and_the_other_is_told() {
        RunHandle<String> run = failed("a");
        ResumePlan one = run.previewResume(mended());
        ResumePlan other = run.previewResume(ResumeRequest.because("bob", "me too"));
        TestRuntime.of(lab).change(one.edit());
        var outcome = TestRuntime.of(lab).change(other.edit());
        SemelException refused = assertThrows(SemelException.class, () -> run.checkResumed(other, outcome));
        assertTrue(refused.detail().contains("ann resumed it at the same time"), refused.detail());
        lab.settle();
        assertEquals(1, mail.effects());
    }

    @Test
    void a_run_that_was_replayed_is_refused_and_names_the_replay() {
        RunHandle<String> run = failed("a");
        ReplayPlanOperation.ReplayPlan plan = plan(run);
        apply(plan);
        String made = String.valueOf(item(plan).newRun());
        assertTrue(refusal(run, mended()).contains("it was replayed by " + made));
    }

    @Test
    void a_plan_of_a_run_that_went_on_since_does_not_fit_and_a_later_one_does() {
        RunHandle<String> run = failed("a");
        ReplayPlanOperation.ReplayPlan early = plan(run);
        mail.reject(1);
        run.resume(mended());
        lab.settle();
        assertEquals(RunState.FAILED, run.status());
        SemelException moved = assertThrows(SemelException.class, () -> apply(early));
        assertEquals(ErrorCode.PLAN_OUT_OF_DATE, moved.code());
        ReplayPlanOperation.ReplayPlan late = plan(run);
        apply(late);
        assertEquals(ReplayPlanOperation.ItemOutcome.APPLIED, item(late).outcome(), item(late).note());
        assertEquals(1, mail.effects());
        assertEquals(1, cards.calls());
    }

    @Test
    void what_completed_or_was_cancelled_or_works_is_refused() {
        lab.register(receipt);
        RunHandle<String> done = TestRuntime.handle(lab.start(receipt, "a"));
        lab.settle();
        assertTrue(refusal(done, mended()).contains("it has completed"));
        Workflow<String, String> sleeping = Workflow.define("sleeping", String.class, String.class)
                .body((ctx, in) -> {
                    ctx.sleep("long", Duration.ofHours(1));
                    return in;
                });
        lab.register(sleeping);
        RunHandle<String> waiting = TestRuntime.handle(lab.start(sleeping, "x"));
        lab.settle();
        assertTrue(refusal(waiting, mended()).contains("it has not ended"));
        waiting.cancel();
        lab.settle();
        assertTrue(refusal(waiting, mended()).contains("it was cancelled"));
    }

    @Test
    void a_run_that_another_one_called_is_refused_and_its_caller_is_given_the_result() {
        lab.register(receipt);
        Workflow<String, String> parent = Workflow.define("parent", String.class, String.class)
                .body((ctx, in) -> ctx.call("child", receipt, in, Start.fresh()));
        lab.register(parent);
        mail.reject(1);
        RunHandle<String> run = TestRuntime.handle(lab.start(parent, "x"));
        lab.settle();
        assertEquals(RunState.FAILED, run.status());
        var row = TestRuntime.of(lab).testAccess().findRun(run.id());
        assertNotNull(row);
        var child = TestRuntime.of(lab).view(reads -> reads.children(row.id()).getFirst());
        assertNotNull(child);
        assertTrue(refusal(TestRuntime.of(lab).run(receipt, child.text()), mended()).contains("called it and has recorded its failure"));
        SemelException refused = assertThrows(SemelException.class, () -> run.resume(mended()));
        assertEquals(ErrorCode.REPLAY_REFUSED, refused.code(), "it would find the run that failed again");
        assertNull(run.previewResume(mended()).preview().blocked());
        run.resume(mended().skipping("child", "by hand"));
        lab.settle();
        assertEquals("by hand", run.result(Duration.ZERO));
    }

    @Test
    void a_run_that_undid_what_it_had_done_is_refused() {
        Workflow<String, String> undoing = Workflow.define("undoing", String.class, String.class)
                .body((ctx, in) -> {
                    ctx.compensate("refund", undo -> undo.step("back").run(String.class, _ -> "back"));
                    return ctx.effect("send")
                            .retry(Retry.none())
                            .lookup(String.class, step -> mail.find(step.key()))
                            .call(step -> mail.call(step.key()));
                });
        lab.register(undoing);
        mail.reject(1);
        RunHandle<String> run = TestRuntime.handle(lab.start(undoing, "x"));
        lab.settle();
        assertTrue(refusal(run, mended()).contains("has compensated its steps"));
    }
}
