package dev.semel.store.jdbc;

import dev.semel.admission.TriggerSource;
import dev.semel.run.RunId;
import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreQueries;
import dev.semel.store.StoreWrite;
import dev.semel.store.StoreWriteCommand;
import dev.semel.store.jdbc.session.JdbcSession;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

public final class InboundEventRepository {
    // A repeated event updates the row only if it matches more workflows than before, so that it is no longer
    // unmatched. After seven days (in microseconds) the same id counts as a new event, which replaces the row.
    private static final String KEEP = """
        INSERT INTO semel_event (ws, event_hash, seq, trigger_source, source, id, type, body, at, actor,
            correlation_id, match_count, notes)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (ws, event_hash) DO UPDATE SET match_count = EXCLUDED.match_count, notes = EXCLUDED.notes,
            seq = CASE WHEN semel_event.at <= EXCLUDED.at - 604800000000 THEN EXCLUDED.seq ELSE semel_event.seq END,
            type = CASE WHEN semel_event.at <= EXCLUDED.at - 604800000000 THEN EXCLUDED.type ELSE semel_event.type END,
            body = CASE WHEN semel_event.at <= EXCLUDED.at - 604800000000 THEN EXCLUDED.body ELSE semel_event.body END,
            actor = CASE WHEN semel_event.at <= EXCLUDED.at - 604800000000 THEN EXCLUDED.actor ELSE semel_event.actor END,
            correlation_id = CASE WHEN semel_event.at <= EXCLUDED.at - 604800000000 THEN EXCLUDED.correlation_id
                ELSE semel_event.correlation_id END,
            at = CASE WHEN semel_event.at <= EXCLUDED.at - 604800000000 THEN EXCLUDED.at ELSE semel_event.at END
        WHERE semel_event.match_count < EXCLUDED.match_count OR semel_event.at <= EXCLUDED.at - 604800000000
        """;

    private static final String SEQ = "SELECT seq FROM semel_event WHERE ws = ? AND event_hash = ?";

    private static final String ONE = """
        SELECT ws, event_hash, seq, trigger_source, source, id, type, body, at, actor, correlation_id, match_count,
            notes
        FROM semel_event WHERE ws = ? AND event_hash = ?
        """;

    private static final String LIST = """
        SELECT ws, event_hash, seq, trigger_source, source, id, type,
            CASE WHEN length(body) > 4096 THEN '' ELSE body END, at, actor,
               correlation_id, match_count, notes
        FROM (SELECT * FROM semel_event WHERE ws = ? AND seq < ? ORDER BY seq DESC LIMIT ?) e
        WHERE at >= ? AND (? = '' OR type = ?) AND (? = '' OR source = ?) ORDER BY seq DESC LIMIT ?
        """;

    private static final String UNMATCHED = """
        SELECT ws, event_hash, seq, trigger_source, source, id, type,
            CASE WHEN length(body) > 4096 THEN '' ELSE body END, at, actor,
               correlation_id, match_count, notes
        FROM (SELECT * FROM semel_event WHERE ws = ? AND seq < ? AND match_count = 0 ORDER BY seq DESC LIMIT ?) e
        WHERE at >= ? AND (? = '' OR type = ?) AND (? = '' OR source = ?) ORDER BY seq DESC LIMIT ?
        """;

    private static final String REACHED = """
        SELECT seq, at FROM semel_event WHERE ws = ? AND seq < ? ORDER BY seq DESC LIMIT 1 OFFSET ?
        """;

    private static final String REACHED_UNMATCHED = """
        SELECT seq, at FROM semel_event WHERE ws = ? AND seq < ? AND match_count = 0 ORDER BY seq DESC LIMIT 1 OFFSET ?
        """;

    // By workspace, because the time order is per workspace; each workspace costs one look at its oldest event.
    private static final String OLD = """
        SELECT ws, event_hash, at FROM (SELECT ws, event_hash, at FROM semel_event WHERE ws = ? ORDER BY seq LIMIT ?) e
        WHERE at < ?
        """;

    private static final String DELETE = "DELETE FROM semel_event WHERE ws = ? AND event_hash = ? AND at = ?";

    private InboundEventRepository() {}

    /** Stores one event. If its own row exists, the write is a retry after a lost response and was in time. */
    public static StoreWrite.SaveEventResult save(
            JdbcSession session, StoreWrite.SaveEvent saveEvent, long now, long change) throws SQLException {
        DatabaseRows.EventRow event = saveEvent.event();
        if (saveEvent.catalogVersion() != change) {
            return isOwn(session, event)
                    ? new StoreWrite.SaveEventResult.Saved(true)
                    : new StoreWrite.SaveEventResult.CatalogChanged();
        }
        session.update(
                KEEP,
                event.ws(),
                event.eventId(),
                event.seq(),
                event.triggerSource().code(),
                event.source(),
                event.id(),
                event.type(),
                event.body(),
                now,
                event.actor(),
                event.correlationId(),
                event.matched(),
                event.notes());
        return new StoreWrite.SaveEventResult.Saved(isOwn(session, event));
    }

    private static boolean isOwn(JdbcSession session, DatabaseRows.EventRow event) throws SQLException {
        RunId seq = session.queryOne(SEQ, row -> RunId.of(row.getBytes(1)), event.ws(), event.eventId());
        return event.seq().equals(seq);
    }

    static DatabaseRows.@Nullable EventRow find(JdbcSession session, int ws, String eventId) throws SQLException {
        return session.queryOne(ONE, InboundEventRepository::read, ws, eventId);
    }

    /** Scans a bounded number of rows, so that a filter that matches nothing costs no more than a full page. */
    static StoreQueries.EventPage list(JdbcSession session, StoreQueries.EventFilter filter, RunId before)
            throws SQLException {
        String type = filter.type() == null ? "" : filter.type();
        String source = filter.source() == null ? "" : filter.source();
        List<DatabaseRows.EventRow> found = session.queryList(
                filter.unmatched() ? UNMATCHED : LIST,
                InboundEventRepository::read,
                filter.ws(),
                before,
                StoreQueries.EventFilter.MAX_SCANNED,
                filter.since(),
                type,
                type,
                source,
                source,
                filter.limit());
        if (found.size() == filter.limit()) {
            return new StoreQueries.EventPage(found, found.getLast().seq());
        }
        ScanEnd reached = session.queryOne(
                filter.unmatched() ? REACHED_UNMATCHED : REACHED,
                row -> new ScanEnd(RunId.of(row.getBytes(1)), row.getLong(2)),
                filter.ws(),
                before,
                StoreQueries.EventFilter.MAX_SCANNED - 1);
        return new StoreQueries.EventPage(
                found, reached == null || reached.at() < filter.since() ? null : reached.seq());
    }

    /** The last event that a bounded scan read. */
    private record ScanEnd(RunId seq, long at) {}

    static List<StoreWriteCommand.ExpiredEvent> findExpired(JdbcSession session, int ws, long before, int limit)
            throws SQLException {
        return session.queryList(
                OLD,
                row -> new StoreWriteCommand.ExpiredEvent(row.getInt(1), row.getString(2), row.getLong(3)),
                ws,
                limit,
                before);
    }

    static int delete(JdbcSession session, List<StoreWriteCommand.ExpiredEvent> events) throws SQLException {
        int deleted = 0;
        for (StoreWriteCommand.ExpiredEvent event : events) {
            deleted += session.update(DELETE, event.ws(), event.eventId(), event.receivedAt());
        }
        return deleted;
    }

    private static DatabaseRows.EventRow read(ResultSet row) throws SQLException {
        return new DatabaseRows.EventRow(
                row.getInt(1),
                row.getString(2),
                RunId.of(row.getBytes(3)),
                TriggerSource.of(row.getInt(4)),
                row.getString(5),
                row.getString(6),
                row.getString(7),
                row.getString(8),
                row.getLong(9),
                row.getString(10),
                row.getString(11),
                row.getInt(12),
                row.getString(13));
    }
}
