package dev.semel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.json.Json;
import dev.semel.replay.Action;
import dev.semel.replay.Manner;
import dev.semel.replay.Order;
import dev.semel.replay.Terms;
import dev.semel.run.RunState;
import dev.semel.store.Plans;
import dev.semel.store.Replay;
import dev.semel.store.Review;
import dev.semel.testing.Lab;
import dev.semel.testing.Provider;
import dev.semel.workflow.Context;
import dev.semel.workflow.EffectDraft;
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
    private static final Reviews.Who ANN = new Reviews.Who("ann", "looked it up");

    private final Lab lab = new Lab();
    private final Provider bank = lab.provider("bank").honoursKeysFor(Duration.ofHours(24));
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
        return lab.semel().backstage().workspace();
    }

    private List<Review.Row> inbox() {
        return Objects.requireNonNull(lab.semel()
                        .view(reads -> reads.reviews()
                                .open(new Review.Filter(ws(), null, null, null, Review.Place.FRONT, 10))))
                .found();
    }

    private @Nullable Object decide(Review.Row row, String word, @Nullable String result) {
        var verdict = new Reviews.Verdict(word, result == null ? null : Json.parse(result), row.version());
        Run.Ruling ruling = lab.semel().reviews().ruling(row, verdict, ANN);
        assertNotNull(ruling);
        Object outcome = lab.semel().maybeChange(ruling.edit());
        lab.semel().reviews().told(ruling);
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
        assertEquals(List.of("pay"), run.inDoubt());
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
        assertInstanceOf(Review.Ruled.Done.class, decide(inbox().getFirst(), "stop", null));
        assertEquals(RunState.CANCELLED, replay.status());
        assertEquals(1, inbox().size(), "whether it was paid is still not known");
    }

    @Test
    void stop_said_to_the_question_that_was_left_stops_the_replay() {
        Run<String> first = left(paying);
        Review.Row old = inbox().getFirst();
        Run<String> replay = replayed(first);
        assertInstanceOf(Review.Ruled.Done.class, decide(old, "stop", null));
        assertEquals(RunState.CANCELLED, replay.status());
        assertEquals(1, bank.calls());
        assertEquals(1, inbox().size(), "whether it was paid is still not known");
    }

    @Test
    void that_it_happened_said_to_the_question_that_was_left_lets_the_replay_go_on() {
        Run<String> first = left(paying);
        Review.Row old = inbox().getFirst();
        Run<String> replay = replayed(first);
        assertInstanceOf(Review.Ruled.Done.class, decide(old, "happened", "\"by hand\""));
        assertEquals("by hand", replay.result(Duration.ZERO));
        assertEquals(1, bank.calls());
        assertEquals(List.of(), inbox());
    }

    @Test
    void that_it_did_not_happen_said_to_the_question_that_was_left_lets_the_replay_send_it() {
        Run<String> first = left(paying);
        Review.Row old = inbox().getFirst();
        Run<String> replay = replayed(first);
        assertInstanceOf(Review.Ruled.Done.class, decide(old, "did_not_happen", null));
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
        EffectDraft draft = ctx.effect("pay").key(key).retry(Retry.none());
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

    private Replay.Item applied(Run<?> run) {
        Replays replays = lab.semel().replays();
        Replay.Plan plan = replays.plan(new Replays.Asked(
                ws(),
                "ann",
                new Replays.Which.These(List.of(run.id())),
                new Order("test", Terms.START, false),
                null,
                false));
        replays.apply(ws(), plan.id(), new Manner(List.of(Action.ASK), 0, 0, 0), "ann");
        lab.settle();
        return replays.items(new Plans.Wanted(plan.id(), 0, null), null, 10).getFirst();
    }

    @ParameterizedTest
    @ValueSource(strings = {"provider_key", "lookup", "ask", "provider_key once", "lookup once", "ask once"})
    void what_was_sent_under_another_key_is_asked_about_and_never_sent_under_the_new_one(String how) {
        Workflow<String, String> flow = naming(how.replace(" once", ""), how.endsWith("once"));
        Run<String> first = left(flow);
        Run<String> replay = lab.semel().run(flow, String.valueOf(applied(first).made()));
        assertEquals(2, made.get(), "the key is another one");
        assertEquals(RunState.IN_DOUBT, replay.status());
        assertEquals(1, bank.calls());
        Review.Row asked = inbox().getFirst();
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
        Run<String> replay = lab.semel().run(flow, String.valueOf(applied(first).made()));
        decide(inbox().getFirst(), "happened", "\"by hand\"");
        assertEquals("by hand", replay.result(Duration.ZERO));
        assertEquals(1, bank.calls());
    }
}
