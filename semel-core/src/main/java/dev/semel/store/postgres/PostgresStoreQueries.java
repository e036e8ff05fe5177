package dev.semel.store.postgres;

import dev.semel.admission.RunDeduplicationKey;
import dev.semel.admission.RunDeduplicationKeyRecord;
import dev.semel.effect.EffectLedger;
import dev.semel.run.RunId;
import dev.semel.store.DatabaseRows;
import dev.semel.store.jdbc.JdbcStoreQueries;
import dev.semel.store.jdbc.run.EffectLedgerRepository;
import dev.semel.store.jdbc.session.JdbcSession;
import dev.semel.store.jdbc.session.RowMappers;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

final class PostgresStoreQueries extends JdbcStoreQueries {
    // differs: one statement for many keys. LATERAL with LIMIT 1 forces an index look-up for each key.
    private static final String KEYS_BY_NAME = """
        SELECT u.n, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint,
               k.run, k.chosen_id, k.digest, k.field_hashes, k.workflow_id, k.version, k.state, k.lineage,
               k.first_at, k.expires_at, k.flags
        FROM unnest(?::int[], ?::int[], ?::int[], ?::text[]) AS u(n, ws, kind, key)
        CROSS JOIN LATERAL (
            SELECT k.run, r.chosen_id, k.digest, r.field_hashes, r.workflow_id, r.version,
                   COALESCE((SELECT e.state FROM semel_finished_run e WHERE e.run = k.run),
                            (SELECT w.state FROM semel_unfinished_run w WHERE w.run = k.run)) AS state,
                   r.lineage, k.first_at, k.expires_at, k.flags
            FROM semel_key k JOIN semel_run r ON r.run = k.run
            WHERE k.ws = u.ws AND k.kind = u.kind AND k.key = u.key LIMIT 1) k
        """;

    // differs: one statement for many runs. LIMIT 1 forces index look-ups instead of a join of whole tables.
    private static final String RECORDED = """
        SELECT x.* FROM unnest(?::bytea[]) AS wanted(run)
        CROSS JOIN LATERAL (
            SELECT r.run, r.ws, r.chosen_id, r.workflow_id, r.version, r.trigger_source, r.actor, r.key,
                r.correlation_id, r.input,
                   r.lineage, r.previous_run, r.duplicate_of, r.created_at, w.state, w.claim_count, e.state, e.ended_at,
                   e.output, e.error_code, e.error_message, e.error_step, e.entries, u.replays, u.conflicts, u.last_at,
                   w.crash_count, w.cancel_requested, w.due_at, w.waiting_for, l.parent, l.replay_of, l.depth,
               COALESCE(w.started_at, e.started_at)
            FROM semel_run r
            LEFT JOIN semel_unfinished_run w ON w.run = r.run
            LEFT JOIN semel_finished_run e ON e.run = r.run
            LEFT JOIN semel_duplicate_count u ON u.run = r.run
            LEFT JOIN semel_run_link l ON l.run = r.run
            WHERE r.run = wanted.run LIMIT 1) x
        """;
    private static final String JOURNALS = """
        SELECT j.run, j.seq, j.entries FROM unnest(?::bytea[]) AS u(run)
        CROSS JOIN LATERAL (
            SELECT run, seq, entries FROM semel_journal WHERE run = u.run ORDER BY seq LIMIT 1000000000) j
        """;

    // differs: one statement for many runs, for the same reason. The limits are beyond all rows.
    private static final String EFFECTS = """
        SELECT e.* FROM unnest(?::bytea[]) AS u(run)
        CROSS JOIN LATERAL (
            SELECT ws, digest, step, run, claim, reservation, state, generation, attempt, first_at, accepted_at,
                window_micros, expires_at,
                   data, result, key, path, workflow_id, protection, action, object, worth, sent_key, sent_at, content
            FROM semel_effect WHERE run = u.run LIMIT 1000000000) e
        """;
    private static final String LINEAGES = """
        SELECT r.lineage, r.run FROM unnest(?::bytea[]) AS u(lineage)
        CROSS JOIN LATERAL (
            SELECT lineage, run FROM semel_run WHERE lineage = u.lineage AND lineage <> run ORDER BY run
                LIMIT 1000000000) r
        """;

    private final PostgresStore store;

    PostgresStoreQueries(PostgresStore store, Connection connection) {
        super(new JdbcSession(connection));
        this.store = store;
    }

    @Override
    public long now() {
        Long now = one("SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint", row -> row.getLong(1));
        return (now == null ? 0 : now) + store.skew();
    }

    @Override
    public KeyLookup findKeys(List<RunDeduplicationKey> names) {
        return query(() -> find(session, names, store.skew()));
    }

    @Override
    public List<DatabaseRows.RunRow> runsWithoutJournal(List<RunId> ids) {
        return listOf(RECORDED, ids, RowMappers::mapRun);
    }

    @Override
    public List<JournaledRun> runsWithJournal(List<RunId> ids) {
        Map<RunId, List<JournalChunk>> journals = new HashMap<>();
        listOf(
                JOURNALS,
                ids,
                row -> journals.computeIfAbsent(RunId.of(row.getBytes(1)), _ -> new ArrayList<>())
                        .add(new JournalChunk(row.getInt(2), row.getString(3))));
        return listOf(RECORDED, ids, row -> {
            DatabaseRows.RunRow run = RowMappers.mapRun(row);
            return new JournaledRun(run, journals.getOrDefault(run.id(), List.of()));
        });
    }

    @Override
    public List<EffectLedger.EffectRow> effects(List<RunId> runs) {
        return listOf(EFFECTS, runs, EffectLedgerRepository::mapRow);
    }

    @Override
    public Map<RunId, List<RunId>> lineages(List<RunId> first) {
        Map<RunId, List<RunId>> all = new HashMap<>();
        listOf(
                LINEAGES,
                first,
                row -> all.computeIfAbsent(RunId.of(row.getBytes(1)), _ -> new ArrayList<>())
                        .add(RunId.of(row.getBytes(2))));
        return all;
    }

    private <T> List<T> listOf(String sql, List<RunId> runs, JdbcSession.RowReader<T> reader) {
        return query(() -> ArrayStatement.ofRuns(session, sql, runs).list(reader));
    }

    static KeyLookup find(JdbcSession session, List<RunDeduplicationKey> names, long skew) throws SQLException {
        ArrayStatement<RunDeduplicationKey> statement = new ArrayStatement<>(session, KEYS_BY_NAME, names)
                .positions()
                .ints(RunDeduplicationKey::workspace)
                .ints(name -> name.kind().code())
                .texts(RunDeduplicationKey::text);
        List<@Nullable RunDeduplicationKeyRecord> found =
                new ArrayList<>(Collections.<@Nullable RunDeduplicationKeyRecord>nCopies(names.size(), null));
        List<Long> times = statement.list(row -> {
            found.set(row.getInt(1), RowMappers.mapKeyRecord(row, 3));
            return row.getLong(2);
        });
        return new KeyLookup((times.isEmpty() ? 0 : times.getLast()) + skew, found);
    }
}
