package dev.semel.trials.simulation;

import dev.semel.effect.EffectLedger;
import dev.semel.store.CommitBatch;
import dev.semel.store.StoreFailure;
import dev.semel.store.StoreQueries;
import dev.semel.store.StoreWrite;
import dev.semel.store.WorkerLeases;
import dev.semel.store.WorkflowStore;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** The store as one worker sees it: out of reach while the worker is paused or dead. Looking changes nothing, so all may. */
final class WorkerStore implements WorkflowStore {
    private final WorkflowStore shared;
    private final WorkerSwitch life;
    private final PlantedBug bug;
    private final AtomicLong activity;
    private volatile long lease;
    private volatile long ticks;
    private volatile boolean lapsing;

    WorkerStore(WorkflowStore shared, WorkerSwitch life, PlantedBug bug, AtomicLong activity) {
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
    public WorkflowStore.BatchWriter openTxLane() {
        return shared.openTxLane();
    }

    @Override
    public StoreQueries openQueries() {
        return shared.openQueries();
    }

    @Override
    public WorkflowStore.Durability durability() {
        return shared.durability();
    }

    @Override
    public void close() {}

    @Override
    public WorkflowStore.BatchWriter openLane() {
        WorkflowStore.BatchWriter real = shared.openLane();
        return new WorkflowStore.BatchWriter() {
            @Override
            public List<Object> apply(CommitBatch batch) {
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
    private static List<Object> unfenced(WorkflowStore.BatchWriter real, CommitBatch batch) {
        List<Object> outcomes;
        try {
            outcomes = new ArrayList<>(real.apply(batch));
        } catch (StoreFailure.Fenced _) {
            outcomes = new ArrayList<>(real.apply(new CommitBatch(null, batch.writes())));
        }
        for (int i = 0; i < outcomes.size(); i++) {
            if (outcomes.get(i) instanceof StoreWrite.OwnerWriteResult owned && !owned.recorded()) {
                outcomes.set(
                        i,
                        new StoreWrite.OwnerWriteResult(
                                true, false, granted(batch.writes().get(i))));
            }
        }
        return outcomes;
    }

    private static List<EffectLedger.LedgerDecision> granted(StoreWrite<?> write) {
        List<EffectLedger.LedgerDecision> verdicts = new ArrayList<>();
        if (write instanceof StoreWrite.AppendJournal append) {
            append.ops().forEach(_ -> verdicts.add(new EffectLedger.LedgerDecision.SendGranted(1, 1, 0, false)));
        }
        return verdicts;
    }

    /** Settles nothing in the ledger and says it did. */
    private static List<Object> forgetful(WorkflowStore.BatchWriter real, CommitBatch batch) {
        List<StoreWrite<?>> writes = new ArrayList<>();
        for (StoreWrite<?> write : batch.writes()) {
            writes.add(
                    write instanceof StoreWrite.AppendJournal append
                                    && append.suspension() == null
                                    && settlesOnly(append)
                            ? new StoreWrite.AppendJournal(
                                    append.by(), append.seq(), "", append.state(), List.of(), null)
                            : write);
        }
        return real.apply(new CommitBatch(batch.leaseSlot(), writes));
    }

    private static boolean settlesOnly(StoreWrite.AppendJournal append) {
        return append.ops().stream().noneMatch(EffectLedger.ReserveSend.class::isInstance);
    }

    @Override
    public WorkerLeases openLeases() {
        WorkerLeases real = shared.openLeases();
        return new WorkerLeases() {
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
                    throw new StoreFailure.Unreachable("the lease is not renewed", new IllegalStateException("fault"));
                }
                return real.renew(kept, ttlMicros) || bug == PlantedBug.FENCE_IGNORED;
            }

            @Override
            public StoreStatus heartbeat(long kept, WorkerReport workerReport) {
                life.passOrDown();
                return real.heartbeat(kept, workerReport);
            }

            @Override
            public int takeOverExpired(long own) {
                life.passOrDown();
                ticked();
                return real.takeOverExpired(own);
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
