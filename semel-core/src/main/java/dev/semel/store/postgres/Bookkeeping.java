package dev.semel.store.postgres;

import dev.semel.effect.Ledger;
import dev.semel.run.RunId;
import dev.semel.store.Counted;
import dev.semel.store.jdbc.Effects;
import dev.semel.store.jdbc.Session;
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
final class Bookkeeping {
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

    private final Session session;
    private final long now;
    private final Counted counted;

    Bookkeeping(Session session, long now, Counted counted) {
        this.counted = counted;
        this.session = session;
        this.now = now;
    }

    /** An operation and the row that it produced; null if it changed nothing. */
    private record Event(Turn turn, Ledger.Op op, Ledger.@Nullable Row row) {
        boolean isReservation() {
            return op instanceof Ledger.Reserve;
        }
    }

    /** A ledger row and the operations of the batch on it. */
    private static final class Cell {
        Ledger.@Nullable Row found;
        Ledger.@Nullable Row current;
        final List<Event> events = new ArrayList<>();
        boolean lost;

        Ledger.Verdict apply(Turn turn, Ledger.Op op, long now) {
            Ledger.Change change = Ledger.apply(current, op, now);
            events.add(new Event(turn, op, change.row()));
            current = change.row() == null ? current : change.row();
            return change.verdict();
        }

        /**
         * Returns a new row after the write that creates it: a retry of that write finds its own row and changes
         * nothing.
         */
        Ledger.@Nullable Row made() {
            Turn maker = null;
            Ledger.Row row = null;
            for (Event event : events) {
                if (event.row() != null && (maker == null || maker == event.turn())) {
                    maker = event.turn();
                    row = event.row();
                }
            }
            return found == null ? row : null;
        }

        /** Returns the row after all writes that are not deferred; null if it did not change. */
        Ledger.@Nullable Row changed() {
            Ledger.Row last = null;
            for (Event event : events) {
                if (event.row() != null && !event.turn().deferred) {
                    last = event.row();
                }
            }
            return lost || last == null || last.equals(found == null ? made() : found) ? null : last;
        }
    }

    /** @param others rows that commands of this batch change later, locked here to keep the lock order */
    void apply(List<Turn> turns, Collection<Ledger.Id> others) throws SQLException {
        TreeMap<Ledger.Id, Cell> cells = new TreeMap<>();
        others.forEach(id -> cells.put(id, new Cell()));
        turns.forEach(turn -> turn.ops.forEach(op -> cells.put(op.id(), new Cell())));
        if (cells.isEmpty()) {
            return;
        }
        lock(cells);
        for (Turn turn : turns) {
            for (Ledger.Op op : turn.ops) {
                turn.verdicts.add(cell(cells, op.id()).apply(turn, op, now));
            }
        }
        insert(cells);
        settle(cells, turns);
        count(cells.values());
        List<Ledger.Row> changed = new ArrayList<>();
        for (Cell cell : cells.values()) {
            Ledger.Row row = cell.changed();
            if (row != null) {
                changed.add(row);
            }
        }
        if (!changed.isEmpty()) {
            PreparedStatement statement = session.statement(UPDATE);
            bind(new Arrays(session, statement), changed);
            statement.executeUpdate();
        }
    }

    /** Counts the operations that changed the ledger; none did on a row that another batch inserted meanwhile. */
    private void count(Collection<Cell> cells) {
        for (Cell cell : cells) {
            for (Event event : cell.events) {
                if (!cell.lost && !event.turn().deferred) {
                    counted.deed(event.op(), event.row());
                }
            }
        }
    }

    private void lock(TreeMap<Ledger.Id, Cell> cells) throws SQLException {
        PreparedStatement statement = session.statement(LOCK);
        new Arrays(session, statement)
                .ints(cells.keySet().stream().mapToInt(Ledger.Id::workspace).toArray())
                .texts(cells.keySet().stream().map(Ledger.Id::digest).toArray(String[]::new));
        try (ResultSet result = statement.executeQuery()) {
            while (result.next()) {
                Ledger.Row row = Effects.row(result);
                Cell cell = cell(cells, row.id());
                cell.found = row;
                cell.current = row;
            }
        }
    }

    private void insert(TreeMap<Ledger.Id, Cell> cells) throws SQLException {
        List<Ledger.Row> rows = new ArrayList<>();
        for (Cell cell : cells.values()) {
            Ledger.Row made = cell.made();
            if (made != null) {
                rows.add(made);
            }
        }
        if (rows.isEmpty()) {
            return;
        }
        PreparedStatement statement = session.statement(INSERT);
        bind(new Arrays(session, statement), rows);
        Set<Ledger.Id> inserted = new HashSet<>();
        try (ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                inserted.add(new Ledger.Id(row.getInt(1), row.getString(2)));
            }
        }
        for (Ledger.Row row : rows) {
            cell(cells, row.id()).lost = !inserted.contains(row.id());
        }
    }

    /**
     * Defers reservations whose verdict is invalid, because it depends on a row that another batch inserted. A
     * settlement or a copy on such a row does nothing, now or later.
     */
    private static void settle(Map<Ledger.Id, Cell> cells, List<Turn> turns) {
        boolean more = cells.values().stream().anyMatch(cell -> cell.lost);
        while (more) {
            more = false;
            for (Cell cell : cells.values()) {
                boolean shaken = cell.lost;
                for (Event event : cell.events) {
                    if (shaken && event.isReservation() && !event.turn().deferred) {
                        Turn.defer(event.turn(), turns);
                        more = true;
                    }
                    shaken |= event.turn().deferred && event.row() != null;
                }
            }
        }
    }

    private static Cell cell(Map<Ledger.Id, Cell> cells, Ledger.Id id) {
        Cell cell = cells.get(id);
        if (cell == null) {
            throw new IllegalStateException("PostgreSQL returned a ledger row that the batch did not query");
        }
        return cell;
    }

    private static void bind(Arrays arrays, List<Ledger.Row> rows) throws SQLException {
        List<Ledger.Holder> holders = rows.stream().map(Ledger.Row::holder).toList();
        List<Ledger.Facts> facts = rows.stream().map(Ledger.Row::facts).toList();
        arrays.ints(rows.stream().mapToInt(row -> row.id().workspace()).toArray())
                .texts(rows.stream().map(row -> row.id().digest()).toArray(String[]::new))
                .texts(holders.stream().map(Ledger.Holder::step).toArray(String[]::new))
                .bytes(holders.stream()
                        .map(Ledger.Holder::run)
                        .map(RunId::bytes)
                        .toArray(byte[][]::new))
                .ints(holders.stream().mapToInt(Ledger.Holder::claim).toArray())
                .ints(holders.stream().mapToInt(Ledger.Holder::turn).toArray())
                .ints(rows.stream().mapToInt(row -> row.state().code()).toArray())
                .ints(rows.stream().mapToInt(Ledger.Row::generation).toArray())
                .ints(rows.stream().mapToInt(Ledger.Row::attempt).toArray())
                .longs(rows.stream().mapToLong(Ledger.Row::firstAt).toArray())
                .longs(rows.stream().mapToLong(Ledger.Row::acceptedAt).toArray())
                .longs(rows.stream().mapToLong(Ledger.Row::window).toArray())
                .longs(rows.stream().mapToLong(Ledger.Row::expiresAt).toArray())
                .texts(rows.stream().map(Ledger.Row::data).toArray(String[]::new))
                .texts(rows.stream().map(Ledger.Row::result).toArray(String[]::new))
                .texts(facts.stream().map(Ledger.Facts::key).toArray(String[]::new))
                .texts(facts.stream().map(Ledger.Facts::path).toArray(String[]::new))
                .texts(facts.stream().map(Ledger.Facts::workflowId).toArray(String[]::new))
                .texts(facts.stream().map(Ledger.Facts::protection).toArray(String[]::new))
                .texts(facts.stream().map(Ledger.Facts::does).toArray(String[]::new))
                .texts(facts.stream().map(Ledger.Facts::object).toArray(String[]::new))
                .texts(facts.stream().map(Ledger.Facts::worth).toArray(String[]::new));
    }
}
