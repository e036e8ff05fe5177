package dev.semel.store.jdbc.run;

import dev.semel.effect.EffectLedger;
import dev.semel.run.RunId;
import dev.semel.store.DatabaseRows;
import dev.semel.store.MetricUpdateCollector;
import dev.semel.store.StoreQueries;
import dev.semel.store.jdbc.session.JdbcSession;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

public final class EffectLedgerRepository {
    private static final String FIND = """
        SELECT ws, digest, step, run, claim, reservation, state, generation, attempt, first_at, accepted_at,
            window_micros, expires_at,
               data, result, key, path, workflow_id, protection, action, object, worth, sent_key, sent_at, content
        FROM semel_effect WHERE ws = ? AND digest = ?
        """;

    private static final String INSERT = """
        INSERT INTO semel_effect (ws, digest, step, run, claim, reservation, state, generation, attempt, first_at,
            accepted_at,
                                  window_micros, expires_at, data, result, key, path, workflow_id, protection, action,
                                      object,
                                  worth, sent_key, sent_at, content)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """;

    // A write that the worker repeats after a lost response adds its row once.
    private static final String INSERT_PAST = """
        INSERT INTO semel_effect_history (ws, digest, step, run, claim, reservation, state, generation, attempt,
            first_at, accepted_at, window_micros, expires_at, data, result, key, path, workflow_id, protection, action,
            object, worth, sent_key, sent_at, content)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (run, digest, generation, attempt) DO NOTHING
        """;

    private static final String UPDATE = """
        UPDATE semel_effect SET step = ?, run = ?, claim = ?, reservation = ?, state = ?, generation = ?, attempt = ?,
            first_at = ?, accepted_at = ?, window_micros = ?, expires_at = ?, data = ?, result = ?, key = ?, path = ?,
                workflow_id = ?,
            protection = ?, action = ?, object = ?, worth = ?, sent_key = ?, sent_at = ?, content = ?
        WHERE ws = ? AND digest = ?
        """;

    private static final String OF_RUN = """
        SELECT ws, digest, step, run, claim, reservation, state, generation, attempt, first_at, accepted_at,
            window_micros, expires_at,
               data, result, key, path, workflow_id, protection, action, object, worth, sent_key, sent_at, content
        FROM semel_effect WHERE run = ? ORDER BY first_at, digest
        """;

    private static final String OPEN_OF_RUN = """
        SELECT ws, digest, step, run, claim, reservation, state, generation, attempt, first_at, accepted_at,
            window_micros, expires_at,
               data, result, key, path, workflow_id, protection, action, object, worth, sent_key, sent_at, content
        FROM semel_effect WHERE run = ? AND state IN (1, 3) ORDER BY first_at, digest
        """;

    // An unfinished run looks by itself at that time; this is for runs that have ended, are held, or wait for a start.
    private static final String EXPIRED_RESENDS = """
        SELECT ws, digest, step, run, claim, reservation, state, generation, attempt, first_at, accepted_at,
            window_micros, expires_at,
               data, result, key, path, workflow_id, protection, action, object, worth, sent_key, sent_at, content
        FROM semel_effect e WHERE state = 3 AND expires_at > 0 AND expires_at <= ?
            AND (expires_at <= ? OR NOT EXISTS (SELECT 1 FROM semel_unfinished_run w WHERE w.run = e.run))
        ORDER BY expires_at LIMIT ?
        """;

    private static final String RESEND_UNTIL = """
        SELECT COALESCE(min(expires_at), 0) FROM semel_effect WHERE run = ? AND state = 3 AND expires_at > 0
        """;

    // One row per run first, because a run may have several such effects; the soonest counts. A reserved row counts if
    // a
    // crash cut its send off and no worker continues the send.
    private static final String RESEND_LOSSES = """
        SELECT workflow_id, count(*), sum(CASE WHEN until <= ? THEN 1 ELSE 0 END),
            sum(CASE WHEN until <= ? THEN 1 ELSE 0 END), min(until)
        FROM (SELECT workflow_id, run, min(expires_at) AS until
            FROM (SELECT workflow_id, run, expires_at FROM semel_effect WHERE ws = ? AND state = 3 AND expires_at > 0
                UNION ALL
                SELECT e.workflow_id, e.run, e.expires_at FROM semel_unfinished_run w JOIN semel_effect e ON e.run = w.run
                WHERE w.has_crashed = 1 AND (w.owner IS NULL OR w.claim_count > e.claim)
                    AND e.ws = ? AND e.state = 1 AND e.expires_at > ?) o
            GROUP BY workflow_id, run) r
        GROUP BY workflow_id ORDER BY 5, 1 LIMIT 1000
        """;

    // A reserved row counts if a crash cut its send off and no worker continues the send.
    private static final String EXPIRING_RESENDS = """
        SELECT run, min(first_at), min(expires_at)
        FROM (SELECT run, workflow_id, first_at, expires_at FROM semel_effect
            WHERE ws = ? AND state = 3 AND expires_at > 0
            UNION ALL
            SELECT e.run, e.workflow_id, e.first_at, e.expires_at
            FROM semel_unfinished_run w JOIN semel_effect e ON e.run = w.run
            WHERE w.has_crashed = 1 AND (w.owner IS NULL OR w.claim_count > e.claim) AND e.ws = ? AND e.state = 1) r
        WHERE expires_at > ? AND expires_at <= ? AND (? = '' OR workflow_id = ?)
        GROUP BY run ORDER BY 3, 1 LIMIT ?
        """;

    private static final String LOST_RESENDS = """
        SELECT count(DISTINCT v.run) FROM semel_review v JOIN semel_effect e ON e.ws = v.ws AND e.digest = v.effect
        WHERE v.ws = ? AND v.decided_at = 0 AND v.kind = 1 AND v.opened_at >= ? AND (? = '' OR v.workflow_id = ?)
            AND e.state = 3 AND e.expires_at = 0 AND e.protection = 'provider_key'
        """;

    private static final String PAST_OF_RUN = """
        SELECT ws, digest, step, run, claim, reservation, state, generation, attempt, first_at, accepted_at,
            window_micros, expires_at,
               data, result, key, path, workflow_id, protection, action, object, worth, sent_key, sent_at, content
        FROM semel_effect_history WHERE run = ? ORDER BY digest, generation, attempt LIMIT ?
        """;

    private static final String BY_SENT_KEY = """
        SELECT ws, digest, step, run, claim, reservation, state, generation, attempt, first_at, accepted_at,
            window_micros, expires_at,
               data, result, key, path, workflow_id, protection, action, object, worth, sent_key, sent_at, content
        FROM semel_effect WHERE ws = ? AND sent_key = ? ORDER BY run DESC, digest LIMIT ?
        """;

    private static final String PAST_BY_SENT_KEY = """
        SELECT ws, digest, step, run, claim, reservation, state, generation, attempt, first_at, accepted_at,
            window_micros, expires_at,
               data, result, key, path, workflow_id, protection, action, object, worth, sent_key, sent_at, content
        FROM semel_effect_history WHERE ws = ? AND sent_key = ? ORDER BY run DESC, digest, attempt DESC LIMIT ?
        """;

    public static long findResendUntil(JdbcSession session, RunId run) throws SQLException {
        Long until = session.queryOne(RESEND_UNTIL, row -> row.getLong(1), run);
        return until == null ? 0 : until;
    }

    public static List<DatabaseRows.ResendLoss> listResendLosses(
            JdbcSession session, int ws, long now, long withinHour, long withinDay) throws SQLException {
        return session.queryList(
                RESEND_LOSSES,
                row -> new DatabaseRows.ResendLoss(
                        row.getString(1), row.getLong(2), row.getLong(3), row.getLong(4), row.getLong(5)),
                withinHour,
                withinDay,
                ws,
                ws,
                now);
    }

    public static List<DatabaseRows.ExpiringResend> listExpiringResends(
            JdbcSession session, int ws, String workflowId, long after, long until, int limit) throws SQLException {
        return session.queryList(
                EXPIRING_RESENDS,
                row -> new DatabaseRows.ExpiringResend(RunId.of(row.getBytes(1)), row.getLong(2), row.getLong(3)),
                ws,
                ws,
                after,
                until,
                workflowId,
                workflowId,
                limit);
    }

    public static long countLostResends(JdbcSession session, int ws, String workflowId, long since)
            throws SQLException {
        Long runs = session.queryOne(LOST_RESENDS, row -> row.getLong(1), ws, since, workflowId, workflowId);
        return runs == null ? 0 : runs;
    }

    private static final long UNFINISHED_LOOKS_FIRST = 60_000_000;

    private EffectLedgerRepository() {}

    public static List<EffectLedger.EffectRow> listExpiredResends(JdbcSession session, long now, int limit)
            throws SQLException {
        return session.queryList(
                EXPIRED_RESENDS, EffectLedgerRepository::mapRow, now, now - UNFINISHED_LOOKS_FIRST, limit);
    }

    /** Earlier sends that no ledger row of the run shows any more. */
    public static List<EffectLedger.EffectRow> listPastByRun(JdbcSession session, RunId run, int limit)
            throws SQLException {
        return session.queryList(PAST_OF_RUN, EffectLedgerRepository::mapRow, run, limit);
    }

    /** The rows whose send had this key, then earlier sends. A run is listed once for each step. */
    public static List<StoreQueries.SentEffect> listBySentKey(JdbcSession session, int ws, String sentKey, int limit)
            throws SQLException {
        List<StoreQueries.SentEffect> all = new ArrayList<>();
        session.queryList(BY_SENT_KEY, EffectLedgerRepository::mapRow, ws, sentKey, limit)
                .forEach(row -> all.add(new StoreQueries.SentEffect(row, false)));
        session.queryList(PAST_BY_SENT_KEY, EffectLedgerRepository::mapRow, ws, sentKey, limit)
                .forEach(row -> all.add(new StoreQueries.SentEffect(row, true)));
        Map<String, StoreQueries.SentEffect> found = new LinkedHashMap<>();
        for (StoreQueries.SentEffect one : all) {
            String sender = one.row().holder().run() + " " + one.row().details().path();
            StoreQueries.SentEffect known = found.get(sender);
            // The row that was sent knows more than the note of its step.
            if (known == null || known.row().isStepNote() && !one.past()) {
                found.put(sender, one);
            }
        }
        return found.values().stream().limit(limit).toList();
    }

    /** Adds a send to the history; its result and payload stay with the newer row. */
    static void insertPast(JdbcSession session, EffectLedger.EffectRow row) throws SQLException {
        session.update(INSERT_PAST, pastValues(row));
    }

    /** All columns of a history row, in the order of the table. */
    private static @Nullable Object[] pastValues(EffectLedger.EffectRow row) {
        List<@Nullable Object> values = values(row);
        values.addAll(0, List.of(row.id().workspace(), row.id().digest()));
        return values.toArray();
    }

    public static List<EffectLedger.EffectRow> listByRun(JdbcSession session, RunId run) throws SQLException {
        return session.queryList(OF_RUN, EffectLedgerRepository::mapRow, run);
    }

    public static List<EffectLedger.EffectRow> listOpenByRun(JdbcSession session, RunId run) throws SQLException {
        return session.queryList(OPEN_OF_RUN, EffectLedgerRepository::mapRow, run);
    }

    public static EffectLedger.@Nullable EffectRow find(JdbcSession session, EffectLedger.EffectId id)
            throws SQLException {
        return session.queryOne(FIND, EffectLedgerRepository::mapRow, id.workspace(), id.digest());
    }

    /** Reads the row, decides and writes. Safe only for a store with one writer, or under a lock on the row. */
    public static EffectLedger.LedgerDecision apply(
            JdbcSession session, EffectLedger.LedgerOperation op, long now, MetricUpdateCollector counted)
            throws SQLException {
        EffectLedger.EffectRow row = find(session, op.id());
        EffectLedger.LedgerChange change = EffectLedger.apply(row, op, now);
        EffectLedger.EffectRow next = change.row();
        counted.countEffect(op, next);
        if (change.past() != null) {
            insertPast(session, change.past());
        }
        if (next != null && row == null) {
            insert(session, next);
        } else if (next != null) {
            update(session, next);
        }
        return change.decision();
    }

    private static void insert(JdbcSession session, EffectLedger.EffectRow row) throws SQLException {
        List<@Nullable Object> values = values(row);
        values.addAll(0, List.of(row.id().workspace(), row.id().digest()));
        session.update(INSERT, values.toArray());
    }

    public static void update(JdbcSession session, EffectLedger.EffectRow row) throws SQLException {
        List<@Nullable Object> values = values(row);
        values.addAll(List.of(row.id().workspace(), row.id().digest()));
        session.update(UPDATE, values.toArray());
    }

    /** All columns except the primary key, in the order of the table. */
    private static List<@Nullable Object> values(EffectLedger.EffectRow row) {
        return new ArrayList<>(Arrays.<@Nullable Object>asList(
                row.holder().step(),
                row.holder().run(),
                row.holder().claim(),
                row.holder().turn(),
                row.state().code(),
                row.generation(),
                row.attempt(),
                row.firstAt(),
                row.acceptedAt(),
                row.window(),
                row.expiresAt(),
                row.dataDigest(),
                row.result(),
                row.details().key(),
                row.details().path(),
                row.details().workflowId(),
                row.details().protection(),
                row.details().does(),
                row.details().object(),
                row.details().worth(),
                row.lastSend().key(),
                row.lastSend().at(),
                row.lastSend().content()));
    }

    /** Maps all columns, in the order of the table. */
    public static EffectLedger.EffectRow mapRow(ResultSet row) throws SQLException {
        return new EffectLedger.EffectRow(
                new EffectLedger.EffectId(row.getInt(1), row.getString(2)),
                new EffectLedger.EffectHolder(
                        row.getString(3), RunId.of(row.getBytes(4)), row.getInt(5), row.getInt(6)),
                EffectLedger.EffectState.of(row.getInt(7)),
                row.getInt(8),
                row.getInt(9),
                row.getLong(10),
                row.getLong(11),
                row.getLong(12),
                row.getLong(13),
                row.getString(14),
                row.getString(15),
                new EffectLedger.EffectDetails(
                        row.getString(16),
                        row.getString(17),
                        row.getString(18),
                        row.getString(19),
                        row.getString(20),
                        row.getString(21),
                        row.getString(22)),
                new EffectLedger.LastSend(row.getString(23), row.getLong(24), row.getString(25)));
    }
}
