package dev.semel.server.http.transport;

import dev.semel.server.http.transport.HttpRequestSyntaxError.MalformedRequestException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Splits a connection's bytes into validated requests before Helidon parses them. It passes on a complete head that
 * {@link HttpRequestHeadValidator} accepted, then exactly the announced body. It never passes on two requests at once.
 */
final class InboundHttpRequestFramer {
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
    /** Bytes before this index are validated. */
    private int valid;
    /** How many bytes after {@code from} were searched for the end of the head, so that each is searched once. */
    private int scanned;

    private FramingState state = FramingState.HEAD;
    private long remaining;
    private long bodyBytes;

    InboundHttpRequestFramer(Supplier<byte @Nullable []> socket, HttpServerSettings settings, int maxChunk) {
        this.socket = socket;
        this.maxPrologue = settings.maxPrologue();
        this.maxHead = settings.maxPrologue() + settings.maxHeaders();
        this.maxChunk = maxChunk;
    }

    /** The part of a request that the next bytes belong to. */
    enum FramingState {
        HEAD,
        LENGTH,
        CHUNK_SIZE,
        CHUNK,
        CHUNK_END,
        LAST_CHUNK_END
    }

    /** True between two requests, when no byte of the next one has arrived. */
    boolean idle() {
        return state == FramingState.HEAD && from == to;
    }

    boolean inBody() {
        return state != FramingState.HEAD;
    }

    /** How many bytes of the current request's body have arrived. */
    long bodyBytes() {
        return bodyBytes;
    }

    /** Blocks for the next validated bytes. Null when the client closed the connection. */
    byte @Nullable [] readNext() {
        while (true) {
            try {
                validate();
            } catch (MalformedRequestException e) {
                // Deliver the valid head first; the next call finds the fault in the body again.
                if (valid == from) {
                    throw e;
                }
            }
            if (valid > from) {
                return handOver();
            }
            if (!fill()) {
                return null;
            }
        }
    }

    private byte[] handOver() {
        byte[] out;
        if (from == 0 && valid == buffer.length) {
            // The common case: one read contained exactly one request, so no copy is needed.
            out = buffer;
            buffer = NOTHING;
            from = to = valid = 0;
        } else {
            out = Arrays.copyOfRange(buffer, from, valid);
            from = valid;
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
            from = valid = 0;
            to = more.length;
            return true;
        }
        int held = to - from;
        if (buffer.length - to < more.length) {
            byte[] larger = from >= more.length ? buffer : new byte[Math.max(2 * held, held + more.length)];
            System.arraycopy(buffer, from, larger, 0, held);
            buffer = larger;
            valid -= from;
            from = 0;
            to = held;
        }
        System.arraycopy(more, 0, buffer, to, more.length);
        to += more.length;
        return true;
    }

    /** Validates the available bytes, but not past the end of a request. */
    private void validate() {
        boolean more = true;
        while (more && valid < to) {
            more = switch (state) {
                case HEAD -> head();
                case LENGTH -> data(FramingState.HEAD);
                case CHUNK_SIZE -> chunkSize();
                case CHUNK -> data(FramingState.CHUNK_END);
                case CHUNK_END -> lineEnd(FramingState.CHUNK_SIZE);
                case LAST_CHUNK_END -> lineEnd(FramingState.HEAD);
            };
            more &= state != FramingState.HEAD;
        }
    }

    private boolean head() {
        int end = endOfHead();
        if (end - from > maxHead || end < 0 && to - from > maxHead) {
            throw new MalformedRequestException(HttpRequestSyntaxError.HEAD_TOO_LARGE);
        }
        if (end < 0) {
            return false;
        }
        remaining = HttpRequestHeadValidator.validate(buffer, from, end, maxPrologue);
        state = remaining == HttpRequestHeadValidator.CHUNKED
                ? FramingState.CHUNK_SIZE
                : remaining == 0 ? FramingState.HEAD : FramingState.LENGTH;
        valid = end;
        scanned = 0;
        bodyBytes = 0;
        return true;
    }

    private int endOfHead() {
        int i = from + scanned;
        for (; i < to; i++) {
            if (buffer[i] == '\n') {
                if (i == from || buffer[i - 1] != '\r') {
                    throw new MalformedRequestException(HttpRequestSyntaxError.LINE_END);
                }
                if (i - from >= 3 && buffer[i - 2] == '\n') {
                    return i + 1;
                }
            } else if (i > from && buffer[i - 1] == '\r') {
                throw new MalformedRequestException(HttpRequestSyntaxError.LINE_END);
            }
        }
        scanned = i - from;
        return -1;
    }

    private boolean data(FramingState following) {
        int take = (int) Math.min(remaining, to - valid);
        valid += take;
        remaining -= take;
        bodyBytes += take;
        if (remaining > 0) {
            return false;
        }
        state = following;
        return true;
    }

    private boolean chunkSize() {
        long size = 0;
        int i = valid;
        for (; i < to && i - valid <= MAX_SIZE_DIGITS; i++) {
            if (!HexFormat.isHexDigit(buffer[i])) {
                break;
            }
            size = size << 4 | HexFormat.fromHexDigit(buffer[i]);
        }
        int digits = i - valid;
        boolean malformed = digits > MAX_SIZE_DIGITS
                || i < to && (digits == 0 || buffer[i] != '\r')
                || i + 1 < to && buffer[i + 1] != '\n';
        if (malformed) {
            throw new MalformedRequestException(HttpRequestSyntaxError.CHUNK);
        }
        if (i + 1 >= to) {
            return false;
        }
        // Helidon holds a chunk in memory as a whole.
        if (size > maxChunk) {
            throw new MalformedRequestException(HttpRequestSyntaxError.CHUNK_TOO_LARGE);
        }
        valid = i + 2;
        remaining = size;
        state = size == 0 ? FramingState.LAST_CHUNK_END : FramingState.CHUNK;
        return true;
    }

    private boolean lineEnd(FramingState following) {
        if (buffer[valid] != '\r' || to - valid > 1 && buffer[valid + 1] != '\n') {
            throw new MalformedRequestException(HttpRequestSyntaxError.CHUNK);
        }
        if (to - valid < 2) {
            return false;
        }
        valid += 2;
        state = following;
        return true;
    }
}
