package dev.semel.store.jdbc;

import dev.semel.run.RunId;
import dev.semel.store.InboundWebhookDelivery;
import dev.semel.store.StoreWriteCommand;
import dev.semel.store.jdbc.session.JdbcSession;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

final class JdbcInboundWebhookDeliveryWriter {
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

    static final String EXPIRED = """
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

    private final JdbcSession session;

    JdbcInboundWebhookDeliveryWriter(JdbcSession session) {
        this.session = session;
    }

    @Nullable
    InboundWebhookDelivery record(StoreWriteCommand.RecordDelivery receive, long now) throws SQLException {
        InboundWebhookDelivery webhookDelivery = receive.delivery();
        InboundWebhookDelivery known =
                session.queryOne(ONE, JdbcInboundWebhookDeliveryWriter::read, webhookDelivery.id());
        if (known != null) {
            return known; // a retry after a lost response
        }
        InboundWebhookDelivery evaluated =
                webhookDelivery.outcome().isRejected() ? rejected(webhookDelivery, now) : evaluated(receive, now);
        if (evaluated != null) {
            add(evaluated, receive.dedup());
        }
        return evaluated;
    }

    private @Nullable InboundWebhookDelivery rejected(InboundWebhookDelivery webhookDelivery, long now)
            throws SQLException {
        Long before = session.queryOne(
                REJECTED,
                row -> row.getLong(1),
                webhookDelivery.ws(),
                webhookDelivery.source(),
                InboundWebhookDelivery.hourOf(now),
                InboundWebhookDelivery.MAX_REJECTED_PER_HOUR);
        return before != null && before >= InboundWebhookDelivery.MAX_REJECTED_PER_HOUR
                ? null
                : webhookDelivery.asRejected(now);
    }

    private InboundWebhookDelivery evaluated(StoreWriteCommand.RecordDelivery receive, long now) throws SQLException {
        InboundWebhookDelivery webhookDelivery = receive.delivery();
        InboundWebhookDelivery.DedupSettings memory = receive.dedup();
        FirstDelivery signed = memory.signature() == null
                ? null
                : claimDedupKey(
                        receive,
                        InboundWebhookDelivery.signatureKey(memory.signature()),
                        webhookDelivery.signedIdentity(),
                        now);
        String signedFor = signed == null ? null : signed.eventId();
        if (signed != null && isSignatureReplay(receive, signed, now)) {
            return webhookDelivery.asSignatureReplay(now, signed.eventId());
        }
        InboundWebhookDelivery first = webhookDelivery.evaluate(now, memory.signatureReuse(), signedFor, false);
        if (first.outcome() == InboundWebhookDelivery.DeliveryOutcome.REJECTED) {
            return first;
        }
        boolean repeated = !claimDedupKey(
                        receive,
                        InboundWebhookDelivery.dedupKey(webhookDelivery.eventId()),
                        webhookDelivery.eventId(),
                        now)
                .delivery()
                .equals(webhookDelivery.id());
        return webhookDelivery.evaluate(now, memory.signatureReuse(), signedFor, repeated);
    }

    /** Whether another id or type has the signature of an earlier delivery, and the webhook treats it as a duplicate. */
    private boolean isSignatureReplay(StoreWriteCommand.RecordDelivery receive, FirstDelivery signed, long now)
            throws SQLException {
        InboundWebhookDelivery delivery = receive.delivery();
        String signature = receive.dedup().signature();
        if (signature == null || signed.eventId().equals(delivery.signedIdentity())) {
            return false;
        }
        return switch (receive.dedup().signatureReuse()) {
            case REPLAY -> true;
            case REPLAY_SAME_TYPE ->
                !delivery.isRetyped(signed.eventId())
                        || !claimDedupKey(
                                        receive,
                                        delivery.signatureAndTypeKey(signature),
                                        delivery.signedIdentity(),
                                        now)
                                .delivery()
                                .equals(delivery.id());
            case FLAG, REJECT, ALLOW -> false;
        };
    }

    private record FirstDelivery(String eventId, RunId delivery) {}

    /** Claims a dedup key and returns the delivery that had it first. */
    private FirstDelivery claimDedupKey(StoreWriteCommand.RecordDelivery receive, String mark, String what, long now)
            throws SQLException {
        InboundWebhookDelivery webhookDelivery = receive.delivery();
        long until = now + receive.dedup().window();
        session.update(
                CLAIM_DEDUP_KEY,
                webhookDelivery.ws(),
                webhookDelivery.source(),
                mark,
                what,
                webhookDelivery.id(),
                until,
                now);
        FirstDelivery marked = session.queryOne(
                FIND_DEDUP_KEY,
                row -> new FirstDelivery(row.getString(1), RunId.of(row.getBytes(2))),
                webhookDelivery.ws(),
                webhookDelivery.source(),
                mark);
        if (marked == null) {
            throw new IllegalStateException("The dedup row of a webhook delivery disappeared within its transaction");
        }
        return marked;
    }

    private void add(InboundWebhookDelivery row, InboundWebhookDelivery.DedupSettings memory) throws SQLException {
        session.update(
                ADD,
                row.id(),
                row.ws(),
                row.source(),
                row.at(),
                row.eventId(),
                row.type(),
                row.outcome().code(),
                row.note(),
                row.payload(),
                row.at() + memory.payloadRetention(),
                row.at() + Math.max(memory.window(), memory.payloadRetention()));
    }

    int deleteExpired(int limit, long now) throws SQLException {
        return session.update(DELETE_ROWS, now, limit)
                + session.update(DELETE_PAYLOADS, now, limit)
                + session.update(DELETE_DEDUP_KEYS, now, limit);
    }

    static List<InboundWebhookDelivery> list(JdbcSession session, int ws, String webhook, RunId before, int limit)
            throws SQLException {
        return session.queryList(PAGE, JdbcInboundWebhookDeliveryWriter::read, ws, webhook, before, limit);
    }

    static @Nullable InboundWebhookDelivery find(JdbcSession session, int ws, String webhook, RunId id)
            throws SQLException {
        InboundWebhookDelivery row = session.queryOne(ONE, JdbcInboundWebhookDeliveryWriter::read, id);
        return row != null && row.ws() == ws && row.source().equals(webhook) ? row : null;
    }

    static @Nullable InboundWebhookDelivery findFirst(JdbcSession session, int ws, String webhook, String dedupKey)
            throws SQLException {
        return session.queryOne(FIRST_OF, JdbcInboundWebhookDeliveryWriter::read, ws, webhook, dedupKey);
    }

    private static InboundWebhookDelivery read(ResultSet row) throws SQLException {
        return new InboundWebhookDelivery(
                RunId.of(row.getBytes(1)),
                row.getInt(2),
                row.getString(3),
                row.getLong(4),
                row.getString(5),
                row.getString(6),
                InboundWebhookDelivery.DeliveryOutcome.of(row.getInt(7)),
                row.getString(8),
                row.getString(9));
    }
}
