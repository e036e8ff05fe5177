package dev.semel.store.postgres;

import dev.semel.run.RunId;
import dev.semel.store.StoreWrite;
import dev.semel.store.StoredRows;
import dev.semel.store.jdbc.JdbcSession;
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
final class EventBatchWriter {
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

    private final JdbcSession session;
    private final AdmissionBatchWriter.BatchContext moment;

    EventBatchWriter(JdbcSession session, AdmissionBatchWriter.BatchContext moment) {
        this.session = session;
        this.moment = moment;
    }

    /** The primary key of an event row. */
    private record EventRowId(int ws, String event) implements Comparable<EventRowId> {
        static EventRowId of(StoredRows.EventRow event) {
            return new EventRowId(event.ws(), event.eventId());
        }

        @Override
        public int compareTo(EventRowId other) {
            return ws != other.ws ? Integer.compare(ws, other.ws) : event.compareTo(other.event);
        }
    }

    void apply(List<PostgresWriteLane.IndexedWrite<StoreWrite.SaveEvent>> keeps, Object[] outcomes)
            throws SQLException {
        Map<EventRowId, StoredRows.EventRow> now = new TreeMap<>();
        Map<EventRowId, StoredRows.EventRow> asked = new TreeMap<>();
        for (PostgresWriteLane.IndexedWrite<StoreWrite.SaveEvent> keep : keeps) {
            StoredRows.EventRow event = keep.write().event();
            if (keep.write().catalogVersion() == moment.catalogRevision()) {
                // Of two equal events in a batch the first is stored; a statement cannot update a row twice.
                now.merge(EventRowId.of(event), event, StoredRows.EventRow::withMatchesOf);
            } else {
                asked.put(EventRowId.of(event), event);
            }
        }
        Map<EventRowId, RunId> rows = new HashMap<>();
        insert(List.copyOf(now.values()), rows);
        now.forEach((id, event) -> {
            if (!rows.containsKey(id)) {
                asked.put(id, event);
            }
        });
        look(List.copyOf(asked.keySet()), rows);
        for (PostgresWriteLane.IndexedWrite<StoreWrite.SaveEvent> keep : keeps) {
            StoredRows.EventRow event = keep.write().event();
            boolean own = event.seq().equals(rows.get(EventRowId.of(event)));
            outcomes[keep.position()] = own || keep.write().catalogVersion() == moment.catalogRevision()
                    ? new StoreWrite.SaveEventResult.Saved(own)
                    : new StoreWrite.SaveEventResult.CatalogChanged();
        }
    }

    private void insert(List<StoredRows.EventRow> events, Map<EventRowId, RunId> rows) throws SQLException {
        if (events.isEmpty()) {
            return;
        }
        PreparedStatement statement = session.prepare(KEEP);
        new ArrayParameterBinder(session, statement)
                .value(moment.now())
                .ints(events.stream().mapToInt(StoredRows.EventRow::ws).toArray())
                .texts(events.stream().map(StoredRows.EventRow::eventId).toArray(String[]::new))
                .bytes(events.stream().map(event -> event.seq().bytes()).toArray(byte[][]::new))
                .ints(events.stream()
                        .mapToInt(event -> event.triggerSource().code())
                        .toArray())
                .texts(events.stream().map(StoredRows.EventRow::source).toArray(String[]::new))
                .texts(events.stream().map(StoredRows.EventRow::id).toArray(String[]::new))
                .texts(events.stream().map(StoredRows.EventRow::type).toArray(String[]::new))
                .texts(events.stream().map(StoredRows.EventRow::body).toArray(String[]::new))
                .texts(events.stream().map(StoredRows.EventRow::actor).toArray(String[]::new))
                .texts(events.stream().map(StoredRows.EventRow::correlationId).toArray(String[]::new))
                .ints(events.stream().mapToInt(StoredRows.EventRow::matched).toArray())
                .texts(events.stream().map(StoredRows.EventRow::notes).toArray(String[]::new));
        read(statement, rows);
    }

    private void look(List<EventRowId> ids, Map<EventRowId, RunId> rows) throws SQLException {
        if (ids.isEmpty()) {
            return;
        }
        PreparedStatement statement = session.prepare(SEQS);
        new ArrayParameterBinder(session, statement)
                .ints(ids.stream().mapToInt(EventRowId::ws).toArray())
                .texts(ids.stream().map(EventRowId::event).toArray(String[]::new));
        read(statement, rows);
    }

    private static void read(PreparedStatement statement, Map<EventRowId, RunId> rows) throws SQLException {
        try (ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                rows.put(new EventRowId(row.getInt(1), row.getString(2)), RunId.of(row.getBytes(3)));
            }
        }
    }
}
