package dev.semel.store.postgres;

import dev.semel.store.Leases;
import dev.semel.store.jdbc.Session;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Leases and fence slots. Only the database's clock decides whether a lease is over. */
final class PostgresLeases implements Leases {
    private static final String START = """
        INSERT INTO semel_lease (lease, worker, started_at, until_at)
        SELECT ?, ?, n.at, n.at + ?
        FROM (SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint + ? AS at) n
        """;

    private static final String RENEW = """
        UPDATE semel_lease SET until_at = (extract(epoch FROM clock_timestamp()) * 1000000)::bigint + ? + ?
        WHERE lease = ?
        """;

    private static final String EXPIRED = """
        SELECT lease FROM semel_lease
        WHERE until_at < (extract(epoch FROM clock_timestamp()) * 1000000)::bigint + ? ORDER BY lease LIMIT 16
        """;

    private static final String END_EXPIRED = """
        DELETE FROM semel_lease
        WHERE lease = ? AND until_at < (extract(epoch FROM clock_timestamp()) * 1000000)::bigint + ?
        """;

    // Sorted, as every lane locks them: a signal to two of these runs must not wait in a circle with the takeover.
    private static final String FREE = """
        WITH its AS MATERIALIZED (
            SELECT run FROM semel_work WHERE owner = ? ORDER BY run FOR NO KEY UPDATE)
        UPDATE semel_work w SET owner = NULL, falls = w.falls + ? FROM its WHERE w.run = its.run
        """;

    private final PostgresStore store;
    private @Nullable Session session;

    PostgresLeases(PostgresStore store) {
        this.store = store;
    }

    @Override
    public void start(long lease, String worker, int slots, long ttlMicros) {
        write(session -> {
            session.update(START, lease, worker, ttlMicros, store.skew());
            // Shared with other starts, not with a publish: it either knows these slots or is known to them.
            Long change =
                    session.one("SELECT change FROM semel_catalog WHERE one = 1 FOR SHARE", row -> row.getLong(1));
            for (int slot = 0; slot < slots; slot++) {
                session.update("INSERT INTO semel_fence (lease, slot, change) VALUES (?, ?, ?)", lease, slot, change);
            }
            return slots;
        });
    }

    @Override
    public boolean renew(long lease, long ttlMicros) {
        return write(session -> session.update(RENEW, ttlMicros, store.skew(), lease)) == 1;
    }

    @Override
    public int takeOver() {
        store.hasCompany(read(session -> session.list("SELECT lease FROM semel_lease LIMIT 2", row -> row.getLong(1)))
                        .size()
                > 1);
        List<Long> expired = read(session -> session.list(EXPIRED, row -> row.getLong(1), store.skew()));
        int ended = 0;
        for (long lease : expired) {
            ended += write(session -> {
                // Waits for batches in flight; afterwards no batch of that lease can begin.
                session.list(
                        "SELECT slot FROM semel_fence WHERE lease = ? ORDER BY slot FOR UPDATE",
                        row -> row.getInt(1),
                        lease);
                if (session.update(END_EXPIRED, lease, store.skew()) == 0) {
                    return 0;
                }
                return free(session, lease, 1);
            });
        }
        return ended;
    }

    @Override
    public void end(long lease) {
        write(session -> {
            session.list(
                    "SELECT slot FROM semel_fence WHERE lease = ? ORDER BY slot FOR UPDATE",
                    row -> row.getInt(1),
                    lease);
            session.update("DELETE FROM semel_lease WHERE lease = ?", lease);
            return free(session, lease, 0);
        });
    }

    /**
     * In the same transaction as the end of the lease, so that no run belongs to a dead one unseen.
     *
     * @param falls 1 where the worker died with its runs
     */
    private int free(Session session, long lease, int falls) throws SQLException {
        int freed = session.update(FREE, lease, falls);
        session.update("DELETE FROM semel_fence WHERE lease = ?", lease);
        if (freed > 0 && store.hasCompany()) {
            Hints.send(session, store.self(), Set.of(""));
        }
        return 1;
    }

    private <T> T read(Action<T> action) {
        return run(action);
    }

    private int write(Action<Integer> action) {
        return run(action);
    }

    private <T> T run(Action<T> action) {
        Session current = session;
        try {
            if (current == null) {
                current = new Session(store.connect(PostgresStore.Purpose.LEASE));
                session = current;
            }
            T result = action.run(current);
            current.connection().commit();
            return result;
        } catch (SQLException e) {
            drop();
            throw Failures.of(e);
        }
    }

    private void drop() {
        Session current = session;
        session = null;
        if (current != null) {
            try {
                current.close();
            } catch (SQLException e) {
                // The connection is being thrown away because it failed; a second failure adds nothing.
                return;
            }
        }
    }

    @Override
    public void close() {
        drop();
    }

    @FunctionalInterface
    private interface Action<T> {
        T run(Session session) throws SQLException;
    }
}
