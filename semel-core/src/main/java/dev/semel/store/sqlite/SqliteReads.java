package dev.semel.store.sqlite;

import dev.semel.key.Known;
import dev.semel.store.Name;
import dev.semel.store.jdbc.JdbcReads;
import dev.semel.store.jdbc.Read;
import dev.semel.store.jdbc.Session;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Read queries of the SQLite store. */
final class SqliteReads extends JdbcReads {
    // differs: one look-up per key; a call costs no round trip here
    private static final String KEY = """
        SELECT k.run, r.chosen_id, k.digest, r.field_hashes, r.workflow_id, r.version,
               COALESCE((SELECT e.state FROM semel_finished_run e WHERE e.run = k.run),
                        (SELECT w.state FROM semel_unfinished_run w WHERE w.run = k.run)),
               r.lineage, k.first_at, k.expires_at, k.flags
        FROM semel_key k JOIN semel_run r ON r.run = k.run
        WHERE k.ws = ? AND k.kind = ? AND k.key = ?
        """;

    private final LongSupplier clock;

    SqliteReads(Session session, LongSupplier clock) {
        super(session);
        this.clock = clock;
    }

    @Override
    public long now() {
        return clock.getAsLong();
    }

    @Override
    public Found names(List<Name> names) {
        return ask(() -> {
            List<@Nullable Known> found = new ArrayList<>(names.size());
            for (Name name : names) {
                found.add(find(session, name));
            }
            return new Found(now(), found);
        });
    }

    static @Nullable Known find(Session session, Name name) throws SQLException {
        return session.one(
                KEY, row -> Read.known(row, 1), name.workspace(), name.kind().code(), name.text());
    }
}
