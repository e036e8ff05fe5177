package dev.semel.store;

import dev.semel.json.Sha256;
import dev.semel.run.RunId;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * @param source the name of the webhook source
 * @param at by the store's clock; 0 if it is not stored yet
 * @param eventId the provider's id; empty if the server rejected the delivery before it was parsed
 * @param note explains the verdict; never part of the payload
 * @param payload the body; null if the delivery was rejected, was a duplicate, or its payload has expired
 */
public record InboundWebhookDelivery(
        RunId id,
        int ws,
        String source,
        long at,
        String eventId,
        String type,
        DeliveryOutcome outcome,
        String note,
        @Nullable String payload) {

    /** The codes are stored; rejected deliveries have the higher codes. */
    public enum DeliveryOutcome {
        ACCEPTED(1),
        /** A delivery with the same id, or with the same signature, came before. */
        REPLAYED(2),
        /** Accepted, but the same signature came before with another id. */
        FLAGGED(3),
        INVALID_SIGNATURE(4),
        STALE(5),
        REJECTED(6);

        private final int code;

        DeliveryOutcome(int code) {
            this.code = code;
        }

        public int code() {
            return code;
        }

        public boolean isRejected() {
            return code >= INVALID_SIGNATURE.code;
        }

        public static DeliveryOutcome of(int code) {
            for (DeliveryOutcome deliveryOutcome : values()) {
                if (deliveryOutcome.code == code) {
                    return deliveryOutcome;
                }
            }
            throw new IllegalArgumentException("no webhook verdict has the code " + code);
        }
    }

    /**
     * @param signature of a delivery whose id or type is not signed; null if both are signed
     * @param window microseconds for which id, signature and row are kept
     * @param payloadRetention microseconds for which the payload is kept
     */
    public record DedupSettings(
            @Nullable String signature, SignatureReuse signatureReuse, long window, long payloadRetention) {}

    /** What happens if a signature comes again with another id or type. */
    public enum SignatureReuse {
        /** It is a duplicate of the first delivery that had the signature. */
        REPLAY,
        /** As {@link #REPLAY}, but the first delivery of each type is accepted and flagged. */
        REPLAY_SAME_TYPE,
        FLAG,
        REJECT,
        ALLOW
    }

    /** Per source and hour, so that forgeries cannot fill the disk. */
    public static final int MAX_REJECTED_PER_HOUR = 100;

    static final long HOUR = 3_600_000_000L;

    /** The start of the hour for which rejected deliveries are counted. */
    public static long hourOf(long now) {
        return now - now % HOUR;
    }

    /**
     * @param signedFor the id and type that first came with this signature, as returned by {@link #signedIdentity};
     *     null if signatures are not remembered
     * @param repeated whether the id came before
     */
    public InboundWebhookDelivery evaluate(
            long now, SignatureReuse reuse, @Nullable String signedFor, boolean repeated) {
        String first = signedFor == null || reuse == SignatureReuse.ALLOW ? signedIdentity() : signedFor;
        boolean renamed = isRenamed(first);
        boolean retyped = !renamed && first.indexOf('\n') >= 0 && !first.equals(signedIdentity());
        String said = renamed || retyped ? reuseNote(first) : note;
        DeliveryOutcome judged;
        if ((renamed || retyped) && reuse == SignatureReuse.REJECT) {
            judged = DeliveryOutcome.REJECTED;
        } else if (retyped) {
            judged = DeliveryOutcome.FLAGGED; // no provider repeats a delivery with another type
        } else if (repeated) {
            judged = DeliveryOutcome.REPLAYED;
        } else {
            judged = renamed ? DeliveryOutcome.FLAGGED : DeliveryOutcome.ACCEPTED;
        }
        boolean kept = judged == DeliveryOutcome.ACCEPTED || judged == DeliveryOutcome.FLAGGED;
        return new InboundWebhookDelivery(id, ws, source, now, eventId, type, judged, said, kept ? payload : null);
    }

    /**
     * Returns this delivery as a duplicate of the first delivery with its signature.
     *
     * @param first id and type that first came with the signature
     */
    public InboundWebhookDelivery asSignatureReplay(long now, String first) {
        return new InboundWebhookDelivery(
                id, ws, source, now, eventId, type, DeliveryOutcome.REPLAYED, reuseNote(first), null);
    }

    private boolean isRenamed(String first) {
        return !first.equals(eventId) && !first.startsWith(eventId + "\n");
    }

    private String reuseNote(String first) {
        return "the same signature came before with another " + (isRenamed(first) ? "id" : "type");
    }

    /** Whether the signature first came with another type. */
    public boolean isRetyped(String first) {
        return !first.endsWith("\n" + type);
    }

    /** The dedup key of a signature. */
    public static String signatureKey(String signature) {
        return "sig " + signature;
    }

    /** The dedup key of a signature together with this delivery's type, for providers that send one body with several types. */
    public String signatureAndTypeKey(String signature) {
        return signatureKey(signature) + " " + digest(type.getBytes(StandardCharsets.UTF_8));
    }

    /** Id and type that the signature is remembered for, so that a delivery with exchanged id or type is detected. */
    public String signedIdentity() {
        return eventId + "\n" + type;
    }

    /** A long id is replaced by its digest, because indexes limit the length of texts. */
    public static String dedupKey(String eventId) {
        byte[] bytes = eventId.getBytes(StandardCharsets.UTF_8);
        return bytes.length <= LONGEST_MARK ? "id " + eventId : "id sha256 " + digest(bytes);
    }

    private static final int LONGEST_MARK = 1_100;

    private static String digest(byte[] bytes) {
        return HexFormat.of().formatHex(Sha256.digest(bytes));
    }

    /** Returns a rejected delivery as it is stored: without its payload. */
    public InboundWebhookDelivery asRejected(long now) {
        return new InboundWebhookDelivery(id, ws, source, now, eventId, type, outcome, note, null);
    }
}
