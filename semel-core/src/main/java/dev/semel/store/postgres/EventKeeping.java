package dev.semel.store.postgres;

import dev.semel.run.RunId;
import dev.semel.store.Rows;
import dev.semel.store.Write;
import dev.semel.store.jdbc.Session;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Stores the inbound events of a batch in one statement. Its rows are locked near the end of the lock order and sorted,
 * so that two batches never deadlock.
 */
final class EventKeeping {
    // differs: one statement for many events. A repeated event updates the row only if it matches more workflows than
    // before, or replaces it after seven days (in microseconds).
    private static final String KEEP = """
        INSERT INTO semel_event (ws, event_hash, seq, trigger_source, source, id, type, body, at, actor,
            correlation_id, match_count, notes)
        SELECT u.ws, u.event_hash, u.seq, u.trigger_source, u.source, u.id, u.type, u.body, ?, u.actor,
            u.correlation_id, u.match_count,
               u.notes
        FROM unnest(?::int[], ?::text[], ?::bytea[], ?::int[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[],
                    ?::text[], ?::int[], ?::text[])
            AS u(ws, event_hash, seq, trigger_source, source, id, type, body, actor, correlation_id, match_count, notes)
        ON CONFLICT (ws, event_hash) DO UPDATE SET match_count = EXCLUDED.match_count, notes = EXCLUDED.notes,
            seq = CASE WHEN semel_event.at <= EXCLUDED.at - 604800000000 THEN EXCLUDED.seq ELSE semel_event.seq END,
            type = CASE WHEN semel_event.at <= EXCLUDED.at - 604800000000 THEN EXCLUDED.type ELSE semel_event.type END,
            body = CASE WHEN semel_event.at <= EXCLUDED.at - 604800000000 THEN EXCLUDED.body ELSE semel_event.body END,
            actor = CASE WHEN semel_event.at <= EXCLUDED.at - 604800000000 THEN EXCLUDED.actor ELSE semel_event.actor END,
            correlation_id = CASE WHEN semel_event.at <= EXCLUDED.at - 604800000000 THEN EXCLUDED.correlation_id
                ELSE semel_event.correlation_id END,
            at = CASE WHEN semel_event.at <= EXCLUDED.at - 604800000000 THEN EXCLUDED.at ELSE semel_event.at END
        WHERE semel_event.match_count < EXCLUDED.match_count OR semel_event.at <= EXCLUDED.at - 604800000000
        RETURNING ws, event_hash, seq
        """;

    private static final String SEQS = """
        SELECT e.ws, e.event_hash, e.seq FROM unnest(?::int[], ?::text[]) AS u(ws, event_hash)
        CROSS JOIN LATERAL (SELECT ws, event_hash, seq FROM semel_event WHERE ws = u.ws AND event_hash = u.event_hash
            LIMIT 1) e
        """;

    private final Session session;
    private final Admitting.Moment moment;

    EventKeeping(Session session, Admitting.Moment moment) {
        this.session = session;
        this.moment = moment;
    }

    /** The primary key of an event row. */
    private record Id(int ws, String event) implements Comparable<Id> {
        static Id of(Rows.Event event) {
            return new Id(event.ws(), event.eventId());
        }

        @Override
        public int compareTo(Id other) {
            return ws != other.ws ? Integer.compare(ws, other.ws) : event.compareTo(other.event);
        }
    }

    void apply(List<PostgresLane.Indexed<Write.Keep>> keeps, Object[] outcomes) throws SQLException {
        Map<Id, Rows.Event> now = new TreeMap<>();
        Map<Id, Rows.Event> asked = new TreeMap<>();
        for (PostgresLane.Indexed<Write.Keep> keep : keeps) {
            Rows.Event event = keep.write().event();
            if (keep.write().change() == moment.change()) {
                // Of two equal events in a batch the first is stored; a statement cannot update a row twice.
                now.merge(Id.of(event), event, Rows.Event::after);
            } else {
                asked.put(Id.of(event), event);
            }
        }
        Map<Id, RunId> rows = new HashMap<>();
        insert(List.copyOf(now.values()), rows);
        now.forEach((id, event) -> {
            if (!rows.containsKey(id)) {
                asked.put(id, event);
            }
        });
        look(List.copyOf(asked.keySet()), rows);
        for (PostgresLane.Indexed<Write.Keep> keep : keeps) {
            Rows.Event event = keep.write().event();
            boolean own = event.seq().equals(rows.get(Id.of(event)));
            outcomes[keep.at()] =
                    own || keep.write().change() == moment.change() ? new Write.Kept.Now(own) : new Write.Kept.Stale();
        }
    }

    private void insert(List<Rows.Event> events, Map<Id, RunId> rows) throws SQLException {
        if (events.isEmpty()) {
            return;
        }
        PreparedStatement statement = session.statement(KEEP);
        new Arrays(session, statement)
                .one(moment.now())
                .ints(events.stream().mapToInt(Rows.Event::ws).toArray())
                .texts(events.stream().map(Rows.Event::eventId).toArray(String[]::new))
                .bytes(events.stream().map(event -> event.seq().bytes()).toArray(byte[][]::new))
                .ints(events.stream().mapToInt(event -> event.door().code()).toArray())
                .texts(events.stream().map(Rows.Event::source).toArray(String[]::new))
                .texts(events.stream().map(Rows.Event::id).toArray(String[]::new))
                .texts(events.stream().map(Rows.Event::type).toArray(String[]::new))
                .texts(events.stream().map(Rows.Event::body).toArray(String[]::new))
                .texts(events.stream().map(Rows.Event::actor).toArray(String[]::new))
                .texts(events.stream().map(Rows.Event::correlationId).toArray(String[]::new))
                .ints(events.stream().mapToInt(Rows.Event::matched).toArray())
                .texts(events.stream().map(Rows.Event::notes).toArray(String[]::new));
        read(statement, rows);
    }

    private void look(List<Id> ids, Map<Id, RunId> rows) throws SQLException {
        if (ids.isEmpty()) {
            return;
        }
        PreparedStatement statement = session.statement(SEQS);
        new Arrays(session, statement)
                .ints(ids.stream().mapToInt(Id::ws).toArray())
                .texts(ids.stream().map(Id::event).toArray(String[]::new));
        read(statement, rows);
    }

    private static void read(PreparedStatement statement, Map<Id, RunId> rows) throws SQLException {
        try (ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                rows.put(new Id(row.getInt(1), row.getString(2)), RunId.of(row.getBytes(3)));
            }
        }
    }
}
