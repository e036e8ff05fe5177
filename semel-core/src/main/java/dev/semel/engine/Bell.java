package dev.semel.engine;

import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** What a loop sleeps by. Whoever wants it to look now rings; a ring is kept until it is heard. */
final class Bell {
    private static final long PATIENCE_MILLIS = 10_000;

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

    /** Before looking, so that who rings from here on is heard. */
    void hear() {
        rung = false;
    }

    boolean isOver() {
        return over;
    }

    /** Until it rings, but not longer than this. */
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

    /** The loop is to end. */
    void end() {
        over = true;
        ring();
    }

    /** Ends the loop and waits for its thread. */
    void end(Thread loop) {
        end();
        try {
            loop.join(PATIENCE_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
