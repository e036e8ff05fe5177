package dev.semel.server.http.transport;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

/** Counts the requests in flight, so that a stopping server can wait for them. */
final class InFlightRequestCounter {
    private static final long POLL_INTERVAL = TimeUnit.MILLISECONDS.toNanos(5);

    private final LongAdder entered = new LongAdder();
    private final LongAdder left = new LongAdder();
    private final AtomicBoolean closing = new AtomicBoolean();

    /** Counts the request. @return whether the server still accepts requests. */
    boolean begin() {
        // Counted before the check, so that await always includes a request that was accepted.
        entered.increment();
        return !closing.get();
    }

    void end() {
        left.increment();
    }

    void close() {
        closing.set(true);
    }

    /** Waits until no request is in flight. @return false on timeout. */
    boolean await(Duration atMost) {
        long deadline = System.nanoTime() + atMost.toNanos();
        // "left" is read first: otherwise a request that begins and ends in between would hide another one.
        while (left.sum() < entered.sum()) {
            if (System.nanoTime() - deadline >= 0 || Thread.currentThread().isInterrupted()) {
                return false;
            }
            LockSupport.parkNanos(POLL_INTERVAL);
        }
        return true;
    }
}
