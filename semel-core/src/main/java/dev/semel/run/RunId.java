package dev.semel.run;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** Time-ordered, so that new runs end every index. The text is `run_` and 22 base-62 digits that sort like the bits. */
public record RunId(long high, long low) implements Comparable<RunId> {
    private static final String PREFIX = "run_";
    private static final long TWO_HOURS = 2L * 60 * 60 * 1_000_000;
    private static final long LATEST = (1L << 52) - 1;
    private static final int LENGTH = PREFIX.length() + Base62.DIGITS;

    /** Smaller than every id that a worker generates. */
    public static final RunId MIN = new RunId(0, 0);

    /** Greater than every id that a worker generates. */
    public static final RunId MAX = new RunId(-1L, -1L);

    /** Parses the text of {@link #text}; null for any other text, which may be a chosen run id. */
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

    /** For ids from this time on, if no clock is wrong by more than two hours: ids contain the time of their worker. */
    public static RunId lowerBoundAt(long micros) {
        return at(micros - TWO_HOURS);
    }

    /** An upper bound of all ids that were generated before this time, with the same tolerance. */
    public static RunId upperBoundAt(long micros) {
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
