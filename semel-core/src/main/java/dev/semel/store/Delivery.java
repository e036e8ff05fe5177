package dev.semel.store;

import dev.semel.run.RunId;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * A received webhook delivery as the store keeps it, for the delivery list and for redelivery.
 *
 * @param hook the name of the webhook source
 * @param at by the store's clock; 0 if it is not stored yet
 * @param eventId the provider's id; empty if the server rejected the delivery before it was parsed
 * @param note explains the verdict; never part of the payload
 * @param payload the body; null if the delivery was rejected, was a duplicate, or its payload has expired
 */
public record Delivery(
        RunId id,
        int ws,
        String hook,
        long at,
        String eventId,
        String type,
        Verdict verdict,
        String note,
        @Nullable String payload) {

    /**
     * What the server decided about a webhook delivery. The codes are stored; rejected deliveries have the higher
     * codes.
     */
    public enum Verdict {
        ACCEPTED(1),
        /** A delivery with the same id came before. */
        REPEATED(2),
        /** Accepted, but the same signature came before with another id. */
        FLAGGED(3),
        FORGED(4),
        STALE(5),
        REFUSED(6);

        private final int code;

        Verdict(int code) {
            this.code = code;
        }

        public int code() {
            return code;
        }

        public boolean turnedAway() {
            return code >= FORGED.code;
        }

        public static Verdict of(int code) {
            for (Verdict verdict : values()) {
                if (verdict.code == code) {
                    return verdict;
                }
            }
            throw new IllegalArgumentException("no webhook verdict has the code " + code);
        }
    }

    /**
     * What the store remembers of a delivery to detect duplicates, and for how long.
     *
     * @param signature of a delivery whose id or type is not signed; null if both are signed
     * @param window microseconds for which id, signature and row are kept
     * @param payload microseconds for which the payload is kept
     */
    public record Memory(@Nullable String signature, Reuse reuse, long window, long payload) {}

    /** What happens if a signature comes again with another id. */
    public enum Reuse {
        FLAG,
        REJECT,
        ALLOW
    }

    /**
     * The store keeps at most this many rejected deliveries per source and hour, so that forgeries cannot fill the
     * disk.
     */
    public static final int TURNED_AWAY_PER_HOUR = 100;

    static final long HOUR = 3_600_000_000L;

    /** The start of the hour for which rejected deliveries are counted. */
    public static long hourOf(long now) {
        return now - now % HOUR;
    }

    /**
     * Returns the delivery as it is stored, with its verdict.
     *
     * @param signedFor the id and type that first came with this signature, as returned by {@link #signed}; null if
     *     signatures are not remembered
     * @param repeated whether the id came before
     */
    public Delivery judged(long now, Reuse reuse, @Nullable String signedFor, boolean repeated) {
        String first = signedFor == null || reuse == Reuse.ALLOW ? signed() : signedFor;
        boolean renamed = !first.equals(eventId) && !first.startsWith(eventId + "\n");
        boolean retyped = !renamed && first.indexOf('\n') >= 0 && !first.equals(signed());
        String said = renamed
                ? "the same signature came before with another id"
                : retyped ? "the same signature came before with another type" : note;
        Verdict judged;
        if ((renamed || retyped) && reuse == Reuse.REJECT) {
            judged = Verdict.REFUSED;
        } else if (retyped) {
            judged = Verdict.FLAGGED; // no provider repeats a delivery with another type
        } else if (repeated) {
            judged = Verdict.REPEATED;
        } else {
            judged = renamed ? Verdict.FLAGGED : Verdict.ACCEPTED;
        }
        boolean kept = judged == Verdict.ACCEPTED || judged == Verdict.FLAGGED;
        return new Delivery(id, ws, hook, now, eventId, type, judged, said, kept ? payload : null);
    }

    /** Id and type that the signature is remembered for, so that a delivery with exchanged id or type is detected. */
    public String signed() {
        return eventId + "\n" + type;
    }

    /**
     * The deduplication key of an event id. A long id is replaced by its digest, because indexes limit the length of
     * texts.
     */
    public static String mark(String eventId) {
        byte[] bytes = eventId.getBytes(StandardCharsets.UTF_8);
        return bytes.length <= LONGEST_MARK ? "id " + eventId : "id sha256 " + digest(bytes);
    }

    private static final int LONGEST_MARK = 1_100;

    private static String digest(byte[] bytes) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }

    /** Returns a rejected delivery as it is stored: without its payload. */
    public Delivery turnedAway(long now) {
        return new Delivery(id, ws, hook, now, eventId, type, verdict, note, null);
    }
}
