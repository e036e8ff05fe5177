package dev.semel.server.http;

import java.util.Arrays;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Stands between the socket and the web server's parser and hands over only bytes that it has understood: a whole
 * head that {@link Head} let through, then exactly the body that this head announced, then the next head. It never
 * hands over two requests at once.
 */
final class Gate {
    private static final byte[] NOTHING = new byte[0];
    /** Eight hex digits are four gigabytes, far above any limit on bodies. */
    private static final int MAX_SIZE_DIGITS = 8;

    private final Supplier<byte @Nullable []> socket;
    private final int maxPrologue;
    private final int maxHead;
    private final int maxChunk;

    private byte[] buffer = NOTHING;
    private int from;
    private int to;
    /** Bytes before this are understood. */
    private int known;
    /** How far behind {@code from} the end of the head was looked for, so that dripping bytes are looked at once. */
    private int scanned;

    private State state = State.HEAD;
    private long remaining;

    Gate(Supplier<byte @Nullable []> socket, Settings settings, int maxChunk) {
        this.socket = socket;
        this.maxPrologue = settings.maxPrologue();
        this.maxHead = settings.maxPrologue() + settings.maxHeaders();
        this.maxChunk = maxChunk;
    }

    enum State {
        HEAD,
        LENGTH,
        CHUNK_SIZE,
        CHUNK,
        CHUNK_END,
        LAST_CHUNK_END
    }

    /** True between two requests, when not a byte of the next one has come. */
    boolean idle() {
        return state == State.HEAD && from == to;
    }

    boolean inBody() {
        return state != State.HEAD;
    }

    /** The next understood bytes, or null when the peer has closed. Blocks. */
    byte @Nullable [] next() {
        while (true) {
            try {
                understand();
            } catch (Fault.Found e) {
                // A fault in the body is the handler's to hear of, behind the head, and is found again next time.
                if (known == from) {
                    throw e;
                }
            }
            if (known > from) {
                return handOver();
            }
            if (!fill()) {
                return null;
            }
        }
    }

    private byte[] handOver() {
        byte[] out;
        if (from == 0 && known == buffer.length) {
            // The common case: one read brought one whole request, and no byte is copied.
            out = buffer;
            buffer = NOTHING;
            from = to = known = 0;
        } else {
            out = Arrays.copyOfRange(buffer, from, known);
            from = known;
        }
        return out;
    }

    private boolean fill() {
        byte[] more = socket.get();
        if (more == null) {
            return false;
        }
        if (from == to) {
            buffer = more;
            from = known = 0;
            to = more.length;
            return true;
        }
        int held = to - from;
        if (buffer.length - to < more.length) {
            byte[] roomier = from >= more.length ? buffer : new byte[Math.max(2 * held, held + more.length)];
            System.arraycopy(buffer, from, roomier, 0, held);
            buffer = roomier;
            known -= from;
            from = 0;
            to = held;
        }
        System.arraycopy(more, 0, buffer, to, more.length);
        to += more.length;
        return true;
    }

    /** Goes on as far as the bytes at hand allow, but not past the end of a request. */
    private void understand() {
        boolean going = true;
        while (going && known < to) {
            going = switch (state) {
                case HEAD -> head();
                case LENGTH -> data(State.HEAD);
                case CHUNK_SIZE -> chunkSize();
                case CHUNK -> data(State.CHUNK_END);
                case CHUNK_END -> lineEnd(State.CHUNK_SIZE);
                case LAST_CHUNK_END -> lineEnd(State.HEAD);
            };
            going &= state != State.HEAD;
        }
    }

    private boolean head() {
        int end = endOfHead();
        if (end - from > maxHead || end < 0 && to - from > maxHead) {
            throw new Fault.Found(Fault.HEAD_TOO_LARGE);
        }
        if (end < 0) {
            return false;
        }
        remaining = Head.check(buffer, from, end, maxPrologue);
        state = remaining == Head.CHUNKED ? State.CHUNK_SIZE : remaining == 0 ? State.HEAD : State.LENGTH;
        known = end;
        scanned = 0;
        return true;
    }

    private int endOfHead() {
        int i = from + scanned;
        for (; i < to; i++) {
            if (buffer[i] == '\n') {
                if (i == from || buffer[i - 1] != '\r') {
                    throw new Fault.Found(Fault.LINE_END);
                }
                if (i - from >= 3 && buffer[i - 2] == '\n') {
                    return i + 1;
                }
            } else if (i > from && buffer[i - 1] == '\r') {
                throw new Fault.Found(Fault.LINE_END);
            }
        }
        scanned = i - from;
        return -1;
    }

    private boolean data(State behind) {
        int take = (int) Math.min(remaining, to - known);
        known += take;
        remaining -= take;
        if (remaining > 0) {
            return false;
        }
        state = behind;
        return true;
    }

    private boolean chunkSize() {
        long size = 0;
        int i = known;
        for (; i < to && i - known <= MAX_SIZE_DIGITS; i++) {
            int digit = hex(buffer[i]);
            if (digit < 0) {
                break;
            }
            size = size << 4 | digit;
        }
        int digits = i - known;
        boolean malformed = digits > MAX_SIZE_DIGITS
                || i < to && (digits == 0 || buffer[i] != '\r')
                || i + 1 < to && buffer[i + 1] != '\n';
        if (malformed) {
            throw new Fault.Found(Fault.CHUNK);
        }
        if (i + 1 >= to) {
            return false;
        }
        // Helidon holds a chunk in memory as a whole.
        if (size > maxChunk) {
            throw new Fault.Found(Fault.CHUNK_TOO_LARGE);
        }
        known = i + 2;
        remaining = size;
        state = size == 0 ? State.LAST_CHUNK_END : State.CHUNK;
        return true;
    }

    private boolean lineEnd(State behind) {
        if (buffer[known] != '\r' || to - known > 1 && buffer[known + 1] != '\n') {
            throw new Fault.Found(Fault.CHUNK);
        }
        if (to - known < 2) {
            return false;
        }
        known += 2;
        state = behind;
        return true;
    }

    private static int hex(byte b) {
        if (b >= '0' && b <= '9') {
            return b - '0';
        }
        int lower = b | 0x20;
        return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
    }
}
