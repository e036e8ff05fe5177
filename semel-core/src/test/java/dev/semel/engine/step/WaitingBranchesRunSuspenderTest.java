package dev.semel.engine.step;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.store.Await;
import dev.semel.store.StoreWrite;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** A run is put away when all of its branches wait, and not when one of them is only slow to get up. */
final class WaitingBranchesRunSuspenderTest {
    private static final WaitingBranchesRunSuspender.BranchWait FOR_EVER =
            new WaitingBranchesRunSuspender.BranchWait(StoreWrite.Suspension.NEVER, "{}", true, false);

    /** Called by the waits while they hold their lock: nobody else gets in between what it does. */
    private volatile Runnable inside = () -> {};

    private final WaitingBranchesRunSuspender waits = new WaitingBranchesRunSuspender(() -> {
        inside.run();
        return 0L;
    });

    private CompletableFuture<Void> waiting(long seen) {
        CompletableFuture<Void> up = new CompletableFuture<>();
        Thread.ofVirtual().start(() -> {
            try {
                waits.await(FOR_EVER, seen);
                up.complete(null);
            } catch (RunExecutionAbort e) {
                up.completeExceptionally(e);
            }
        });
        return up;
    }

    @Test
    void a_woken_branch_is_not_suspended_by_another_that_starts_to_wait() {
        waits.fork(2); // two branches work; the one that waits for them does not
        CompletableFuture<Void> first = waiting(0);
        Await.until("the first waits", () -> waits.currentWaits().size() == 1);
        inside = () -> {
            inside = () -> {};
            assertTrue(waits.wake());
            var unused = first.thenRun(waits::wake); // so that the second does not wait for ever
            waits.await(FOR_EVER, waits.wakeCount());
        };
        assertEquals(OptionalLong.empty(), waits.idleUntil());
        assertTrue(first.isDone());
    }

    @Test
    void a_run_of_a_stopping_worker_is_due_immediately_if_something_arrived() {
        waits.fork(2);
        CompletableFuture<Void> first = waiting(0);
        Await.until("the first waits", () -> waits.currentWaits().size() == 1);
        inside = () -> {
            inside = () -> {};
            assertTrue(waits.wake());
            waits.park();
        };
        var unused = waits.idleUntil();
        assertThrows(RuntimeException.class, first::join);
        waits.branchEnded();
        assertFalse(waits.areAllWaiting(), "it has not seen what came");
    }
}
