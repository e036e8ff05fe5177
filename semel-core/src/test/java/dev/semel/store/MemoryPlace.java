package dev.semel.store;

import dev.semel.run.RunId;
import dev.semel.testing.memory.MemoryStore;
import dev.semel.testing.memory.Snapshot;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** A store in memory. What is asked in SQL is answered by a picture of its rows. */
public final class MemoryPlace implements Place {
    private final AtomicLong time = new AtomicLong(START);
    private final AtomicLong ids = new AtomicLong();
    private final MemoryStore store = new MemoryStore(time::get, () -> new RunId(ids.incrementAndGet(), 1));

    @Override
    public String url() {
        throw new UnsupportedOperationException("a store in memory is an object, not a place with an address");
    }

    @Override
    public long time() {
        return time.get();
    }

    @Override
    public void setTime(long micros) {
        time.set(micros);
    }

    /** Always the same: it outlives whoever uses it. */
    @Override
    public Store store() {
        return Place.migrated(store);
    }

    /** For looking only; a change is refused. */
    @Override
    public Connection jdbc() {
        try {
            return Snapshot.of(store);
        } catch (SQLException e) {
            throw new AssertionError("the rows do not fit the schema", e);
        }
    }

    /** Every row as a text. */
    List<String> rows() {
        return Snapshot.rows(store).stream().map(Shown::of).toList();
    }

    @Override
    public void close() {}
}
