package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.json.StrictJsonCodec;
import dev.semel.store.Await;
import dev.semel.store.HumanReviewStoreWriteCommand;
import dev.semel.workflow.ApprovalDecision;
import dev.semel.workflow.EffectOutcome;
import dev.semel.workflow.EscalationPolicy;
import dev.semel.workflow.Retry;
import dev.semel.workflow.ReviewOptions;
import dev.semel.workflow.Workflow;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Whatever waits for a person is found in one place, and an answer there lets the run go on. */
final class ReviewInboxTest extends SqliteTestBase {
    private static final HumanReviewDecisionRecorder.DecidedBy ANN =
            new HumanReviewDecisionRecorder.DecidedBy("ann", "looked it up");

    private List<HumanReviewStoreWriteCommand.ReviewRow> inbox() {
        return Objects.requireNonNull(semel.view(reads -> reads.reviews()
                        .open(new HumanReviewStoreWriteCommand.OpenReviewFilter(
                                1, null, null, null, HumanReviewStoreWriteCommand.ReviewCursor.FRONT, 10))))
                .found();
    }

    private HumanReviewStoreWriteCommand.ReviewRow asked(HumanReviewStoreWriteCommand.ReviewKind kind) {
        Await.until("somebody asks", () -> inbox().stream().anyMatch(row -> row.kind() == kind));
        return inbox().stream().filter(row -> row.kind() == kind).findFirst().orElseThrow();
    }

    private @Nullable Object decide(
            HumanReviewStoreWriteCommand.ReviewRow row, String word, @Nullable String result, int version) {
        var decisionRequest = new HumanReviewDecisionRecorder.DecisionRequest(
                word, result == null ? null : StrictJsonCodec.parse(result), version);
        RunHandle.RunChange change = semel.reviews().decisionChange(row, decisionRequest, ANN);
        assertNotNull(change);
        Object outcome = semel.changeOrNull(change.edit());
        semel.reviews().wakeAfter(change);
        return outcome;
    }

    @Test
    void an_effect_in_doubt_opens_its_declared_review_and_continues_with_the_decision() {
        AtomicInteger sent = new AtomicInteger();
        RunHandle<String> run = start(flow((ctx, _) -> ctx.effect("pay")
                .reviewOptions(ReviewOptions.of("Was it paid?")
                        .link("https://bank.example")
                        .escalation(EscalationPolicy.NONE.due(Duration.ofHours(1))))
                .askOnDoubt("role:money")
                .call(String.class, _ -> {
                    sent.incrementAndGet();
                    throw new IOException("the line went dead");
                })));
        HumanReviewStoreWriteCommand.ReviewRow row = asked(HumanReviewStoreWriteCommand.ReviewKind.DOUBT);
        assertEquals("role:money", row.reviewer());
        assertEquals("pay", row.step());
        assertEquals(
                "Was it paid?",
                StrictJsonCodec.parse(row.question()).path("title").asString());
        assertEquals(row.openedAt() + Duration.ofHours(1).toNanos() / 1_000, row.dueAt());
        assertInstanceOf(
                HumanReviewStoreWriteCommand.DecideReviewResult.NotOpen.class, decide(row, "happened", "\"x\"", 2));
        assertInstanceOf(
                HumanReviewStoreWriteCommand.DecideReviewResult.Done.class, decide(row, "happened", "\"yes\"", 1));
        assertEquals("yes", run.result(SOON));
        assertEquals(1, sent.get());
        assertEquals(List.of(), inbox());
        assertInstanceOf(
                HumanReviewStoreWriteCommand.DecideReviewResult.NotOpen.class, decide(row, "did_not_happen", null, 0));
    }

    @Test
    void a_second_doubt_opens_the_next_version_of_the_review() {
        AtomicInteger sent = new AtomicInteger();
        RunHandle<String> run = start(flow(
                (ctx, _) -> ctx.effect("pay").askOnDoubt("role:money").call(String.class, _ -> {
                    sent.incrementAndGet();
                    throw new IOException("the line went dead");
                })));
        decide(asked(HumanReviewStoreWriteCommand.ReviewKind.DOUBT), "did_not_happen", null, 1);
        Await.until("it is asked again", () -> inbox().stream().anyMatch(row -> row.version() == 2));
        assertEquals(2, sent.get());
        assertInstanceOf(
                HumanReviewStoreWriteCommand.DecideReviewResult.Done.class,
                decide(asked(HumanReviewStoreWriteCommand.ReviewKind.DOUBT), "stop", null, 2));
        Await.until("it was stopped", () -> run.status().hasEnded());
    }

    @Test
    void a_provider_without_a_response_leaves_the_decision_to_users() {
        AtomicInteger looks = new AtomicInteger();
        RunHandle<String> run = start(flow((ctx, _) -> ctx.effect("pay")
                .retry(Retry.exponential(Duration.ofMillis(1)).upTo(5).longest(Duration.ofMillis(5)))
                .lookup(String.class, _ -> {
                    looks.incrementAndGet();
                    throw new IOException("nobody answers");
                })
                .call(_ -> {
                    throw new IOException("the line went dead");
                })));
        HumanReviewStoreWriteCommand.ReviewRow row = asked(HumanReviewStoreWriteCommand.ReviewKind.DOUBT);
        assertTrue(looks.get() >= 3);
        assertInstanceOf(
                HumanReviewStoreWriteCommand.DecideReviewResult.Done.class, decide(row, "happened", "\"by hand\"", 1));
        assertEquals("by hand", run.result(SOON));
    }

    @Test
    void an_at_most_once_effect_opens_a_review_and_its_run_does_not_wait() {
        AtomicInteger sent = new AtomicInteger();
        Workflow<String, String> flow = flow((ctx, _) -> {
            EffectOutcome<String> outcome = ctx.effect("sms")
                    .key("sms", "ann")
                    .oncePer(Duration.ofDays(1))
                    .atMostOnce()
                    .call(String.class, _ -> {
                        sent.incrementAndGet();
                        throw new IOException("the line went dead");
                    });
            return outcome instanceof EffectOutcome.Done<String>(String value) ? value : "perhaps";
        });
        semel.register(flow);
        assertEquals("perhaps", semel.start(flow, "x").result(SOON));
        HumanReviewStoreWriteCommand.ReviewRow row = asked(HumanReviewStoreWriteCommand.ReviewKind.DOUBT);
        assertEquals("sms", row.step());
        assertTrue(row.question().contains("the line went dead"), row.question());
        RunHandle<String> other = semel.start(flow, "x");
        untilWaiting(other, "effect");
        assertInstanceOf(
                HumanReviewStoreWriteCommand.DecideReviewResult.Done.class, decide(row, "happened", "\"m1\"", 1));
        assertEquals("m1", other.result(SOON), "the first one stood for it");
        assertEquals(1, sent.get());
        assertEquals(List.of(), inbox());
    }

    @Test
    void an_effect_in_doubt_of_a_cancelled_run_is_reviewed_after_its_end() {
        RunHandle<String> run = start(flow((ctx, _) -> ctx.effect("pay")
                .retry(Retry.exponential(Duration.ofHours(1)))
                .providerHonoursKey(Duration.ofSeconds(10))
                .call(String.class, _ -> {
                    throw new IOException("the line went dead");
                })));
        untilWaiting(run, "retry");
        assertEquals(List.of(), inbox());
        assertTrue(run.cancel());
        Await.until("it has ended", () -> run.status().hasEnded());
        assertEquals(List.of(), inbox(), "not while the provider remembers the key");
        HumanReviewStoreWriteCommand.ReviewRow row = asked(HumanReviewStoreWriteCommand.ReviewKind.DOUBT);
        assertEquals("pay", row.step());
        assertInstanceOf(
                HumanReviewStoreWriteCommand.DecideReviewResult.NotOpen.class,
                decide(row, "stop", null, 1),
                "it was stopped before");
        assertInstanceOf(
                HumanReviewStoreWriteCommand.DecideReviewResult.Done.class, decide(row, "happened", "\"paid\"", 1));
        assertEquals(List.of(), run.stepsInDoubt());
        assertEquals(List.of(), inbox());
    }

    @Test
    void an_expired_approval_cannot_be_decided() {
        RunHandle<String> run = start(flow((ctx, _) ->
                ctx.approval("ok", a -> a.timeout(Duration.ofMillis(1))) instanceof ApprovalDecision.TimedOut
                        ? "late"
                        : "?"));
        assertEquals("late", run.result(SOON));
        assertEquals(List.of(), inbox());
        assertFalse(run.approve("ok", "ann", ""));
    }
}
