package dev.semel.store.postgres;

import dev.semel.run.RunId;
import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreWrite;
import dev.semel.store.jdbc.session.JdbcSession;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Rows are locked near the end of the lock order and sorted, so that two batches never deadlock. */
final class PostgresInboundEventWriter {
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
    private final PostgresTriggerAdmissionWriter.BatchContext context;

    PostgresInboundEventWriter(JdbcSession session, PostgresTriggerAdmissionWriter.BatchContext context) {
        this.session = session;
        this.context = context;
    }

    private record EventRowId(int ws, String event) implements Comparable<EventRowId> {
        static EventRowId of(DatabaseRows.EventRow event) {
            return new EventRowId(event.ws(), event.eventId());
        }

        @Override
        public int compareTo(EventRowId other) {
            return ws != other.ws ? Integer.compare(ws, other.ws) : event.compareTo(other.event);
        }
    }

    void apply(List<PostgresBatchWriter.IndexedWrite<StoreWrite.SaveEvent>> keeps, Object[] outcomes)
            throws SQLException {
        Map<EventRowId, DatabaseRows.EventRow> now = new TreeMap<>();
        Map<EventRowId, DatabaseRows.EventRow> asked = new TreeMap<>();
        for (PostgresBatchWriter.IndexedWrite<StoreWrite.SaveEvent> indexedWrite : keeps) {
            DatabaseRows.EventRow event = indexedWrite.write().event();
            if (indexedWrite.write().catalogVersion() == context.catalogRevision()) {
                // Of two equal events in a batch the first is stored; a statement cannot update a row twice.
                now.merge(EventRowId.of(event), event, DatabaseRows.EventRow::withMatchesOf);
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
        for (PostgresBatchWriter.IndexedWrite<StoreWrite.SaveEvent> indexedWrite : keeps) {
            DatabaseRows.EventRow event = indexedWrite.write().event();
            boolean own = event.seq().equals(rows.get(EventRowId.of(event)));
            outcomes[indexedWrite.position()] =
                    own || indexedWrite.write().catalogVersion() == context.catalogRevision()
                            ? new StoreWrite.SaveEventResult.Saved(own)
                            : new StoreWrite.SaveEventResult.CatalogChanged();
        }
    }

    private void insert(List<DatabaseRows.EventRow> events, Map<EventRowId, RunId> rows) throws SQLException {
        if (events.isEmpty()) {
            return;
        }
        ArrayStatement<DatabaseRows.EventRow> statement = new ArrayStatement<>(session, KEEP, events)
                .value(context.now())
                .ints(DatabaseRows.EventRow::ws)
                .texts(DatabaseRows.EventRow::eventId)
                .ids(DatabaseRows.EventRow::seq)
                .ints(event -> event.triggerSource().code())
                .texts(DatabaseRows.EventRow::source)
                .texts(DatabaseRows.EventRow::id)
                .texts(DatabaseRows.EventRow::type)
                .texts(DatabaseRows.EventRow::body)
                .texts(DatabaseRows.EventRow::actor)
                .texts(DatabaseRows.EventRow::correlationId)
                .ints(DatabaseRows.EventRow::matched)
                .texts(DatabaseRows.EventRow::notes);
        read(statement, rows);
    }

    private void look(List<EventRowId> ids, Map<EventRowId, RunId> rows) throws SQLException {
        if (!ids.isEmpty()) {
            read(new ArrayStatement<>(session, SEQS, ids).ints(EventRowId::ws).texts(EventRowId::event), rows);
        }
    }

    private static void read(ArrayStatement<?> statement, Map<EventRowId, RunId> rows) throws SQLException {
        statement.forEach(row -> rows.put(new EventRowId(row.getInt(1), row.getString(2)), RunId.of(row.getBytes(3))));
    }
}
