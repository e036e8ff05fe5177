package dev.semel.trials.simulation;

import dev.semel.effect.Ledger;
import dev.semel.store.Batch;
import dev.semel.store.Durability;
import dev.semel.store.Lane;
import dev.semel.store.Leases;
import dev.semel.store.Reads;
import dev.semel.store.Store;
import dev.semel.store.StoreFailure;
import dev.semel.store.Write;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** The store as one worker sees it: out of reach while the worker is paused or dead. Looking changes nothing, so all may. */
final class WorkerStore implements Store {
    private final Store shared;
    private final Switch life;
    private final Bug bug;
    private final AtomicLong activity;
    private volatile long lease;
    private volatile long ticks;
    private volatile boolean lapsing;

    WorkerStore(Store shared, Switch life, Bug bug, AtomicLong activity) {
        this.shared = shared;
        this.life = life;
        this.bug = bug;
        this.activity = activity;
    }

    /** The lease that it started last. */
    long lease() {
        return lease;
    }

    /** Its lease cannot be renewed for a while, though everything else works. */
    void lapsing(boolean value) {
        lapsing = value;
    }

    /** How often it tried to keep its lease. */
    long ticks() {
        return ticks;
    }

    @Override
    public void migrate() {
        shared.migrate();
    }

    /** As on PostgreSQL: the answer to one batch may come after the next batch was applied. */
    @Override
    public int lanes() {
        return 2;
    }

    @Override
    public int txLanes() {
        return shared.txLanes();
    }

    @Override
    public Lane openTxLane() {
        return shared.openTxLane();
    }

    @Override
    public Reads openReads() {
        return shared.openReads();
    }

    @Override
    public Durability durability() {
        return shared.durability();
    }

    @Override
    public void close() {}

    @Override
    public Lane openLane() {
        Lane real = shared.openLane();
        return new Lane() {
            @Override
            public List<Object> apply(Batch batch) {
                life.pass();
                activity.incrementAndGet();
                List<Object> outcomes = switch (bug) {
                    case FENCE_IGNORED -> unfenced(real, batch);
                    case RECORD_LOST -> forgetful(real, batch);
                    case NONE, KEY_PER_ATTEMPT, RETRY_WITHOUT_KEY, SENT_AGAIN -> real.apply(batch);
                };
                life.pass(); // a worker may stand still between the commit and its answer, too
                return outcomes;
            }

            @Override
            public void close() {
                real.close();
            }
        };
    }

    /** What a worker would hear from a store without a fence: that all it wrote counts. */
    private static List<Object> unfenced(Lane real, Batch batch) {
        List<Object> outcomes;
        try {
            outcomes = new ArrayList<>(real.apply(batch));
        } catch (StoreFailure.Fenced _) {
            outcomes = new ArrayList<>(real.apply(new Batch(null, batch.writes())));
        }
        for (int i = 0; i < outcomes.size(); i++) {
            if (outcomes.get(i) instanceof Write.Owned owned && !owned.recorded()) {
                outcomes.set(
                        i, new Write.Owned(true, false, granted(batch.writes().get(i))));
            }
        }
        return outcomes;
    }

    private static List<Ledger.Verdict> granted(Write<?> write) {
        List<Ledger.Verdict> verdicts = new ArrayList<>();
        if (write instanceof Write.Append append) {
            append.ops().forEach(_ -> verdicts.add(new Ledger.Verdict.Granted(1, 1, 0)));
        }
        return verdicts;
    }

    /** Settles nothing in the ledger and says it did. */
    private static List<Object> forgetful(Lane real, Batch batch) {
        List<Write<?>> writes = new ArrayList<>();
        for (Write<?> write : batch.writes()) {
            writes.add(
                    write instanceof Write.Append append && append.rest() == null && settlesOnly(append)
                            ? new Write.Append(append.by(), append.seq(), "", append.state(), List.of(), null)
                            : write);
        }
        return real.apply(new Batch(batch.hold(), writes));
    }

    private static boolean settlesOnly(Write.Append append) {
        return append.ops().stream().noneMatch(Ledger.Reserve.class::isInstance);
    }

    @Override
    public Leases openLeases() {
        Leases real = shared.openLeases();
        return new Leases() {
            @Override
            public void start(long wanted, String worker, int slots, long ttlMicros) {
                life.passOrDown();
                real.start(wanted, worker, slots, ttlMicros);
                lease = wanted;
            }

            @Override
            public boolean renew(long kept, long ttlMicros) {
                life.passOrDown();
                ticked();
                if (lapsing) {
                    throw new StoreFailure.Down("the lease is not renewed", new IllegalStateException("fault"));
                }
                return real.renew(kept, ttlMicros) || bug == Bug.FENCE_IGNORED;
            }

            @Override
            public Pulse pulse(long kept, Told told) {
                life.passOrDown();
                return real.pulse(kept, told);
            }

            @Override
            public int takeOver() {
                life.passOrDown();
                ticked();
                return real.takeOver();
            }

            @Override
            public void end(long over) {
                life.passOrDown();
                real.end(over);
            }

            @Override
            public void close() {
                real.close();
            }
        };
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // only the thread that keeps the lease counts here
    private void ticked() {
        activity.incrementAndGet();
        ticks++;
    }
}
