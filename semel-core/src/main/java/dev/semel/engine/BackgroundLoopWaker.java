package dev.semel.engine;

import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** Wakes a sleeping background loop, or stops it. A wake-up request persists until the loop clears it. */
final class BackgroundLoopWaker {
    private static final long STOP_TIMEOUT_MILLIS = 10_000;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private volatile boolean requested;
    private volatile boolean stopped;

    void wake() {
        lock.lock();
        try {
            requested = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    boolean isWakeRequested() {
        return requested;
    }

    /** Clears the request. Loops call it before they look for work, so that no later request is lost. */
    void clear() {
        requested = false;
    }

    boolean isStopped() {
        return stopped;
    }

    void await(long nanos) {
        lock.lock();
        try {
            long left = nanos;
            while (!stopped && !requested && left > 0) {
                left = changed.awaitNanos(left);
            }
        } catch (InterruptedException e) {
            stopped = true;
        } finally {
            lock.unlock();
        }
    }

    void stop() {
        stopped = true;
        wake();
    }

    /** Stops the loop and waits for its thread. */
    void stop(Thread loop) {
        stop(loop, STOP_TIMEOUT_MILLIS);
    }

    void stop(Thread loop, long timeoutMillis) {
        stop();
        try {
            loop.join(timeoutMillis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
