package dev.semel.store.jdbc;

import dev.semel.run.RunId;
import dev.semel.store.Delivery;
import dev.semel.store.Edit;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Records webhook deliveries, detects repeated ones and deletes expired ones. */
final class DeliveryEdits {
    private static final String ONE = """
        SELECT id, ws, webhook, at, event_id, type, outcome, note, payload FROM semel_webhook_delivery WHERE id = ?
        """;

    private static final String FIRST_OF = """
        SELECT d.id, d.ws, d.webhook, d.at, d.event_id, d.type, d.outcome, d.note, d.payload
        FROM semel_webhook_dedup m JOIN semel_webhook_delivery d ON d.id = m.first_delivery WHERE m.ws = ?
            AND m.webhook = ? AND m.dedup_key = ?
        """;

    private static final String PAGE = """
        SELECT id, ws, webhook, at, event_id, type, outcome, note, CAST(NULL AS text) FROM semel_webhook_delivery
        WHERE ws = ? AND webhook = ? AND id < ? ORDER BY id DESC LIMIT ?
        """;

    private static final String REJECTED = """
        SELECT COUNT(*) FROM (
            SELECT 1 FROM semel_webhook_delivery WHERE ws = ? AND webhook = ? AND outcome >= 4 AND at >= ? LIMIT ?) n
        """;

    private static final String ADD = """
        INSERT INTO semel_webhook_delivery
            (id, ws, webhook, at, event_id, type, outcome, note, payload, payload_until, expires_at)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """;

    // An expired row is taken over by the same statement, so that of two concurrent deliveries exactly one is the
    // first.
    private static final String CLAIM_DEDUP_KEY = """
        INSERT INTO semel_webhook_dedup (ws, webhook, dedup_key, event_id, first_delivery, expires_at)
            VALUES (?, ?, ?, ?, ?, ?)
        ON CONFLICT (ws, webhook, dedup_key) DO UPDATE
            SET event_id = excluded.event_id, first_delivery = excluded.first_delivery, expires_at = excluded.expires_at
            WHERE semel_webhook_dedup.expires_at <= ?
        """;

    private static final String FIND_DEDUP_KEY = """
        SELECT event_id, first_delivery FROM semel_webhook_dedup WHERE ws = ? AND webhook = ? AND dedup_key = ?
        """;

    private static final String EXPIRED = """
        SELECT 1 WHERE EXISTS (SELECT 1 FROM semel_webhook_delivery WHERE expires_at <= ?)
            OR EXISTS (SELECT 1 FROM semel_webhook_delivery WHERE payload IS NOT NULL AND payload_until <= ?)
            OR EXISTS (SELECT 1 FROM semel_webhook_dedup WHERE expires_at <= ?)
        """;

    private static final String DELETE_ROWS = """
        DELETE FROM semel_webhook_delivery WHERE id IN (
            SELECT id FROM semel_webhook_delivery WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)
        """;

    private static final String DELETE_PAYLOADS = """
        UPDATE semel_webhook_delivery SET payload = NULL WHERE id IN (
            SELECT id FROM semel_webhook_delivery WHERE payload IS NOT NULL AND payload_until <= ?
            ORDER BY payload_until LIMIT ?)
        """;

    private static final String DELETE_DEDUP_KEYS = """
        DELETE FROM semel_webhook_dedup WHERE (ws, webhook, dedup_key) IN (
            SELECT ws, webhook, dedup_key FROM semel_webhook_dedup WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)
        """;

    private final Session session;

    DeliveryEdits(Session session) {
        this.session = session;
    }

    @Nullable
    Delivery receive(Edit.Receive receive, long now) throws SQLException {
        Delivery asked = receive.delivery();
        Delivery known = session.one(ONE, DeliveryEdits::read, asked.id());
        if (known != null) {
            return known; // a retry after a lost response
        }
        Delivery evaluated = asked.verdict().turnedAway() ? rejected(asked, now) : evaluated(receive, now);
        if (evaluated != null) {
            add(evaluated, receive.memory());
        }
        return evaluated;
    }

    private @Nullable Delivery rejected(Delivery asked, long now) throws SQLException {
        Long before = session.one(
                REJECTED,
                row -> row.getLong(1),
                asked.ws(),
                asked.hook(),
                Delivery.hourOf(now),
                Delivery.TURNED_AWAY_PER_HOUR);
        return before != null && before >= Delivery.TURNED_AWAY_PER_HOUR ? null : asked.turnedAway(now);
    }

    private Delivery evaluated(Edit.Receive receive, long now) throws SQLException {
        Delivery asked = receive.delivery();
        Delivery.Memory memory = receive.memory();
        Marked signed = memory.signature() == null
                ? null
                : claimDedupKey(receive, "sig " + memory.signature(), asked.signed(), now);
        String signedFor = signed == null ? null : signed.eventId();
        Delivery first = asked.judged(now, memory.reuse(), signedFor, false);
        if (first.verdict() == Delivery.Verdict.REFUSED) {
            return first;
        }
        boolean repeated = !claimDedupKey(receive, Delivery.mark(asked.eventId()), asked.eventId(), now)
                .delivery()
                .equals(asked.id());
        return asked.judged(now, memory.reuse(), signedFor, repeated);
    }

    /** The delivery that first had a dedup key, and its event id. */
    private record Marked(String eventId, RunId delivery) {}

    /** Claims a dedup key and returns the delivery that had it first. */
    private Marked claimDedupKey(Edit.Receive receive, String mark, String what, long now) throws SQLException {
        Delivery asked = receive.delivery();
        long until = now + receive.memory().window();
        session.update(CLAIM_DEDUP_KEY, asked.ws(), asked.hook(), mark, what, asked.id(), until, now);
        Marked marked = session.one(
                FIND_DEDUP_KEY,
                row -> new Marked(row.getString(1), RunId.of(row.getBytes(2))),
                asked.ws(),
                asked.hook(),
                mark);
        if (marked == null) {
            throw new IllegalStateException("The dedup row of a webhook delivery disappeared within its transaction");
        }
        return marked;
    }

    private void add(Delivery row, Delivery.Memory memory) throws SQLException {
        session.update(
                ADD,
                row.id(),
                row.ws(),
                row.hook(),
                row.at(),
                row.eventId(),
                row.type(),
                row.verdict().code(),
                row.note(),
                row.payload(),
                row.at() + memory.payload(),
                row.at() + Math.max(memory.window(), memory.payload()));
    }

    int deleteExpired(int limit, long now) throws SQLException {
        return session.update(DELETE_ROWS, now, limit)
                + session.update(DELETE_PAYLOADS, now, limit)
                + session.update(DELETE_DEDUP_KEYS, now, limit);
    }

    static @Nullable Integer expired(Session session, long now) throws SQLException {
        return session.one(EXPIRED, row -> 1, now, now, now);
    }

    /** @param rest the id before which the page ends, and its limit */
    static List<Delivery> page(Session session, int ws, String hook, List<Object> rest) throws SQLException {
        return session.list(PAGE, DeliveryEdits::read, ws, hook, rest.get(0), rest.get(1));
    }

    static @Nullable Delivery one(Session session, int ws, String hook, RunId id) throws SQLException {
        Delivery row = session.one(ONE, DeliveryEdits::read, id);
        return row != null && row.ws() == ws && row.hook().equals(hook) ? row : null;
    }

    static @Nullable Delivery firstOf(Session session, int ws, String hook, String eventId) throws SQLException {
        return session.one(FIRST_OF, DeliveryEdits::read, ws, hook, Delivery.mark(eventId));
    }

    private static Delivery read(ResultSet row) throws SQLException {
        return new Delivery(
                RunId.of(row.getBytes(1)),
                row.getInt(2),
                row.getString(3),
                row.getLong(4),
                row.getString(5),
                row.getString(6),
                Delivery.Verdict.of(row.getInt(7)),
                row.getString(8),
                row.getString(9));
    }
}
