package dev.semel.server.http;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

/** Counts the requests in work, so that a stopping server knows when it may go. */
final class InFlight {
    private static final long LOOK_EVERY = TimeUnit.MILLISECONDS.toNanos(5);

    private final LongAdder entered = new LongAdder();
    private final LongAdder left = new LongAdder();
    private final AtomicBoolean closing = new AtomicBoolean();

    /** Counts the request, and says whether the server is still open. */
    boolean enter() {
        // Counted before looking: a request that saw an open door is always seen by the one who waits.
        entered.increment();
        return !closing.get();
    }

    void leave() {
        left.increment();
    }

    void close() {
        closing.set(true);
    }

    /** Waits until none is left. @return false when the time was up first. */
    boolean await(Duration atMost) {
        long deadline = System.nanoTime() + atMost.toNanos();
        // Left is read first: read the other way round, one that enters and leaves in between would hide another.
        while (left.sum() < entered.sum()) {
            if (System.nanoTime() - deadline >= 0 || Thread.currentThread().isInterrupted()) {
                return false;
            }
            LockSupport.parkNanos(LOOK_EVERY);
        }
        return true;
    }
}
