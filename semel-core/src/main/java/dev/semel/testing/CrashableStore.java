package dev.semel.testing;

import dev.semel.store.CommitBatch;
import dev.semel.store.StoreQueries;
import dev.semel.store.WorkerLeases;
import dev.semel.store.WorkflowStore;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * Wraps the shared store of a test for one engine and blocks its writes after the engine's simulated crash.
 * Leases do not expire by the manual clock, because no time passes for a process when a test advances it. They end when
 * their engine crashes.
 */
final class CrashableStore implements WorkflowStore {
    private static final long FOR_EVER = TimeUnit.DAYS.toMicros(36_500);

    private final WorkflowStore shared;
    private final SimulatedEngineCrashState life;
    private final Set<Long> leases = ConcurrentHashMap.newKeySet();

    CrashableStore(WorkflowStore shared, SimulatedEngineCrashState life) {
        this.shared = shared;
        this.life = life;
    }

    /** Does what other workers do when the lease of a dead process has expired, without waiting. */
    void takeOver() {
        try (WorkerLeases all = shared.openLeases()) {
            leases.forEach(lease -> all.renew(lease, -1));
            all.takeOverExpired(0);
        }
    }

    @Override
    public void migrate() {
        shared.migrate();
    }

    @Override
    public List<Thread> threads() {
        return shared.threads();
    }

    @Override
    public int lanes() {
        return shared.lanes();
    }

    @Override
    public WorkflowStore.BatchWriter openLane() {
        return crashable(shared.openLane());
    }

    @Override
    public int txLanes() {
        return shared.txLanes();
    }

    @Override
    public WorkflowStore.BatchWriter openTxLane() {
        return crashable(shared.openTxLane());
    }

    private WorkflowStore.BatchWriter crashable(WorkflowStore.BatchWriter lane) {
        return new WorkflowStore.BatchWriter() {
            @Override
            public List<Object> apply(CommitBatch batch) {
                life.checkAlive();
                return lane.apply(batch);
            }

            @Override
            public void close() {
                lane.close();
            }
        };
    }

    /** Reads change nothing, so a crashed engine may still read. */
    @Override
    public StoreQueries openQueries() {
        return shared.openQueries();
    }

    @Override
    public WorkerLeases openLeases() {
        WorkerLeases real = shared.openLeases();
        return new WorkerLeases() {
            @Override
            public void start(long lease, String worker, int slots, long ttlMicros) {
                if (!life.hasCrashed()) {
                    leases.add(lease);
                    real.start(lease, worker, slots, FOR_EVER);
                }
            }

            @Override
            public boolean renew(long lease, long ttlMicros) {
                return life.hasCrashed() || real.renew(lease, FOR_EVER);
            }

            @Override
            public StoreStatus heartbeat(long lease, WorkerReport workerReport) {
                return life.hasCrashed()
                        ? new StoreStatus(0, shared.durability(), null)
                        : real.heartbeat(lease, workerReport);
            }

            @Override
            public int takeOverExpired(long own) {
                return 0;
            }

            @Override
            public void end(long lease) {
                if (!life.hasCrashed()) {
                    real.end(lease);
                }
            }

            @Override
            public void close() {
                real.close();
            }
        };
    }

    @Override
    public WorkflowStore.Durability durability() {
        return shared.durability();
    }

    /** Keeps the shared store open for the next engine. */
    @Override
    public void close() {}
}
