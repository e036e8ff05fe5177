package dev.semel.engine;

import dev.semel.store.StoreFailure;
import dev.semel.store.Write;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

/**
 * The branches of one execution and what they wait for. A branch that waits stays in memory for a moment, and for as
 * long as another branch works; when all of them wait for longer, the run is put away.
 */
final class Waits {
    private static final long MOMENT_MICROS = 1_000_000;
    private static final int MOMENTS_BETWEEN_LOOKS = 5;

    private final LongSupplier storeClock;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition change = lock.newCondition();
    private final List<Waiter> waiting = new ArrayList<>();
    private int working = 1;
    private long wakes;
    private boolean away;

    Waits(LongSupplier storeClock) {
        this.storeClock = storeClock;
    }

    /**
     * What a branch waits for.
     *
     * @param due by the store's clock; {@link Write.Rest#NEVER} where only a wake-up counts
     * @param what for people, as JSON
     * @param signals it waits for a signal
     * @param doubt it waits for a person who says how an effect ended
     */
    record Wait(long due, String what, boolean signals, boolean doubt) {}

    /** @param seen how often it had been woken when it last looked */
    private record Waiter(Wait wanted, long seen) {}

    /** Wakes whoever waits, to look again. False: too late, it is being put away. */
    boolean wake() {
        return wake(() -> {});
    }

    /** @param news what they wake up to: no branch can know of it and be put away with one that was not woken */
    boolean wake(Runnable news) {
        lock.lock();
        try {
            news.run();
            wakes++;
            change.signalAll();
            return !away;
        } finally {
            lock.unlock();
        }
    }

    /** Everything that waits is put away at once: this worker stops. */
    void putAway() {
        lock.lock();
        try {
            away = true;
            change.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** How often it was woken so far; taken before a look, so that a wake-up after the look is not missed. */
    long wakes() {
        lock.lock();
        try {
            return wakes;
        } finally {
            lock.unlock();
        }
    }

    /** Returns when the time has come or somebody woke it since {@code seen}; throws when the run is put away. */
    void await(Wait wait, long seen) {
        Waiter waiter = new Waiter(wait, seen);
        lock.lock();
        try {
            waiting.add(waiter);
            working--;
            // A message that came to another worker may not have been told here: now and then one looks.
            int patience = wait.signals() || wait.doubt() ? MOMENTS_BETWEEN_LOOKS : Integer.MAX_VALUE;
            while (wakes == seen && !away && patience-- > 0) {
                long left = left(wait.due());
                if (left <= 0) {
                    break;
                }
                if (working == 0 && unseen() == 0 && soonest() > MOMENT_MICROS) {
                    away = true;
                    change.signalAll();
                    break;
                }
                rest(Math.min(left, MOMENT_MICROS));
            }
            if (away) {
                throw new Unwind.Parked(); // stays among the waiting, for the rest that is written
            }
            waiting.remove(waiter);
            working++;
        } finally {
            lock.unlock();
        }
    }

    private void rest(long micros) {
        try {
            change.awaitNanos(TimeUnit.MICROSECONDS.toNanos(micros));
        } catch (InterruptedException _) {
            // By code of the user, which has no say in how long a run waits: after a restart nobody would know of it.
        }
    }

    /** Branches that were woken and have not come to look: they wait no more, though they are not up yet. */
    private long unseen() {
        return waiting.stream().filter(one -> one.seen() != wakes).count();
    }

    private long soonest() {
        long due = waiting.stream().mapToLong(one -> one.wanted().due()).min().orElse(Write.Rest.NEVER);
        return left(due);
    }

    /** Microseconds until then; a moment where the store does not tell the time, so that it is asked again. */
    private long left(long due) {
        if (due == Write.Rest.NEVER) {
            return Long.MAX_VALUE;
        }
        try {
            return due - storeClock.getAsLong();
        } catch (StoreFailure e) {
            return MOMENT_MICROS;
        }
    }

    /** So many branches begin; the one that waits for them does not work meanwhile. */
    void fork(int branches) {
        change(branches - 1);
    }

    /** A branch has ended or was put away. */
    void branchEnded() {
        change(-1);
    }

    /** The branch that waited for the others goes on. */
    void joined() {
        change(1);
    }

    private void change(int by) {
        lock.lock();
        try {
            working += by;
            change.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Whether no branch was at work when the run was put away, and none has something to look at. */
    boolean allWait() {
        lock.lock();
        try {
            return working <= 0 && unseen() == 0;
        } finally {
            lock.unlock();
        }
    }

    /** When the first branch is due, as long as all of them wait and nothing has come for any; else empty. */
    OptionalLong quietUntil() {
        lock.lock();
        try {
            long now = storeClock.getAsLong();
            boolean quiet = !away
                    && working <= 0
                    && waiting.stream()
                            .allMatch(one -> one.seen() == wakes && one.wanted().due() > now);
            return quiet ? waiting.stream().mapToLong(one -> one.wanted().due()).min() : OptionalLong.empty();
        } finally {
            lock.unlock();
        }
    }

    /** What all branches wait for, when they were put away. */
    List<Wait> all() {
        lock.lock();
        try {
            return waiting.stream().map(Waiter::wanted).toList();
        } finally {
            lock.unlock();
        }
    }
}
