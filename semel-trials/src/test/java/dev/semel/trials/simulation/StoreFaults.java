package dev.semel.trials.simulation;

import dev.semel.store.StoreFailure;
import dev.semel.store.WorkflowStore;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * What goes wrong between an engine and its store, by chance and by a seed. Put it {@link #around} any store and give
 * that to an engine; the same seed and the same calls meet the same faults.
 *
 * <pre>{@code
 * Faults faults = new Faults(random, Faults.Odds.NONE.answerLost(0.05).outage(0.01, 20));
 * Store store = faults.around(SqliteStore.forTests(file, clock, ids));
 * }</pre>
 */
final class StoreFaults {
    private final ReentrantLock lock = new ReentrantLock();
    private final RandomGenerator random;
    private final FaultProbabilities odds;
    private final Deque<Fault> commanded = new ArrayDeque<>();
    private final Map<Fault, Long> met = new EnumMap<>(Fault.class);
    private Runnable onDelay = () -> {};
    private boolean on = true;
    private boolean down;
    private int outageLeft;

    /** What a batch can meet. */
    enum Fault {
        /** Nothing is applied, and the store says so. */
        DOWN,
        /** Applied and durable, but the answer is lost. */
        ANSWER_LOST,
        /** Never arrived, which looks the same. */
        COMMIT_LOST,
        /** Another transaction was in the way; nothing is applied. */
        LOCKED
    }

    /**
     * How likely each fault is for one batch, between 0 and 1.
     *
     * @param outage the store goes away with this batch, for readers and leases too
     * @param outageCalls for how many calls at most, counting every kind; the number is drawn
     * @param delay the hook of {@link #onDelay} runs before the batch is applied
     */
    record FaultProbabilities(
            double down,
            double answerLost,
            double commitLost,
            double locked,
            double outage,
            int outageCalls,
            double delay) {
        static final FaultProbabilities NONE = new FaultProbabilities(0, 0, 0, 0, 0, 1, 0);

        FaultProbabilities {
            for (double one : new double[] {down, answerLost, commitLost, locked, outage, delay}) {
                if (!(one >= 0 && one <= 1)) {
                    throw new IllegalArgumentException("the odds of a fault are between 0 and 1, not " + one);
                }
            }
            if (down + answerLost + commitLost + locked + outage > 1) {
                throw new IllegalArgumentException("a batch meets one fault: all odds but delay add up to 1 at most");
            }
            if (outageCalls < 1) {
                throw new IllegalArgumentException("an outage lasts one call at least, not " + outageCalls);
            }
        }

        FaultProbabilities down(double odds) {
            return new FaultProbabilities(odds, answerLost, commitLost, locked, outage, outageCalls, delay);
        }

        FaultProbabilities answerLost(double odds) {
            return new FaultProbabilities(down, odds, commitLost, locked, outage, outageCalls, delay);
        }

        FaultProbabilities commitLost(double odds) {
            return new FaultProbabilities(down, answerLost, odds, locked, outage, outageCalls, delay);
        }

        FaultProbabilities locked(double odds) {
            return new FaultProbabilities(down, answerLost, commitLost, odds, outage, outageCalls, delay);
        }

        FaultProbabilities outage(double odds, int calls) {
            return new FaultProbabilities(down, answerLost, commitLost, locked, odds, calls, delay);
        }

        FaultProbabilities delay(double odds) {
            return new FaultProbabilities(down, answerLost, commitLost, locked, outage, outageCalls, odds);
        }
    }

    StoreFaults(RandomGenerator random, FaultProbabilities odds) {
        this.random = random;
        this.odds = odds;
    }

    /** The same store with these faults before it. Several stores, or several engines on one, may share the faults. */
    WorkflowStore around(WorkflowStore real) {
        return new FaultyStore(real, this);
    }

    /** From now on nothing goes wrong, whatever was commanded. What a simulation does before it looks at the end. */
    void off() {
        change(() -> {
            on = false;
            outageLeft = 0;
        });
    }

    void on() {
        change(() -> on = true);
    }

    /** Away until reported otherwise, for every kind of call. */
    void down(boolean away) {
        change(() -> down = away);
    }

    /** The next batches meet these, in order and whatever the odds. */
    void next(Fault... faults) {
        change(() -> commanded.addAll(List.of(faults)));
    }

    /** Runs on the thread of the lane, before its batch is applied: move a clock, let another lane go first. */
    void onDelay(Runnable webhook) {
        change(() -> onDelay = webhook);
    }

    /** How many calls met this fault so far; a simulation that met none has shown nothing. */
    long met(Fault fault) {
        lock.lock();
        try {
            return met.getOrDefault(fault, 0L);
        } finally {
            lock.unlock();
        }
    }

    private void change(Runnable change) {
        lock.lock();
        try {
            change.run();
        } finally {
            lock.unlock();
        }
    }

    /** For a reader or a lease: only an outage stops them. */
    void call() {
        lock.lock();
        try {
            if (away()) {
                count(Fault.DOWN);
                throw failure();
            }
        } finally {
            lock.unlock();
        }
    }

    /** What the next batch meets; null for nothing. The hook has run when this returns. */
    @Nullable
    Fault batch() {
        Runnable webhook = null;
        Fault fault;
        lock.lock();
        try {
            // Always two draws, so that a change of one of the odds leaves the rest of a history as it was.
            double chance = random.nextDouble();
            double wait = random.nextDouble();
            if (on && wait < odds.delay()) {
                webhook = onDelay;
            }
            fault = away() ? Fault.DOWN : !on ? null : !commanded.isEmpty() ? commanded.poll() : drawn(chance);
            if (fault != null) {
                count(fault);
            }
        } finally {
            lock.unlock();
        }
        if (webhook != null) {
            webhook.run();
        }
        return fault;
    }

    private @Nullable Fault drawn(double chance) {
        double left = chance - odds.outage();
        if (left < 0) {
            outageLeft = random.nextInt(odds.outageCalls());
            return Fault.DOWN;
        }
        for (Fault fault : Fault.values()) {
            left -= switch (fault) {
                case DOWN -> odds.down();
                case ANSWER_LOST -> odds.answerLost();
                case COMMIT_LOST -> odds.commitLost();
                case LOCKED -> odds.locked();
            };
            if (left < 0) {
                return fault;
            }
        }
        return null;
    }

    private boolean away() {
        if (!on) {
            return false;
        }
        if (outageLeft > 0) {
            outageLeft--;
            return true;
        }
        return down;
    }

    private void count(Fault fault) {
        met.merge(fault, 1L, Long::sum);
    }

    static StoreFailure failure() {
        return new StoreFailure.Unreachable("the store is away on command", new IllegalStateException("fault"));
    }
}
