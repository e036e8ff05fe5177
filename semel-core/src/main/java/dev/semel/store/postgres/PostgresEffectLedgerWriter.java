package dev.semel.store.postgres;

import dev.semel.effect.EffectLedger;
import dev.semel.store.MetricUpdateCollector;
import dev.semel.store.jdbc.run.EffectLedgerRepository;
import dev.semel.store.jdbc.session.JdbcSession;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Applies the effect-ledger operations of a batch: locks existing rows, decides in batch order, inserts new rows, then
 * updates. If another batch inserts the same row at that moment, the writes that depend on it are deferred to the next
 * transaction, which sees the row.
 */
final class PostgresEffectLedgerWriter {
    private static final String LOCK = """
        SELECT e.* FROM unnest(?::int[], ?::text[]) AS u(ws, digest)
        CROSS JOIN LATERAL (
            SELECT ws, digest, step, run, claim, reservation, state, generation, attempt, first_at, accepted_at,
                window_micros, expires_at,
                   data, result, key, path, workflow_id, protection, action, object, worth, sent_key, sent_at, content
            FROM semel_effect e WHERE e.ws = u.ws AND e.digest = u.digest LIMIT 1 FOR NO KEY UPDATE) e
        """;

    private static final String INSERT = """
        INSERT INTO semel_effect (ws, digest, step, run, claim, reservation, state, generation, attempt, first_at,
            accepted_at,
                                  window_micros, expires_at, data, result, key, path, workflow_id, protection, action,
                                      object,
                                  worth, sent_key, sent_at, content)
        SELECT *
        FROM unnest(?::int[], ?::text[], ?::text[], ?::bytea[], ?::int[], ?::int[], ?::int[], ?::int[], ?::int[],
                    ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::text[], ?::text[], ?::text[], ?::text[],
                    ?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::bigint[], ?::text[])
        ON CONFLICT (ws, digest) DO NOTHING RETURNING ws, digest
        """;

    private static final String UPDATE = """
        UPDATE semel_effect e SET step = u.step, run = u.run, claim = u.claim, reservation = u.reservation,
            state = u.state,
            generation = u.generation, attempt = u.attempt, first_at = u.first_at, accepted_at = u.accepted_at,
            window_micros = u.window_micros, expires_at = u.expires_at, data = u.data, result = u.result, key = u.key,
                path = u.path,
            workflow_id = u.workflow_id, protection = u.protection, action = u.action, object = u.object,
                worth = u.worth, sent_key = u.sent_key, sent_at = u.sent_at, content = u.content
        FROM unnest(?::int[], ?::text[], ?::text[], ?::bytea[], ?::int[], ?::int[], ?::int[], ?::int[], ?::int[],
                    ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::text[], ?::text[], ?::text[], ?::text[],
                    ?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::bigint[], ?::text[])
            AS u(ws, digest, step, run, claim, reservation, state, generation, attempt, first_at, accepted_at,
                window_micros, expires_at,
                 data, result, key, path, workflow_id, protection, action, object, worth, sent_key, sent_at, content)
        WHERE e.ws = u.ws AND e.digest = u.digest
        """;

    // A write that the worker repeats after a lost response adds its row once.
    // differs: locks the run row until the commit and skips a run that retention deletes right now.
    private static final String INSERT_PAST = """
        WITH there AS MATERIALIZED (
            SELECT l.run FROM unnest(?::bytea[]) AS w(run)
            CROSS JOIN LATERAL (
                SELECT r.run FROM semel_run r WHERE r.run = w.run LIMIT 1 FOR KEY SHARE SKIP LOCKED) l)
        INSERT INTO semel_effect_history (ws, digest, step, run, claim, reservation, state, generation, attempt,
            first_at, accepted_at, window_micros, expires_at, data, result, key, path, workflow_id, protection, action,
            object, worth, sent_key, sent_at, content)
        SELECT u.*
        FROM unnest(?::int[], ?::text[], ?::text[], ?::bytea[], ?::int[], ?::int[], ?::int[], ?::int[], ?::int[],
                    ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::text[], ?::text[], ?::text[], ?::text[],
                    ?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::bigint[], ?::text[])
            AS u(ws, digest, step, run, claim, reservation, state, generation, attempt, first_at, accepted_at,
                window_micros, expires_at,
                 data, result, key, path, workflow_id, protection, action, object, worth, sent_key, sent_at, content)
        WHERE u.run IN (SELECT run FROM there)
        ON CONFLICT (run, digest, generation, attempt) DO NOTHING
        """;

    private final JdbcSession session;
    private final long now;
    private final MetricUpdateCollector counted;

    PostgresEffectLedgerWriter(JdbcSession session, long now, MetricUpdateCollector counted) {
        this.counted = counted;
        this.session = session;
        this.now = now;
    }

    /** An operation and the row that it produced; null if it changed nothing. {@code past}: for the history. */
    private record RowOperation(
            RunProgressBatchItem turn,
            EffectLedger.LedgerOperation op,
            EffectLedger.@Nullable EffectRow row,
            EffectLedger.@Nullable EffectRow past) {
        boolean isReservation() {
            return op instanceof EffectLedger.ReserveSend;
        }
    }

    private static final class LedgerRowState {
        EffectLedger.@Nullable EffectRow found;
        EffectLedger.@Nullable EffectRow current;
        final List<RowOperation> events = new ArrayList<>();
        boolean lost;

        EffectLedger.LedgerDecision apply(RunProgressBatchItem turn, EffectLedger.LedgerOperation op, long now) {
            EffectLedger.LedgerChange change = EffectLedger.apply(current, op, now);
            events.add(new RowOperation(turn, op, change.row(), change.past()));
            current = change.row() == null ? current : change.row();
            return change.decision();
        }

        /**
         * Returns a new row after the write that creates it: a retry of that write finds its own row and changes
         * nothing.
         */
        EffectLedger.@Nullable EffectRow made() {
            RunProgressBatchItem maker = null;
            EffectLedger.EffectRow row = null;
            for (RowOperation event : events) {
                if (event.row() != null && (maker == null || maker == event.turn())) {
                    maker = event.turn();
                    row = event.row();
                }
            }
            return found == null ? row : null;
        }

        /** Returns the row after all writes that are not deferred; null if it did not change. */
        EffectLedger.@Nullable EffectRow changed() {
            EffectLedger.EffectRow last = null;
            for (RowOperation event : events) {
                if (event.row() != null && !event.turn().deferred) {
                    last = event.row();
                }
            }
            return lost || last == null || last.equals(found == null ? made() : found) ? null : last;
        }
    }

    /** @param others rows that commands of this batch change later, locked here to keep the lock order */
    void apply(List<RunProgressBatchItem> turns, Collection<EffectLedger.EffectId> others) throws SQLException {
        TreeMap<EffectLedger.EffectId, LedgerRowState> cells = new TreeMap<>();
        others.forEach(id -> cells.put(id, new LedgerRowState()));
        turns.forEach(turn -> turn.ops.forEach(op -> cells.put(op.id(), new LedgerRowState())));
        if (cells.isEmpty()) {
            return;
        }
        lock(cells);
        for (RunProgressBatchItem turn : turns) {
            for (EffectLedger.LedgerOperation op : turn.ops) {
                turn.verdicts.add(cell(cells, op.id()).apply(turn, op, now));
            }
        }
        insert(cells);
        settle(cells, turns);
        count(cells.values());
        List<EffectLedger.EffectRow> changed = new ArrayList<>();
        for (LedgerRowState cell : cells.values()) {
            EffectLedger.EffectRow row = cell.changed();
            if (row != null) {
                changed.add(row);
            }
        }
        if (!changed.isEmpty()) {
            bind(new ArrayStatement<>(session, UPDATE, changed)).update();
        }
        insertPast(cells.values());
    }

    private void insertPast(Collection<LedgerRowState> cells) throws SQLException {
        List<EffectLedger.EffectRow> past = new ArrayList<>();
        for (LedgerRowState cell : cells) {
            for (RowOperation event : cell.events) {
                if (event.past() != null && !cell.lost && !event.turn().deferred) {
                    past.add(event.past());
                }
            }
        }
        if (!past.isEmpty()) {
            bind(new ArrayStatement<>(session, INSERT_PAST, past)
                            .ids(row -> row.holder().run()))
                    .update();
        }
    }

    /** Counts the operations that changed the ledger; none did on a row that another batch inserted meanwhile. */
    private void count(Collection<LedgerRowState> cells) {
        for (LedgerRowState cell : cells) {
            for (RowOperation event : cell.events) {
                if (!cell.lost && !event.turn().deferred) {
                    counted.countEffect(event.op(), event.row());
                }
            }
        }
    }

    private void lock(TreeMap<EffectLedger.EffectId, LedgerRowState> cells) throws SQLException {
        List<EffectLedger.EffectRow> found = new ArrayStatement<>(session, LOCK, cells.keySet())
                .ints(EffectLedger.EffectId::workspace)
                .texts(EffectLedger.EffectId::digest)
                .list(EffectLedgerRepository::mapRow);
        for (EffectLedger.EffectRow row : found) {
            LedgerRowState cell = cell(cells, row.id());
            cell.found = row;
            cell.current = row;
        }
    }

    private void insert(TreeMap<EffectLedger.EffectId, LedgerRowState> cells) throws SQLException {
        List<EffectLedger.EffectRow> rows = new ArrayList<>();
        for (LedgerRowState cell : cells.values()) {
            EffectLedger.EffectRow made = cell.made();
            if (made != null) {
                rows.add(made);
            }
        }
        if (rows.isEmpty()) {
            return;
        }
        Set<EffectLedger.EffectId> inserted = new HashSet<>(bind(new ArrayStatement<>(session, INSERT, rows))
                .list(row -> new EffectLedger.EffectId(row.getInt(1), row.getString(2))));
        for (EffectLedger.EffectRow row : rows) {
            cell(cells, row.id()).lost = !inserted.contains(row.id());
        }
    }

    /**
     * Defers reservations whose verdict is invalid, because it depends on a row that another batch inserted. A
     * settlement or a copy on such a row does nothing, now or later.
     */
    private static void settle(Map<EffectLedger.EffectId, LedgerRowState> cells, List<RunProgressBatchItem> turns) {
        boolean more = cells.values().stream().anyMatch(cell -> cell.lost);
        while (more) {
            more = false;
            for (LedgerRowState cell : cells.values()) {
                boolean shaken = cell.lost;
                for (RowOperation event : cell.events) {
                    if (shaken && event.isReservation() && !event.turn().deferred) {
                        RunProgressBatchItem.defer(event.turn(), turns);
                        more = true;
                    }
                    shaken |= event.turn().deferred && event.row() != null;
                }
            }
        }
    }

    private static LedgerRowState cell(Map<EffectLedger.EffectId, LedgerRowState> cells, EffectLedger.EffectId id) {
        LedgerRowState cell = cells.get(id);
        if (cell == null) {
            throw new IllegalStateException("PostgreSQL returned a ledger row that the batch did not query");
        }
        return cell;
    }

    private static ArrayStatement<EffectLedger.EffectRow> bind(ArrayStatement<EffectLedger.EffectRow> statement)
            throws SQLException {
        return statement
                .ints(row -> row.id().workspace())
                .texts(row -> row.id().digest())
                .texts(row -> row.holder().step())
                .ids(row -> row.holder().run())
                .ints(row -> row.holder().claim())
                .ints(row -> row.holder().turn())
                .ints(row -> row.state().code())
                .ints(EffectLedger.EffectRow::generation)
                .ints(EffectLedger.EffectRow::attempt)
                .longs(EffectLedger.EffectRow::firstAt)
                .longs(EffectLedger.EffectRow::acceptedAt)
                .longs(EffectLedger.EffectRow::window)
                .longs(EffectLedger.EffectRow::expiresAt)
                .texts(EffectLedger.EffectRow::dataDigest)
                .texts(EffectLedger.EffectRow::result)
                .texts(row -> row.details().key())
                .texts(row -> row.details().path())
                .texts(row -> row.details().workflowId())
                .texts(row -> row.details().protection())
                .texts(row -> row.details().does())
                .texts(row -> row.details().object())
                .texts(row -> row.details().worth())
                .texts(row -> row.lastSend().key())
                .longs(row -> row.lastSend().at())
                .texts(row -> row.lastSend().content());
    }
}
