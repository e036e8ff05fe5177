package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.Run;
import dev.semel.json.StrictJson;
import dev.semel.replay.ReplayAction;
import dev.semel.replay.ApplyOptions;
import dev.semel.replay.ReplayPlanRequest;
import dev.semel.replay.ReplayOptions;
import dev.semel.workflow.RunState;
import dev.semel.store.ReplayPlanQueries;
import dev.semel.store.ReplayPlanOperation;
import dev.semel.store.ReviewOperation;
import dev.semel.testing.WorkflowTestKit;
import dev.semel.testing.FakeProvider;
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
final class DoubtOfAReplayTest {
    private static final Reviews.DecidedBy ANN = new Reviews.DecidedBy("ann", "looked it up");

    private final WorkflowTestKit lab = new WorkflowTestKit();
    private final FakeProvider bank = lab.provider("bank").honoursKeysFor(Duration.ofHours(24));
    private final AtomicBoolean answers = new AtomicBoolean();
    private final AtomicInteger made = new AtomicInteger();

    @AfterEach
    void close() {
        lab.close();
    }

    private final Workflow<String, String> paying = Workflow.define("paying", String.class, String.class)
            .body((ctx, in) ->
                    ctx.effect("pay").askOnDoubt("role:money").call(String.class, step -> bank.call(step.key())));

    private int ws() {
        return TestRuntime.of(lab).testAccess().workspace();
    }

    private List<ReviewOperation.ReviewRow> inbox() {
        return Objects.requireNonNull(TestRuntime.of(lab)
                        .view(reads -> reads.reviews()
                                .open(new ReviewOperation.OpenReviewFilter(ws(), null, null, null, ReviewOperation.ReviewCursor.FRONT, 10))))
                .found();
    }

    private @Nullable Object decide(ReviewOperation.ReviewRow row, String word, @Nullable String result) {
        var verdict = new Reviews.DecisionRequest(word, result == null ? null : StrictJson.parse(result), row.version());
        RunHandle.RunChange ruling = TestRuntime.of(lab).reviews().decisionChange(row, verdict, ANN);
        assertNotNull(ruling);
        Object outcome = TestRuntime.of(lab).changeOrNull(ruling.edit());
        TestRuntime.of(lab).reviews().wakeAfter(ruling);
        lab.settle();
        return outcome;
    }

    /** Its answer is lost, and it is cancelled in doubt. */
    private Run<String> left(Workflow<String, String> flow) {
        lab.register(flow);
        bank.loseResponse(1);
        Run<String> run = lab.start(flow, "x");
        lab.settle();
        assertTrue(run.cancel("ann", "nobody knows"));
        lab.settle();
        assertEquals(RunState.CANCELLED, run.status());
        assertEquals(List.of("pay"), run.stepsInDoubt());
        answers.set(true);
        return run;
    }

    private Run<String> replayed(Run<String> first) {
        Run<String> replay = lab.start(paying, "x", Start.replayOf(first.id()));
        lab.settle();
        assertEquals(RunState.IN_DOUBT, replay.status());
        return replay;
    }

    @Test
    void the_question_of_the_replay_is_the_one_that_is_seen() {
        Run<String> first = left(paying);
        assertEquals(first.id(), inbox().getFirst().run().text());
        Run<String> replay = replayed(first);
        assertEquals(
                List.of(replay.id()),
                inbox().stream().map(row -> row.run().text()).toList());
        assertInstanceOf(ReviewOperation.DecideReviewResult.Done.class, decide(inbox().getFirst(), "stop", null));
        assertEquals(RunState.CANCELLED, replay.status());
        assertEquals(1, inbox().size(), "whether it was paid is still not known");
    }

    @Test
    void stop_said_to_the_question_that_was_left_stops_the_replay() {
        Run<String> first = left(paying);
        ReviewOperation.ReviewRow old = inbox().getFirst();
        Run<String> replay = replayed(first);
        assertInstanceOf(ReviewOperation.DecideReviewResult.Done.class, decide(old, "stop", null));
        assertEquals(RunState.CANCELLED, replay.status());
        assertEquals(1, bank.calls());
        assertEquals(1, inbox().size(), "whether it was paid is still not known");
    }

    @Test
    void that_it_happened_said_to_the_question_that_was_left_lets_the_replay_go_on() {
        Run<String> first = left(paying);
        ReviewOperation.ReviewRow old = inbox().getFirst();
        Run<String> replay = replayed(first);
        assertInstanceOf(ReviewOperation.DecideReviewResult.Done.class, decide(old, "happened", "\"by hand\""));
        assertEquals("by hand", replay.result(Duration.ZERO));
        assertEquals(1, bank.calls());
        assertEquals(List.of(), inbox());
    }

    @Test
    void that_it_did_not_happen_said_to_the_question_that_was_left_lets_the_replay_send_it() {
        Run<String> first = left(paying);
        ReviewOperation.ReviewRow old = inbox().getFirst();
        Run<String> replay = replayed(first);
        assertInstanceOf(ReviewOperation.DecideReviewResult.Done.class, decide(old, "did_not_happen", null));
        assertEquals(RunState.COMPLETED, replay.status());
        assertEquals(2, bank.calls());
        assertEquals(List.of(), inbox());
    }

    /** The key of its deed is made of the result of a step that runs again in a replay from the start. */
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

    private ReplayPlanOperation.PlanItem applied(Run<?> run) {
        Replays replays = TestRuntime.of(lab).replays();
        ReplayPlanOperation.ReplayPlan plan = replays.plan(new Replays.ReplayRequest(
                ws(),
                "ann",
                new Replays.RunSelection.ByRunId(List.of(run.id())),
                new ReplayPlanRequest("test", ReplayOptions.START, false),
                null,
                false));
        replays.apply(ws(), plan.id(), new ApplyOptions(List.of(ReplayAction.ASK), 0, 0, 0), "ann");
        lab.settle();
        return replays.listItems(new ReplayPlanQueries.ItemFilter(plan.id(), 0, null), null, 10).getFirst();
    }

    @ParameterizedTest
    @ValueSource(strings = {"provider_key", "lookup", "ask", "provider_key once", "lookup once", "ask once"})
    void what_was_sent_under_another_key_is_asked_about_and_never_sent_under_the_new_one(String how) {
        Workflow<String, String> flow = naming(how.replace(" once", ""), how.endsWith("once"));
        Run<String> first = left(flow);
        Run<String> replay = TestRuntime.of(lab).run(flow, String.valueOf(applied(first).newRun()));
        assertEquals(2, made.get(), "the key is another one");
        assertEquals(RunState.IN_DOUBT, replay.status());
        assertEquals(1, bank.calls());
        ReviewOperation.ReviewRow asked = inbox().getFirst();
        assertEquals(replay.id(), asked.run().text());
        assertTrue(asked.question().contains("\"key_changed\":true"), asked.question());
        decide(asked, "did_not_happen", null);
        assertEquals(RunState.COMPLETED, replay.status());
        assertEquals(2, bank.calls());
        assertEquals(List.of(), inbox());
    }

    @ParameterizedTest
    @ValueSource(strings = {"provider_key", "provider_key once"})
    void what_happened_under_another_key_is_not_done_again(String how) {
        Workflow<String, String> flow = naming(how.replace(" once", ""), how.endsWith("once"));
        Run<String> first = left(flow);
        Run<String> replay = TestRuntime.of(lab).run(flow, String.valueOf(applied(first).newRun()));
        decide(inbox().getFirst(), "happened", "\"by hand\"");
        assertEquals("by hand", replay.result(Duration.ZERO));
        assertEquals(1, bank.calls());
    }
}
