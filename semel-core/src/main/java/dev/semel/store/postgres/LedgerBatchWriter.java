package dev.semel.store.postgres;

import dev.semel.effect.EffectLedger;
import dev.semel.run.RunId;
import dev.semel.store.MetricUpdates;
import dev.semel.store.jdbc.EffectLedgerRepository;
import dev.semel.store.jdbc.JdbcSession;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
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
final class LedgerBatchWriter {
    private static final String LOCK = """
        SELECT e.* FROM unnest(?::int[], ?::text[]) AS u(ws, digest)
        CROSS JOIN LATERAL (
            SELECT ws, digest, step, run, claim, reservation, state, generation, attempt, first_at, accepted_at,
                window_micros, expires_at,
                   data, result, key, path, workflow_id, protection, action, object, worth
            FROM semel_effect e WHERE e.ws = u.ws AND e.digest = u.digest LIMIT 1 FOR NO KEY UPDATE) e
        """;

    private static final String INSERT = """
        INSERT INTO semel_effect (ws, digest, step, run, claim, reservation, state, generation, attempt, first_at,
            accepted_at,
                                  window_micros, expires_at, data, result, key, path, workflow_id, protection, action,
                                      object,
                                  worth)
        SELECT *
        FROM unnest(?::int[], ?::text[], ?::text[], ?::bytea[], ?::int[], ?::int[], ?::int[], ?::int[], ?::int[],
                    ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::text[], ?::text[], ?::text[], ?::text[],
                    ?::text[], ?::text[], ?::text[], ?::text[], ?::text[])
        ON CONFLICT (ws, digest) DO NOTHING RETURNING ws, digest
        """;

    private static final String UPDATE = """
        UPDATE semel_effect e SET step = u.step, run = u.run, claim = u.claim, reservation = u.reservation,
            state = u.state,
            generation = u.generation, attempt = u.attempt, first_at = u.first_at, accepted_at = u.accepted_at,
            window_micros = u.window_micros, expires_at = u.expires_at, data = u.data, result = u.result, key = u.key,
                path = u.path,
            workflow_id = u.workflow_id, protection = u.protection, action = u.action, object = u.object,
                worth = u.worth
        FROM unnest(?::int[], ?::text[], ?::text[], ?::bytea[], ?::int[], ?::int[], ?::int[], ?::int[], ?::int[],
                    ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::text[], ?::text[], ?::text[], ?::text[],
                    ?::text[], ?::text[], ?::text[], ?::text[], ?::text[])
            AS u(ws, digest, step, run, claim, reservation, state, generation, attempt, first_at, accepted_at,
                window_micros, expires_at,
                 data, result, key, path, workflow_id, protection, action, object, worth)
        WHERE e.ws = u.ws AND e.digest = u.digest
        """;

    private final JdbcSession session;
    private final long now;
    private final MetricUpdates counted;

    LedgerBatchWriter(JdbcSession session, long now, MetricUpdates counted) {
        this.counted = counted;
        this.session = session;
        this.now = now;
    }

    /** An operation and the row that it produced; null if it changed nothing. */
    private record RowOperation(
            OwnerWrite turn, EffectLedger.LedgerOperation op, EffectLedger.@Nullable EffectRow row) {
        boolean isReservation() {
            return op instanceof EffectLedger.ReserveSend;
        }
    }

    /** A ledger row and the operations of the batch on it. */
    private static final class LedgerRowState {
        EffectLedger.@Nullable EffectRow found;
        EffectLedger.@Nullable EffectRow current;
        final List<RowOperation> events = new ArrayList<>();
        boolean lost;

        EffectLedger.LedgerDecision apply(OwnerWrite turn, EffectLedger.LedgerOperation op, long now) {
            EffectLedger.LedgerChange change = EffectLedger.apply(current, op, now);
            events.add(new RowOperation(turn, op, change.row()));
            current = change.row() == null ? current : change.row();
            return change.decision();
        }

        /**
         * Returns a new row after the write that creates it: a retry of that write finds its own row and changes
         * nothing.
         */
        EffectLedger.@Nullable EffectRow made() {
            OwnerWrite maker = null;
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
    void apply(List<OwnerWrite> turns, Collection<EffectLedger.EffectId> others) throws SQLException {
        TreeMap<EffectLedger.EffectId, LedgerRowState> cells = new TreeMap<>();
        others.forEach(id -> cells.put(id, new LedgerRowState()));
        turns.forEach(turn -> turn.ops.forEach(op -> cells.put(op.id(), new LedgerRowState())));
        if (cells.isEmpty()) {
            return;
        }
        lock(cells);
        for (OwnerWrite turn : turns) {
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
            PreparedStatement statement = session.prepare(UPDATE);
            bind(new ArrayParameterBinder(session, statement), changed);
            statement.executeUpdate();
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
        PreparedStatement statement = session.prepare(LOCK);
        new ArrayParameterBinder(session, statement)
                .ints(cells.keySet().stream()
                        .mapToInt(EffectLedger.EffectId::workspace)
                        .toArray())
                .texts(cells.keySet().stream()
                        .map(EffectLedger.EffectId::digest)
                        .toArray(String[]::new));
        try (ResultSet result = statement.executeQuery()) {
            while (result.next()) {
                EffectLedger.EffectRow row = EffectLedgerRepository.mapRow(result);
                LedgerRowState cell = cell(cells, row.id());
                cell.found = row;
                cell.current = row;
            }
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
        PreparedStatement statement = session.prepare(INSERT);
        bind(new ArrayParameterBinder(session, statement), rows);
        Set<EffectLedger.EffectId> inserted = new HashSet<>();
        try (ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                inserted.add(new EffectLedger.EffectId(row.getInt(1), row.getString(2)));
            }
        }
        for (EffectLedger.EffectRow row : rows) {
            cell(cells, row.id()).lost = !inserted.contains(row.id());
        }
    }

    /**
     * Defers reservations whose verdict is invalid, because it depends on a row that another batch inserted. A
     * settlement or a copy on such a row does nothing, now or later.
     */
    private static void settle(Map<EffectLedger.EffectId, LedgerRowState> cells, List<OwnerWrite> turns) {
        boolean more = cells.values().stream().anyMatch(cell -> cell.lost);
        while (more) {
            more = false;
            for (LedgerRowState cell : cells.values()) {
                boolean shaken = cell.lost;
                for (RowOperation event : cell.events) {
                    if (shaken && event.isReservation() && !event.turn().deferred) {
                        OwnerWrite.defer(event.turn(), turns);
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

    private static void bind(ArrayParameterBinder arrays, List<EffectLedger.EffectRow> rows) throws SQLException {
        List<EffectLedger.EffectHolder> holders =
                rows.stream().map(EffectLedger.EffectRow::holder).toList();
        List<EffectLedger.EffectDetails> facts =
                rows.stream().map(EffectLedger.EffectRow::details).toList();
        arrays.ints(rows.stream().mapToInt(row -> row.id().workspace()).toArray())
                .texts(rows.stream().map(row -> row.id().digest()).toArray(String[]::new))
                .texts(holders.stream().map(EffectLedger.EffectHolder::step).toArray(String[]::new))
                .bytes(holders.stream()
                        .map(EffectLedger.EffectHolder::run)
                        .map(RunId::bytes)
                        .toArray(byte[][]::new))
                .ints(holders.stream()
                        .mapToInt(EffectLedger.EffectHolder::claim)
                        .toArray())
                .ints(holders.stream().mapToInt(EffectLedger.EffectHolder::turn).toArray())
                .ints(rows.stream().mapToInt(row -> row.state().code()).toArray())
                .ints(rows.stream().mapToInt(EffectLedger.EffectRow::generation).toArray())
                .ints(rows.stream().mapToInt(EffectLedger.EffectRow::attempt).toArray())
                .longs(rows.stream().mapToLong(EffectLedger.EffectRow::firstAt).toArray())
                .longs(rows.stream()
                        .mapToLong(EffectLedger.EffectRow::acceptedAt)
                        .toArray())
                .longs(rows.stream().mapToLong(EffectLedger.EffectRow::window).toArray())
                .longs(rows.stream()
                        .mapToLong(EffectLedger.EffectRow::expiresAt)
                        .toArray())
                .texts(rows.stream().map(EffectLedger.EffectRow::dataDigest).toArray(String[]::new))
                .texts(rows.stream().map(EffectLedger.EffectRow::result).toArray(String[]::new))
                .texts(facts.stream().map(EffectLedger.EffectDetails::key).toArray(String[]::new))
                .texts(facts.stream().map(EffectLedger.EffectDetails::path).toArray(String[]::new))
                .texts(facts.stream()
                        .map(EffectLedger.EffectDetails::workflowId)
                        .toArray(String[]::new))
                .texts(facts.stream()
                        .map(EffectLedger.EffectDetails::protection)
                        .toArray(String[]::new))
                .texts(facts.stream().map(EffectLedger.EffectDetails::does).toArray(String[]::new))
                .texts(facts.stream().map(EffectLedger.EffectDetails::object).toArray(String[]::new))
                .texts(facts.stream().map(EffectLedger.EffectDetails::worth).toArray(String[]::new));
    }
}
