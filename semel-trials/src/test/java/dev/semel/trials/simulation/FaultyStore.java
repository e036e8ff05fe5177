package dev.semel.trials.simulation;

import dev.semel.store.CommitBatch;
import dev.semel.store.StoreFailure;
import dev.semel.store.StoreQueries;
import dev.semel.store.WorkerLeases;
import dev.semel.store.WorkflowStore;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.List;

/** A store with faults before it. */
final class FaultyStore implements WorkflowStore {
    private final WorkflowStore real;
    private final StoreFaults faults;

    FaultyStore(WorkflowStore real, StoreFaults faults) {
        this.real = real;
        this.faults = faults;
    }

    @Override
    public void migrate() {
        faults.call();
        real.migrate();
    }

    @Override
    public int lanes() {
        return real.lanes();
    }

    @Override
    public WorkflowStore.BatchWriter openLane() {
        return new FaultyLane(real.openLane(), faults);
    }

    @Override
    public int txLanes() {
        return real.txLanes();
    }

    @Override
    public WorkflowStore.BatchWriter openTxLane() {
        return new FaultyLane(real.openTxLane(), faults);
    }

    private record FaultyLane(WorkflowStore.BatchWriter real, StoreFaults faults) implements WorkflowStore.BatchWriter {
        @Override
        public List<Object> apply(CommitBatch batch) {
            StoreFaults.Fault fault = faults.batch();
            if (fault == null) {
                return real.apply(batch);
            }
            Exception cause = new IllegalStateException("fault");
            throw switch (fault) {
                case DOWN -> StoreFaults.failure();
                case ANSWER_LOST -> {
                    real.apply(batch);
                    yield new StoreFailure.CommitUnknown(cause);
                }
                case COMMIT_LOST -> new StoreFailure.CommitUnknown(cause);
                case LOCKED -> new StoreFailure.LockConflict(true, cause);
            };
        }

        @Override
        public void close() {
            real.close();
        }
    }

    /** A reader gets no answer while the store is down. */
    @Override
    public StoreQueries openQueries() {
        faults.call();
        StoreQueries reads = real.openQueries();
        return (StoreQueries) Proxy.newProxyInstance(
                StoreQueries.class.getClassLoader(), new Class<?>[] {StoreQueries.class}, (_, method, args) -> {
                    if (!method.getName().equals("close")) {
                        faults.call();
                    }
                    try {
                        return method.invoke(reads, args);
                    } catch (InvocationTargetException e) {
                        throw e.getTargetException();
                    }
                });
    }

    @Override
    public WorkerLeases openLeases() {
        return new FaultyLeases(real.openLeases(), faults);
    }

    private record FaultyLeases(WorkerLeases real, StoreFaults faults) implements WorkerLeases {
        @Override
        public void start(long lease, String worker, int slots, long ttlMicros) {
            faults.call();
            real.start(lease, worker, slots, ttlMicros);
        }

        @Override
        public boolean renew(long lease, long ttlMicros) {
            faults.call();
            return real.renew(lease, ttlMicros);
        }

        @Override
        public StoreStatus heartbeat(long lease, WorkerReport workerReport) {
            faults.call();
            return real.heartbeat(lease, workerReport);
        }

        @Override
        public int takeOverExpired(long own) {
            faults.call();
            return real.takeOverExpired(own);
        }

        @Override
        public void end(long lease) {
            faults.call();
            real.end(lease);
        }

        @Override
        public void close() {
            real.close();
        }
    }

    @Override
    public WorkflowStore.Durability durability() {
        return real.durability();
    }

    @Override
    public void close() {
        real.close();
    }
}
