package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.IdempotentCall;
import dev.semel.IdempotentResult;
import dev.semel.error.EffectInDoubt;
import dev.semel.error.ErrorCode;
import dev.semel.error.JsonConversionFailed;
import dev.semel.error.KeyConflict;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJsonCodec;
import dev.semel.store.Await;
import dev.semel.store.HumanReviewStoreWriteCommand;
import dev.semel.workflow.Workflow;
import java.io.IOException;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Operations that are done once: what is left of one whose process died, and whose they are. */
final class IdempotentCallExecutorTest extends SqliteTestBase {
    private final AtomicInteger done = new AtomicInteger();

    private int once(String key, Callable<Integer> code) {
        return Objects.requireNonNull(create(key).call(Integer.class, code).value());
    }

    private IdempotentCall create(String key) {
        return semel.idempotent("create").caller("ann").key(key).request("cart");
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
        assertTrue(said.contains("semel.idempotent(operation)"), said);
        IdempotentCall guarded = create("k");
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
        IdempotentCall guarded = create("k");
        Await.until("the doubt is known", guarded::isInDoubt);
        var all = new HumanReviewStoreWriteCommand.OpenReviewFilter(
                1,
                HumanReviewStoreWriteCommand.ReviewKind.DOUBT,
                null,
                null,
                HumanReviewStoreWriteCommand.ReviewCursor.FRONT,
                10);
        Await.until("it is asked", () -> !inbox(all).isEmpty());
        HumanReviewStoreWriteCommand.ReviewRow row = inbox(all).getFirst();
        var decisionRequest =
                new HumanReviewDecisionRecorder.DecisionRequest("happened", StrictJsonCodec.parse("17"), 1);
        RunHandle.RunChange change = Objects.requireNonNull(semel.reviews()
                .decisionChange(
                        row, decisionRequest, new HumanReviewDecisionRecorder.DecidedBy("bob", "it is in the list")));
        assertTrue(HumanReviewDecisionRecorder.isApplied(semel.changeOrNull(change.edit())));
        semel.reviews().wakeAfter(change);
        assertEquals(17, once("k", done::incrementAndGet));
        assertEquals(0, done.get());
        assertEquals(List.of(), inbox(all));
    }

    private List<HumanReviewStoreWriteCommand.ReviewRow> inbox(HumanReviewStoreWriteCommand.OpenReviewFilter filter) {
        return Objects.requireNonNull(semel.view(reads -> reads.reviews().open(filter)))
                .found();
    }

    @Test
    void after_a_user_decides_not_happened_the_next_call_runs_it() {
        dieHalfWay("k");
        IdempotentCall guarded = create("k"); // the first thing that this process hears of the operation
        Await.until("the doubt is known", guarded::isInDoubt);
        assertTrue(guarded.confirmNotDone("bob"));
        assertEquals(1, once("k", done::incrementAndGet), "at once, and without an error in between");
        assertEquals(1, once("k", done::incrementAndGet));
    }

    @Test
    void a_caller_never_gets_the_result_of_another_caller() {
        IdempotentResult<Integer> first = create("k").call(Integer.class, done::incrementAndGet);
        assertEquals(new IdempotentResult<>(1, false), first);
        assertEquals(new IdempotentResult<>(1, true), create("k").call(Integer.class, done::incrementAndGet));
        IdempotentResult<Integer> other = create("k").caller("eve").call(Integer.class, done::incrementAndGet);
        assertEquals(new IdempotentResult<>(2, false), other, "the caller is part of the key");
        KeyConflict conflict = assertThrows(
                KeyConflict.class, () -> create("k").request("other").call(Integer.class, done::incrementAndGet));
        assertEquals(List.of("request"), conflict.changedFields());
        assertEquals(
                "Operation \"create\" was called before under this key with a different request. It was not executed.",
                conflict.detail());
        assertEquals(2, done.get());
    }

    @Test
    void a_call_needs_a_caller_and_a_key_and_may_return_null() {
        IdempotentCall none = semel.idempotent("create");
        assertThrows(IllegalStateException.class, () -> none.key("k").call(Integer.class, done::incrementAndGet));
        assertThrows(IllegalStateException.class, () -> none.caller("ann").call(Integer.class, done::incrementAndGet));
        assertEquals(0, done.get());
        assertEquals(new IdempotentResult<>(null, false), create("k").call(Integer.class, () -> null));
        assertEquals(new IdempotentResult<>(null, true), create("k").call(Integer.class, () -> 1));
    }

    @Test
    void an_operation_and_a_workflow_cannot_share_a_name() {
        Workflow<String, String> flow = flow((_, in) -> in);
        assertEquals("x", start(flow).result(SOON));
        SemelException refused = assertThrows(
                SemelException.class,
                () -> semel.idempotent("flow").caller("ann").key("k").call(Integer.class, done::incrementAndGet));
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
        assertFalse(create("none").isInDoubt());
        assertFalse(create("none").confirmDone(1, "bob"));
        assertFalse(create("none").confirmNotDone("bob"));
    }

    @Test
    void an_exception_of_the_code_reaches_the_caller_and_frees_the_key() {
        IOException checked = new IOException("no space");
        CompletionException wrapped = assertThrows(
                CompletionException.class,
                () -> once("k", () -> {
                    throw checked;
                }));
        assertSame(checked, wrapped.getCause());
        IllegalArgumentException unchecked = new IllegalArgumentException();
        assertSame(
                unchecked,
                assertThrows(
                        IllegalArgumentException.class,
                        () -> once("k", () -> {
                            throw unchecked;
                        })));
        assertEquals(1, once("k", done::incrementAndGet));
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
                        JsonConversionFailed.class,
                        () -> semel.idempotent(name).caller("ann").key("k").call(Object.class, () -> {
                            done.incrementAndGet();
                            return result;
                        }));
            }
        }
        assertEquals(2, done.get());
    }
}
