package dev.semel.run;

import java.math.BigInteger;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Encodes 128-bit ids as 22 base-62 digits of fixed width, so that the texts sort like the numbers. */
public final class Base62 {
    static final int DIGITS = 22;
    private static final char[] ALPHABET =
            "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".toCharArray();
    private static final int[] VALUE = new int[128];
    private static final BigInteger LIMIT = BigInteger.ONE.shiftLeft(128);

    static {
        Arrays.fill(VALUE, -1);
        for (int i = 0; i < ALPHABET.length; i++) {
            VALUE[ALPHABET[i]] = i;
        }
    }

    private Base62() {}

    public static String encode(long high, long low) {
        char[] out = new char[DIGITS];
        long h = high;
        long l = low;
        for (int i = DIGITS - 1; i >= 0; i--) {
            // Long division of the 128 bits by 62, in four 32-bit parts so that no step overflows.
            long part = Integer.toUnsignedLong((int) (h >>> 32));
            long q3 = part / 62;
            part = (part % 62) << 32 | Integer.toUnsignedLong((int) h);
            long q2 = part / 62;
            part = (part % 62) << 32 | Integer.toUnsignedLong((int) (l >>> 32));
            long q1 = part / 62;
            part = (part % 62) << 32 | Integer.toUnsignedLong((int) l);
            long q0 = part / 62;
            out[i] = ALPHABET[(int) (part % 62)];
            h = q3 << 32 | q2;
            l = q1 << 32 | q0;
        }
        return new String(out);
    }

    /** The two halves; null if the text is not 22 digits that fit into 128 bits. */
    static long @Nullable [] decode(String text, int from) {
        BigInteger value = BigInteger.ZERO;
        for (int i = from; i < text.length(); i++) {
            char c = text.charAt(i);
            int digit = c < 128 ? VALUE[c] : -1;
            if (digit < 0) {
                return null;
            }
            value = value.multiply(BigInteger.valueOf(62)).add(BigInteger.valueOf(digit));
        }
        if (value.compareTo(LIMIT) >= 0) {
            return null;
        }
        return new long[] {value.shiftRight(64).longValue(), value.longValue()};
    }
}
