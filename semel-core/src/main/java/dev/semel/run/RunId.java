package dev.semel.run;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The identity of a run: 128 bits, time first, so that new runs land at the right edge of every index, with enough
 * chance behind it that nobody guesses one. Printed as `run_` and 22 base-62 digits that sort like the bits.
 */
public record RunId(long high, long low) implements Comparable<RunId> {
    private static final String PREFIX = "run_";
    private static final long TWO_HOURS = 2L * 60 * 60 * 1_000_000;
    private static final long LATEST = (1L << 52) - 1;
    private static final int LENGTH = PREFIX.length() + Base62.DIGITS;

    /** Reads what {@link #text} wrote; null for any other text, which may then be a chosen id. */
    public static @Nullable RunId parse(String text) {
        if (text.length() != LENGTH || !text.startsWith(PREFIX)) {
            return null;
        }
        long[] bits = Base62.decode(text, PREFIX.length());
        return bits == null ? null : new RunId(bits[0], bits[1]);
    }

    public static RunId of(byte[] bytes) {
        if (bytes.length != 16) {
            throw new IllegalArgumentException("a run id has 16 bytes, not " + bytes.length);
        }
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        return new RunId(buffer.getLong(), buffer.getLong());
    }

    /**
     * Below every id that was made from then on by a clock that is not wrong by more than two hours. Ids carry the time of
     * the worker that made them, which is not the time of the store.
     */
    public static RunId madeSince(long micros) {
        return at(micros - TWO_HOURS);
    }

    /** Above every id that was made before then, by such a clock: a list of what is older begins here. */
    public static RunId madeUntil(long micros) {
        return at(Math.min(micros, LATEST) + TWO_HOURS);
    }

    private static RunId at(long micros) {
        return new RunId(Math.clamp(micros, 0, LATEST) << 12, 0);
    }

    public String text() {
        return PREFIX + Base62.encode(high, low);
    }

    public byte[] bytes() {
        return ByteBuffer.allocate(16).putLong(high).putLong(low).array();
    }

    /** The order of the bytes, which is the order of both stores. */
    @Override
    public int compareTo(RunId other) {
        int byHigh = Long.compareUnsigned(high, other.high);
        return byHigh != 0 ? byHigh : Long.compareUnsigned(low, other.low);
    }

    @Override
    public String toString() {
        return text();
    }
}
