package dev.semel.engine.step;

import dev.semel.store.StoreFailure;
import dev.semel.store.StoreWrite;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/** A waiting branch stays in memory for a moment, and as long as another branch works. */
public final class WaitingBranchesRunSuspender {
    private static final long MOMENT_MICROS = 1_000_000;
    private static final int MOMENTS_BETWEEN_LOOKS = 5;

    private final LongSupplier storeClock;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition change = lock.newCondition();
    private final List<Waiter> waiting = new ArrayList<>();
    private int working = 1;
    private long wakeCount;
    private boolean parked;

    WaitingBranchesRunSuspender(LongSupplier storeClock) {
        this.storeClock = storeClock;
    }

    /**
     * @param due by the store clock; {@link StoreWrite.Suspension#NEVER} if only a wake-up ends it
     * @param description for display, as JSON
     * @param forDoubt it waits for a user to decide the outcome of an effect
     */
    public record BranchWait(long due, String description, boolean forSignal, boolean forDoubt) {}

    /** @param seen number of wake-ups when it last looked */
    private record Waiter(BranchWait wanted, long seen) {}

    /** Wakes all waiting branches to look again. Returns false if the run is already being parked. */
    public boolean wake() {
        return wake(() -> {});
    }

    /** @param news the change they wake up to, applied under the lock, so that no branch is parked without it */
    public boolean wake(Runnable news) {
        return locked(() -> {
            news.run();
            wakeCount++;
            change.signalAll();
            return !parked;
        });
    }

    private <T> T locked(Supplier<T> work) {
        lock.lock();
        try {
            return work.get();
        } finally {
            lock.unlock();
        }
    }

    /** Parks all waiting branches at once, because this worker stops. */
    public void park() {
        lock.lock();
        try {
            parked = true;
            change.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Number of wake-ups so far; read before a look, so that a later wake-up is not missed. */
    public long wakeCount() {
        return locked(() -> wakeCount);
    }

    /** Returns when the wait is due or was woken since {@code seen}; throws if the run is parked. */
    void await(BranchWait wait, long seen) {
        Waiter waiter = new Waiter(wait, seen);
        lock.lock();
        try {
            waiting.add(waiter);
            working--;
            // Another worker may have received a signal without notifying this one: poll now and then.
            int patience = wait.forSignal() || wait.forDoubt() ? MOMENTS_BETWEEN_LOOKS : Integer.MAX_VALUE;
            while (wakeCount == seen && !parked && patience-- > 0) {
                long left = left(wait.due());
                if (left <= 0) {
                    break;
                }
                if (working == 0 && countUnseen() == 0 && soonest() > MOMENT_MICROS) {
                    parked = true;
                    change.signalAll();
                    break;
                }
                pause(Math.min(left, MOMENT_MICROS));
            }
            if (parked) {
                throw new RunExecutionAbort.Parked(); // it stays in the list, which the parked run stores
            }
            waiting.remove(waiter);
            working++;
        } finally {
            lock.unlock();
        }
    }

    private void pause(long micros) {
        try {
            change.awaitNanos(TimeUnit.MICROSECONDS.toNanos(micros));
        } catch (InterruptedException _) {
            // User code interrupted the thread. It must not decide how long a run waits; no journal would show it.
        }
    }

    /** Number of branches that were woken and have not looked yet. */
    private long countUnseen() {
        return waiting.stream().filter(one -> one.seen() != wakeCount).count();
    }

    private long soonest() {
        long due = waiting.stream().mapToLong(one -> one.wanted().due()).min().orElse(StoreWrite.Suspension.NEVER);
        return left(due);
    }

    /** Microseconds until then; a short time if the store is unavailable, so that it is queried again. */
    private long left(long due) {
        if (due == StoreWrite.Suspension.NEVER) {
            return Long.MAX_VALUE;
        }
        try {
            return due - storeClock.getAsLong();
        } catch (StoreFailure e) {
            return MOMENT_MICROS;
        }
    }

    /** Starts branches; the branch that waits for them does not count as working. */
    public void fork(int branches) {
        change(branches - 1);
    }

    /** A branch has ended or was parked. */
    public void branchEnded() {
        change(-1);
    }

    /** The branch that waited for the others continues. */
    public void branchesJoined() {
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

    /** Whether no branch was working when the run was parked, and none has something to look at. */
    public boolean areAllWaiting() {
        return locked(() -> working <= 0 && countUnseen() == 0);
    }

    /** When the first branch is due, if all of them wait and none was woken; else empty. */
    public OptionalLong idleUntil() {
        return locked(() -> {
            long now = storeClock.getAsLong();
            boolean quiet = !parked
                    && working <= 0
                    && waiting.stream()
                            .allMatch(one ->
                                    one.seen() == wakeCount && one.wanted().due() > now);
            return quiet ? waiting.stream().mapToLong(one -> one.wanted().due()).min() : OptionalLong.empty();
        });
    }

    /** What all branches waited for when they were parked. */
    public List<BranchWait> currentWaits() {
        return locked(() -> waiting.stream().map(Waiter::wanted).toList());
    }
}
