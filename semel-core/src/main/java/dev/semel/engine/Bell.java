package dev.semel.engine;

import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** Wakes a sleeping background loop, or stops it. A wake-up request persists until the loop clears it. */
final class Bell {
    private static final long STOP_TIMEOUT_MILLIS = 10_000;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition rang = lock.newCondition();
    private volatile boolean rung;
    private volatile boolean over;

    void ring() {
        lock.lock();
        try {
            rung = true;
            rang.signalAll();
        } finally {
            lock.unlock();
        }
    }

    boolean isRung() {
        return rung;
    }

    /** Clears the request. Loops call it before they look for work, so that no later request is lost. */
    void hear() {
        rung = false;
    }

    boolean isOver() {
        return over;
    }

    /** Waits for a wake-up request, at most this long. */
    void await(long nanos) {
        lock.lock();
        try {
            long left = nanos;
            while (!over && !rung && left > 0) {
                left = rang.awaitNanos(left);
            }
        } catch (InterruptedException e) {
            over = true;
        } finally {
            lock.unlock();
        }
    }

    /** Asks the loop to stop. */
    void end() {
        over = true;
        ring();
    }

    /** Stops the loop and waits for its thread. */
    void end(Thread loop) {
        end();
        try {
            loop.join(STOP_TIMEOUT_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
