package dev.semel.trials.simulation;

import dev.semel.engine.ClockAndRandomSource;
import dev.semel.store.StoreFailure;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** Whether a worker is alive: a paused one stands still wherever it would write or send, a dead one for ever. */
final class WorkerSwitch {
    private enum State {
        ALIVE,
        PAUSED,
        DEAD
    }

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition change = lock.newCondition();
    private final Set<Thread> sending = ConcurrentHashMap.newKeySet();
    private State state = State.ALIVE;

    void pause() {
        to(State.PAUSED);
    }

    void resume() {
        to(State.ALIVE);
    }

    void kill() {
        to(State.DEAD);
    }

    private void to(State next) {
        lock.lock();
        try {
            if (state != State.DEAD) {
                state = next;
            }
            change.signalAll();
        } finally {
            lock.unlock();
        }
    }

    boolean isAlive() {
        lock.lock();
        try {
            return state == State.ALIVE;
        } finally {
            lock.unlock();
        }
    }

    boolean isDead() {
        lock.lock();
        try {
            return state == State.DEAD;
        } finally {
            lock.unlock();
        }
    }

    /** Returns when the worker may go on; for the dead, never. */
    void pass() {
        lock.lock();
        try {
            while (state == State.PAUSED) {
                change.awaitUninterruptibly();
            }
            if (state == State.DEAD) {
                throw new ClockAndRandomSource.SimulatedCrash();
            }
        } finally {
            lock.unlock();
        }
    }

    /** The same where the engine expects failures of the store and nothing else. */
    void passOrDown() {
        try {
            pass();
        } catch (ClockAndRandomSource.SimulatedCrash dead) {
            throw new StoreFailure.Unreachable("this worker is dead", dead);
        }
    }

    /**
     * The engine looks at its lease right after the intent is on record, and then sends. From here until the request
     * arrives it counts as on the wire, and time does not move.
     */
    void point(String label) {
        pass();
        if (label.equals("effect-reserved")) {
            sending.add(Thread.currentThread());
        }
    }

    void arrived() {
        sending.remove(Thread.currentThread());
    }

    /** Whether a request is on the wire; a thread that ended before it sent has nothing there. */
    boolean onTheWire() {
        sending.removeIf(thread -> !thread.isAlive());
        return !sending.isEmpty();
    }
}
