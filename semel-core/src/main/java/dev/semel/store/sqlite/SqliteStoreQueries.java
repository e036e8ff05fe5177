package dev.semel.store.sqlite;

import dev.semel.admission.RunDeduplicationKey;
import dev.semel.admission.RunDeduplicationKeyRecord;
import dev.semel.store.TrustedClock;
import dev.semel.store.jdbc.JdbcStoreQueries;
import dev.semel.store.jdbc.session.JdbcSession;
import dev.semel.store.jdbc.session.RowMappers;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

final class SqliteStoreQueries extends JdbcStoreQueries {
    // differs: one look-up per key; a call costs no round trip here
    private static final String KEY = """
        SELECT k.run, r.chosen_id, k.digest, r.field_hashes, r.workflow_id, r.version,
               COALESCE((SELECT e.state FROM semel_finished_run e WHERE e.run = k.run),
                        (SELECT w.state FROM semel_unfinished_run w WHERE w.run = k.run)),
               r.lineage, k.first_at, k.expires_at, k.flags
        FROM semel_key k JOIN semel_run r ON r.run = k.run
        WHERE k.ws = ? AND k.kind = ? AND k.key = ?
        """;

    private final TrustedClock clock;

    SqliteStoreQueries(JdbcSession session, TrustedClock clock) {
        super(session);
        this.clock = clock;
    }

    @Override
    public long now() {
        return clock.getAsLong();
    }

    @Override
    public TrustedClock.@Nullable ClockJump clockJump() {
        return clock.jump();
    }

    @Override
    public KeyLookup findKeys(List<RunDeduplicationKey> names) {
        return query(() -> {
            List<@Nullable RunDeduplicationKeyRecord> found = new ArrayList<>(names.size());
            for (RunDeduplicationKey name : names) {
                found.add(find(session, name));
            }
            return new KeyLookup(clock.windowTime(), found);
        });
    }

    static @Nullable RunDeduplicationKeyRecord find(JdbcSession session, RunDeduplicationKey name) throws SQLException {
        return session.queryOne(
                KEY,
                row -> RowMappers.mapKeyRecord(row, 1),
                name.workspace(),
                name.kind().code(),
                name.text());
    }
}
