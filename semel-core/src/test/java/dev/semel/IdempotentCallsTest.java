package dev.semel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.error.EffectInDoubt;
import dev.semel.error.ErrorCode;
import dev.semel.error.KeyConflict;
import dev.semel.error.SemelException;
import dev.semel.error.TypeMismatch;
import dev.semel.json.StrictJson;
import dev.semel.store.Await;
import dev.semel.store.ReviewOperation;
import dev.semel.workflow.Workflow;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Operations that are done once: what is left of one whose process died, and whose they are. */
final class IdempotentCallsTest extends SqliteTestBase {
    private final AtomicInteger done = new AtomicInteger();

    private int once(String key, Callable<Integer> code) {
        return semel.once("create", "ann", key, "cart", Integer.class, code);
    }

    /** The process dies while the code of the operation runs. */
    private void dieHalfWay(String key) {
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch never = new CountDownLatch(1);
        var unused = CompletableFuture.runAsync(
                () -> once(key, () -> {
                    inside.countDown();
                    never.await();
                    return 0;
                }),
                task -> Thread.ofVirtual().start(task));
        Await.until("its code runs", () -> inside.getCount() == 0);
        die();
    }

    @Test
    void an_operation_of_a_dead_process_is_in_doubt_until_a_user_confirms_it() {
        dieHalfWay("k");
        assertThrows(EffectInDoubt.class, () -> once("k", done::incrementAndGet));
        String said = assertThrows(EffectInDoubt.class, () -> once("k", done::incrementAndGet))
                .fix();
        assertTrue(said.contains("semel.findIdempotentCall("), said);
        IdempotentCallRecord guarded = semel.findIdempotentCall("create", "k");
        assertTrue(guarded.isInDoubt());
        assertTrue(guarded.confirmDone(17, "bob"));
        assertFalse(guarded.confirmNotDone("eve"), "the first decision counts");
        assertEquals(17, once("k", done::incrementAndGet));
        assertFalse(guarded.isInDoubt());
        assertEquals(0, done.get());
    }

    @Test
    void the_review_is_in_the_inbox_and_its_decision_applies_to_the_caller() {
        dieHalfWay("k");
        IdempotentCallRecord guarded = semel.findIdempotentCall("create", "k");
        Await.until("the doubt is known", guarded::isInDoubt);
        var all = new ReviewOperation.OpenReviewFilter(
                1, ReviewOperation.ReviewKind.DOUBT, null, null, ReviewOperation.ReviewCursor.FRONT, 10);
        Await.until("it is asked", () -> !inbox(all).isEmpty());
        ReviewOperation.ReviewRow row = inbox(all).getFirst();
        var verdict = new Reviews.DecisionRequest("happened", StrictJson.parse("17"), 1);
        Run.RunChange ruling = Objects.requireNonNull(
                semel.reviews().decisionChange(row, verdict, new Reviews.DecidedBy("bob", "it is in the list")));
        assertTrue(Reviews.isApplied(semel.changeOrNull(ruling.edit())));
        semel.reviews().wakeAfter(ruling);
        assertEquals(17, once("k", done::incrementAndGet));
        assertEquals(0, done.get());
        assertEquals(List.of(), inbox(all));
    }

    private List<ReviewOperation.ReviewRow> inbox(ReviewOperation.OpenReviewFilter filter) {
        return Objects.requireNonNull(semel.view(reads -> reads.reviews().open(filter)))
                .found();
    }

    @Test
    void after_a_user_decides_not_happened_the_next_call_runs_it() {
        dieHalfWay("k");
        IdempotentCallRecord guarded =
                semel.findIdempotentCall("create", "k"); // the first thing that this process hears of the operation
        Await.until("the doubt is known", guarded::isInDoubt);
        assertTrue(guarded.confirmNotDone("bob"));
        assertEquals(1, once("k", done::incrementAndGet), "at once, and without an error in between");
        assertEquals(1, once("k", done::incrementAndGet));
    }

    @Test
    void an_actor_never_gets_the_result_of_another_actor() {
        assertEquals(1, once("k", done::incrementAndGet));
        KeyConflict conflict = assertThrows(
                KeyConflict.class,
                () -> semel.once("create", "eve", "k", "cart", Integer.class, done::incrementAndGet));
        assertEquals(java.util.List.of("actor"), conflict.changedFields());
        assertEquals(1, done.get());
    }

    @Test
    void an_operation_and_a_workflow_cannot_share_a_name() {
        Workflow<String, String> flow = flow((_, in) -> in);
        assertEquals("x", start(flow).result(SOON));
        SemelException refused = assertThrows(
                SemelException.class, () -> semel.once("flow", "ann", "k", "f", Integer.class, done::incrementAndGet));
        assertEquals(ErrorCode.INVALID_DEFINITION, refused.code());
        assertEquals("x", semel.start(flow, "x").result(SOON), "its code is still the workflow's");
        assertEquals(1, once("k", done::incrementAndGet));
        Workflow<String, String> second =
                Workflow.define("create", String.class, String.class).body((_, in) -> in);
        assertThrows(SemelException.class, () -> semel.register(second));
        assertEquals(1, once("k", done::incrementAndGet));
        assertEquals(1, done.get());
    }

    @Test
    void an_unused_key_has_nothing_to_decide() {
        SemelException refused = assertThrows(SemelException.class, () -> semel.findIdempotentCall("create", "none"));
        assertEquals(ErrorCode.NOT_FOUND, refused.code());
    }

    @Test
    void an_operation_with_an_unrecordable_result_is_not_done_again() {
        AtomicInteger done = new AtomicInteger();
        for (Object result : List.of(
                new Object() {
                    public int getBroken() {
                        throw new IllegalStateException("no");
                    }
                },
                "x".repeat(20_000_000))) {
            String name = result instanceof String ? "huge" : "broken";
            for (int i = 0; i < 2; i++) {
                assertThrows(
                        TypeMismatch.class,
                        () -> semel.once(name, "ann", "k", "f", Object.class, () -> {
                            done.incrementAndGet();
                            return result;
                        }));
            }
        }
        assertEquals(2, done.get());
    }
}
