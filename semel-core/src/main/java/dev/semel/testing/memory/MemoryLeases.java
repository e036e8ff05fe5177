package dev.semel.testing.memory;

import dev.semel.store.Batch;
import dev.semel.store.Durability;
import dev.semel.store.Leases;
import dev.semel.store.Rows;
import dev.semel.store.StoreFailure;
import java.util.List;
import java.util.function.IntSupplier;

/** Leases and fence slots as on PostgreSQL: only the store's clock decides whether a lease is over. */
final class MemoryLeases implements Leases {
    static final Durability DURABILITY = new Durability(
            false, "memory: an answered trigger survives the crash of an engine and is LOST with the process (UNSAFE)");

    private static final int LEASES_IN_ONE_TAKEOVER = 16;

    private final MemoryStore.Surroundings surroundings;
    private final Tables tables;

    MemoryLeases(MemoryStore.Surroundings surroundings) {
        this.surroundings = surroundings;
        this.tables = surroundings.tables();
    }

    @Override
    public void start(long lease, String worker, int slots, long ttlMicros) {
        write(() -> {
            long now = surroundings.clock().getAsLong();
            if (!tables.leases.add(lease, new Rows.Worker(lease, worker, "", now, 0, now + ttlMicros, 0, 0))) {
                throw new StoreFailure.Poisoned(
                        "the store refused a value", new IllegalArgumentException("a lease is never used twice"));
            }
            for (int slot = 0; slot < slots; slot++) {
                tables.fence.put(new Pair<>(lease, slot), new Batch.Hold(lease, slot));
            }
            return slots;
        });
    }

    @Override
    public boolean renew(long lease, long ttlMicros) {
        return write(() -> {
                    Rows.Worker known = tables.leases.get(lease);
                    if (known == null) {
                        return 0;
                    }
                    tables.leases.put(lease, known.until(surroundings.clock().getAsLong() + ttlMicros));
                    return 1;
                })
                == 1;
    }

    @Override
    public Pulse pulse(long lease, Told told) {
        long now = surroundings.clock().getAsLong();
        write(() -> {
            Rows.Worker known = tables.leases.get(lease);
            if (known != null) {
                tables.leases.put(lease, known.telling(told, now));
            }
            return 0;
        });
        return new Pulse(told.wall() - now, DURABILITY, null);
    }

    @Override
    public int takeOver() {
        return write(() -> {
            long now = surroundings.clock().getAsLong();
            List<Rows.Worker> over = tables.leases.rows().values().stream()
                    .filter(lease -> lease.until() < now)
                    .limit(LEASES_IN_ONE_TAKEOVER)
                    .toList();
            over.forEach(lease -> free(lease.lease(), 1));
            return over.size();
        });
    }

    @Override
    public void end(long lease) {
        write(() -> free(lease, 0));
    }

    /** @param falls one where the worker died with its runs */
    private int free(long lease, int falls) {
        List<Work> owned = tables.workByOwner.tailMap(new Pair<>(lease, Tables.FIRST)).values().stream()
                .takeWhile(work -> work.owner != null && work.owner == lease)
                .toList();
        for (Work work : owned) {
            Work copy = work.copy();
            copy.owner = null;
            copy.falls += falls;
            copy.fell |= falls > 0;
            tables.work.put(work.run, copy);
        }
        List<Pair<Long, Integer>> slots = tables.fence.rows().tailMap(new Pair<>(lease, 0)).keySet().stream()
                .takeWhile(slot -> slot.first() == lease)
                .toList();
        slots.forEach(tables.fence::remove);
        tables.leases.remove(lease);
        return owned.size();
    }

    private int write(IntSupplier change) {
        surroundings.lock().lock();
        try {
            int changed = change.getAsInt();
            tables.commit();
            return changed;
        } finally {
            tables.rollback();
            surroundings.lock().unlock();
        }
    }

    @Override
    public void close() {}
}
