package dev.semel.testing;

import dev.semel.store.Batch;
import dev.semel.store.Durability;
import dev.semel.store.Lane;
import dev.semel.store.Leases;
import dev.semel.store.Reads;
import dev.semel.store.Store;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * Wraps the shared store of a test for one engine and blocks its writes after the engine's simulated crash.
 * Leases do not expire by the manual clock, because no time passes for a process when a test advances it. They end when
 * their engine crashes.
 */
final class Mortal implements Store {
    private static final long FOR_EVER = TimeUnit.DAYS.toMicros(36_500);

    private final Store shared;
    private final Life life;
    private final Set<Long> leases = ConcurrentHashMap.newKeySet();

    Mortal(Store shared, Life life) {
        this.shared = shared;
        this.life = life;
    }

    /** Does what other workers do when the lease of a dead process has expired, without waiting. */
    void takeOver() {
        try (Leases all = shared.openLeases()) {
            leases.forEach(lease -> all.renew(lease, -1));
            all.takeOver();
        }
    }

    @Override
    public void migrate() {
        shared.migrate();
    }

    @Override
    public int lanes() {
        return shared.lanes();
    }

    @Override
    public Lane openLane() {
        return mortal(shared.openLane());
    }

    @Override
    public int txLanes() {
        return shared.txLanes();
    }

    @Override
    public Lane openTxLane() {
        return mortal(shared.openTxLane());
    }

    private Lane mortal(Lane lane) {
        return new Lane() {
            @Override
            public List<Object> apply(Batch batch) {
                life.alive();
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
    public Reads openReads() {
        return shared.openReads();
    }

    @Override
    public Leases openLeases() {
        Leases real = shared.openLeases();
        return new Leases() {
            @Override
            public void start(long lease, String worker, int slots, long ttlMicros) {
                if (!life.isDead()) {
                    leases.add(lease);
                    real.start(lease, worker, slots, FOR_EVER);
                }
            }

            @Override
            public boolean renew(long lease, long ttlMicros) {
                return life.isDead() || real.renew(lease, FOR_EVER);
            }

            @Override
            public Pulse pulse(long lease, Told told) {
                return life.isDead() ? new Pulse(0, shared.durability(), null) : real.pulse(lease, told);
            }

            @Override
            public int takeOver() {
                return 0;
            }

            @Override
            public void end(long lease) {
                if (!life.isDead()) {
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
    public Durability durability() {
        return shared.durability();
    }

    /** Keeps the shared store open for the next engine. */
    @Override
    public void close() {}
}
