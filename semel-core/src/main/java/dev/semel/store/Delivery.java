package dev.semel.store;

import dev.semel.run.RunId;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * A delivery of a webhook, for people to look at and to be done again.
 *
 * @param hook the name of its source
 * @param at by the store's clock; 0 where it is not stored yet
 * @param eventId the provider's own id; empty where it was turned away before it was read
 * @param note what there is to say about the verdict; never a part of the payload
 * @param payload what it said; null where it was turned away, came before, or is kept no longer
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

    /** What became of it. The codes are stored; those that were turned away have the higher ones. */
    public enum Verdict {
        ACCEPTED(1),
        /** The id came before. */
        REPEATED(2),
        /** Accepted, but its signature came before under another id. */
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
            throw new IllegalArgumentException("no verdict has the code " + code);
        }
    }

    /**
     * What of a delivery is remembered beside its row.
     *
     * @param signature of a delivery whose id or type is not signed; null: neither can be exchanged
     * @param window microseconds for which id and signature are remembered, and the row is kept
     * @param payload microseconds for which the payload is kept
     */
    public record Memory(@Nullable String signature, Reuse reuse, long window, long payload) {}

    /** What is done where a signature comes again under another id. */
    public enum Reuse {
        FLAG,
        REJECT,
        ALLOW
    }

    /** So many that were turned away are kept for a source and an hour: nobody fills the disk with forgeries. */
    public static final int TURNED_AWAY_PER_HOUR = 100;

    static final long HOUR = 3_600_000_000L;

    /** Since when those that were turned away are counted. */
    public static long hourOf(long now) {
        return now - now % HOUR;
    }

    /**
     * As it is stored.
     *
     * @param signedFor what its signature came first for, as {@link #signed} says it; null where signatures are not
     *     remembered
     * @param repeated whether the id came before
     */
    public Delivery judged(long now, Reuse reuse, @Nullable String signedFor, boolean repeated) {
        String first = signedFor == null || reuse == Reuse.ALLOW ? signed() : signedFor;
        boolean renamed = !first.equals(eventId) && !first.startsWith(eventId + "\n");
        boolean retyped = !renamed && first.indexOf('\n') >= 0 && !first.equals(signed());
        String said = renamed
                ? "the signature came before under another id"
                : retyped ? "the signature came before with another type" : note;
        Verdict judged;
        if ((renamed || retyped) && reuse == Reuse.REJECT) {
            judged = Verdict.REFUSED;
        } else if (retyped) {
            judged = Verdict.FLAGGED; // no provider repeats a delivery as something else
        } else if (repeated) {
            judged = Verdict.REPEATED;
        } else {
            judged = renamed ? Verdict.FLAGGED : Verdict.ACCEPTED;
        }
        boolean kept = judged == Verdict.ACCEPTED || judged == Verdict.FLAGGED;
        return new Delivery(id, ws, hook, now, eventId, type, judged, said, kept ? payload : null);
    }

    /** What its signature is remembered for: whoever sends it again as something else is seen. */
    public String signed() {
        return eventId + "\n" + type;
    }

    /** Under what an id is remembered. Of a long one it is a digest, since an index takes no long texts. */
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

    /** One that was turned away, as it is stored: without what it said. */
    public Delivery turnedAway(long now) {
        return new Delivery(id, ws, hook, now, eventId, type, verdict, note, null);
    }
}
