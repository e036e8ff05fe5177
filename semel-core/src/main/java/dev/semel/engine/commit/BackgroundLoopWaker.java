package dev.semel.engine.commit;

import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** Wakes a sleeping background loop, or stops it. A wake-up request persists until the loop clears it. */
public final class BackgroundLoopWaker {
    private static final long STOP_TIMEOUT_MILLIS = 10_000;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private volatile boolean requested;
    private volatile boolean stopped;

    public void wake() {
        lock.lock();
        try {
            requested = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    public boolean isWakeRequested() {
        return requested;
    }

    /** Clears the request. Loops call it before they look for work, so that no later request is lost. */
    public void clear() {
        requested = false;
    }

    public boolean isStopped() {
        return stopped;
    }

    public void await(long nanos) {
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

    public void stop() {
        stopped = true;
        wake();
    }

    /** Stops the loop and waits for its thread. */
    public void stop(Thread loop) {
        stop(loop, STOP_TIMEOUT_MILLIS);
    }

    public void stop(Thread loop, long timeoutMillis) {
        stop();
        try {
            loop.join(timeoutMillis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
