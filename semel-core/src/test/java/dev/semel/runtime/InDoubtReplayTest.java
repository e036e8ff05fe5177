package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.Run;
import dev.semel.RunStatus;
import dev.semel.json.StrictJsonCodec;
import dev.semel.replay.ReplayNotificationMode;
import dev.semel.replay.ReplayOptions;
import dev.semel.replay.ReplayPlanApplyOptions;
import dev.semel.replay.ReplayPlanRequest;
import dev.semel.replay.SafeReplayStepAction;
import dev.semel.store.HumanReviewStoreWriteCommand;
import dev.semel.store.ReplayPlanQueries;
import dev.semel.store.ReplayPlanStoreWriteCommand;
import dev.semel.testing.FakeExternalSystem;
import dev.semel.testing.WorkflowTestKit;
import dev.semel.workflow.Context;
import dev.semel.workflow.EffectBuilder;
import dev.semel.workflow.Retry;
import dev.semel.workflow.Start;
import dev.semel.workflow.Workflow;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a run left in doubt, and the replay that comes to the same effect: nobody guesses, and one question is asked. */
final class InDoubtReplayTest {
    private static final HumanReviewDecisionRecorder.DecidedBy ANN =
            new HumanReviewDecisionRecorder.DecidedBy("ann", "looked it up");

    private final WorkflowTestKit kit = new WorkflowTestKit();
    private final FakeExternalSystem bank = kit.provider("bank").honoursKeysFor(Duration.ofHours(24));
    private final AtomicBoolean answers = new AtomicBoolean();
    private final AtomicInteger made = new AtomicInteger();

    @AfterEach
    void close() {
        kit.close();
    }

    private final Workflow<String, String> paying = Workflow.define("paying", String.class, String.class)
            .body((ctx, in) ->
                    ctx.effect("pay").askOnDoubt("role:money").call(String.class, step -> bank.call(step.key())));

    private int ws() {
        return TestRuntime.of(kit).testAccess().workspace();
    }

    private List<HumanReviewStoreWriteCommand.ReviewRow> inbox() {
        return Objects.requireNonNull(TestRuntime.of(kit)
                        .view(reads -> reads.reviews()
                                .open(new HumanReviewStoreWriteCommand.OpenReviewFilter(
                                        ws(), null, null, null, HumanReviewStoreWriteCommand.ReviewCursor.FRONT, 10))))
                .found();
    }

    private @Nullable Object decide(HumanReviewStoreWriteCommand.ReviewRow row, String word, @Nullable String result) {
        var decisionRequest = new HumanReviewDecisionRecorder.DecisionRequest(
                word, result == null ? null : StrictJsonCodec.parse(result), row.version());
        RunHandle.RunChange change = TestRuntime.of(kit).reviews().decisionChange(row, decisionRequest, ANN);
        assertNotNull(change);
        Object outcome = TestRuntime.of(kit).changeOrNull(change.edit());
        TestRuntime.of(kit).reviews().wakeAfter(change);
        kit.settle();
        return outcome;
    }

    /** Its answer is lost; it is cancelled in doubt, or it has stopped by itself. */
    private Run<String> left(Workflow<String, String> flow) {
        kit.register(flow);
        bank.loseResponse(1);
        Run<String> run = kit.start(flow, "x");
        kit.settle();
        if (run.status() == RunStatus.FAILED) { // nobody is asked while the provider remembers the key
            assertEquals(List.of(), run.stepsInDoubt());
        } else {
            assertTrue(run.cancel("ann", "nobody knows"));
            kit.settle();
            assertEquals(RunStatus.CANCELLED, run.status());
            assertEquals(List.of("pay"), run.stepsInDoubt());
        }
        answers.set(true);
        return run;
    }

    private Run<String> replayed(Run<String> first) {
        Run<String> replay = kit.start(paying, "x", Start.replayOf(first.id()));
        kit.settle();
        assertEquals(RunStatus.IN_DOUBT, replay.status());
        return replay;
    }

    @Test
    void the_review_of_the_replay_is_the_one_that_is_listed() {
        Run<String> first = left(paying);
        assertEquals(first.id(), inbox().getFirst().run().text());
        Run<String> replay = replayed(first);
        assertEquals(
                List.of(replay.id()),
                inbox().stream().map(row -> row.run().text()).toList());
        assertInstanceOf(
                HumanReviewStoreWriteCommand.DecideReviewResult.Done.class, decide(inbox().getFirst(), "stop", null));
        assertEquals(RunStatus.CANCELLED, replay.status());
        assertEquals(1, inbox().size(), "whether it was paid is still not known");
    }

    @Test
    void deciding_stop_on_the_earlier_review_stops_the_replay() {
        Run<String> first = left(paying);
        HumanReviewStoreWriteCommand.ReviewRow old = inbox().getFirst();
        Run<String> replay = replayed(first);
        assertInstanceOf(HumanReviewStoreWriteCommand.DecideReviewResult.Done.class, decide(old, "stop", null));
        assertEquals(RunStatus.CANCELLED, replay.status());
        assertEquals(1, bank.calls());
        assertEquals(1, inbox().size(), "whether it was paid is still not known");
    }

    @Test
    void deciding_happened_on_the_earlier_review_continues_the_replay() {
        Run<String> first = left(paying);
        HumanReviewStoreWriteCommand.ReviewRow old = inbox().getFirst();
        Run<String> replay = replayed(first);
        assertInstanceOf(
                HumanReviewStoreWriteCommand.DecideReviewResult.Done.class, decide(old, "happened", "\"by hand\""));
        assertEquals("by hand", replay.result(Duration.ZERO));
        assertEquals(1, bank.calls());
        assertEquals(List.of(), inbox());
    }

    @Test
    void deciding_not_happened_on_the_earlier_review_lets_the_replay_send() {
        Run<String> first = left(paying);
        HumanReviewStoreWriteCommand.ReviewRow old = inbox().getFirst();
        Run<String> replay = replayed(first);
        assertInstanceOf(
                HumanReviewStoreWriteCommand.DecideReviewResult.Done.class, decide(old, "did_not_happen", null));
        assertEquals(RunStatus.COMPLETED, replay.status());
        assertEquals(2, bank.calls());
        assertEquals(List.of(), inbox());
    }

    /** The key of its effect is made of the result of a step that runs again in a replay from the start. */
    private Workflow<String, String> naming(String protection, boolean once) {
        return Workflow.define("naming", String.class, String.class).body((ctx, in) -> {
            String key = ctx.step("name").run(String.class, _ -> "name-" + made.incrementAndGet());
            return pay(ctx, key, protection, once);
        });
    }

    private String pay(Context ctx, String key, String protection, boolean once) {
        EffectBuilder draft = ctx.effect("pay").key(key).retry(Retry.none());
        if (once) {
            draft.oncePer(Duration.ofHours(1));
        }
        return switch (protection) {
            case "provider_key" ->
                draft.providerHonoursKey(Duration.ofHours(24)).call(String.class, step -> bank.call(step.key()));
            case "lookup" ->
                draft.lookup(String.class, step -> {
                            if (!answers.get()) {
                                throw new java.io.IOException("not today");
                            }
                            return bank.find(step.key());
                        })
                        .call(step -> bank.call(step.key()));
            default -> draft.askOnDoubt("role:money").call(String.class, step -> bank.call(step.key()));
        };
    }

    private ReplayPlanStoreWriteCommand.PlanItem applied(Run<?> run) {
        ReplayPlanOperations replays = TestRuntime.of(kit).replays();
        ReplayPlanStoreWriteCommand.ReplayPlan plan = replays.plan(new ReplayPlanOperations.ReplayRequest(
                ws(),
                "ann",
                new ReplayPlanOperations.RunSelection.ByRunId(List.of(run.id())),
                new ReplayPlanRequest(
                        "test", ReplayOptions.START, false, List.of(), false, false, ReplayNotificationMode.MISSING),
                null,
                false,
                ReplayPlanApplyOptions.SAFE));
        replays.apply(ws(), plan.id(), new ReplayPlanApplyOptions(List.of(SafeReplayStepAction.ASK), 0, 0, 0), "ann");
        kit.settle();
        return replays.listItems(new ReplayPlanQueries.ItemFilter(plan.id(), 0, null), null, 10)
                .getFirst();
    }

    @ParameterizedTest
    @ValueSource(strings = {"provider_key", "lookup", "ask", "provider_key once", "lookup once", "ask once"})
    void an_effect_sent_under_another_key_is_reviewed_and_never_sent_under_the_new_key(String how) {
        Workflow<String, String> flow = naming(how.replace(" once", ""), how.endsWith("once"));
        Run<String> first = left(flow);
        Run<String> replay =
                TestRuntime.of(kit).run(flow, String.valueOf(applied(first).newRun()));
        assertEquals(2, made.get(), "the key is another one");
        assertEquals(RunStatus.IN_DOUBT, replay.status());
        assertEquals(1, bank.calls());
        HumanReviewStoreWriteCommand.ReviewRow review = inbox().getFirst();
        assertEquals(replay.id(), review.run().text());
        assertTrue(review.question().contains("\"key_changed\":true"), review.question());
        decide(review, "did_not_happen", null);
        assertEquals(RunStatus.COMPLETED, replay.status());
        assertEquals(2, bank.calls());
        assertEquals(List.of(), inbox());
    }

    @ParameterizedTest
    @ValueSource(strings = {"provider_key", "provider_key once"})
    void an_effect_that_happened_under_another_key_is_not_done_again(String how) {
        Workflow<String, String> flow = naming(how.replace(" once", ""), how.endsWith("once"));
        Run<String> first = left(flow);
        Run<String> replay =
                TestRuntime.of(kit).run(flow, String.valueOf(applied(first).newRun()));
        decide(inbox().getFirst(), "happened", "\"by hand\"");
        assertEquals("by hand", replay.result(Duration.ZERO));
        assertEquals(1, bank.calls());
    }
}
