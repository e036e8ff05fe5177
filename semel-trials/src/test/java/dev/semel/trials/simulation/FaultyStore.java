package dev.semel.trials.simulation;

import dev.semel.store.Batch;
import dev.semel.store.Durability;
import dev.semel.store.Lane;
import dev.semel.store.Leases;
import dev.semel.store.Reads;
import dev.semel.store.Store;
import dev.semel.store.StoreFailure;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.List;

/** A store with faults before it. */
final class FaultyStore implements Store {
    private final Store real;
    private final Faults faults;

    FaultyStore(Store real, Faults faults) {
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
    public Lane openLane() {
        return new FaultyLane(real.openLane(), faults);
    }

    @Override
    public int txLanes() {
        return real.txLanes();
    }

    @Override
    public Lane openTxLane() {
        return new FaultyLane(real.openTxLane(), faults);
    }

    private record FaultyLane(Lane real, Faults faults) implements Lane {
        @Override
        public List<Object> apply(Batch batch) {
            Faults.Fault fault = faults.batch();
            if (fault == null) {
                return real.apply(batch);
            }
            Exception cause = new IllegalStateException("fault");
            throw switch (fault) {
                case DOWN -> Faults.failure();
                case ANSWER_LOST -> {
                    real.apply(batch);
                    yield new StoreFailure.CommitUnknown(cause);
                }
                case COMMIT_LOST -> new StoreFailure.CommitUnknown(cause);
                case LOCKED -> new StoreFailure.Locked(true, cause);
            };
        }

        @Override
        public void close() {
            real.close();
        }
    }

    /** A reader gets no answer while the store is down. */
    @Override
    public Reads openReads() {
        faults.call();
        Reads reads = real.openReads();
        return (Reads) Proxy.newProxyInstance(
                Reads.class.getClassLoader(), new Class<?>[] {Reads.class}, (_, method, args) -> {
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
    public Leases openLeases() {
        return new FaultyLeases(real.openLeases(), faults);
    }

    private record FaultyLeases(Leases real, Faults faults) implements Leases {
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
        public Pulse pulse(long lease, Told told) {
            faults.call();
            return real.pulse(lease, told);
        }

        @Override
        public int takeOver() {
            faults.call();
            return real.takeOver();
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
    public Durability durability() {
        return real.durability();
    }

    @Override
    public void close() {
        real.close();
    }
}
