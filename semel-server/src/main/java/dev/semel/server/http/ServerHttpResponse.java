package dev.semel.server.http;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** An immutable HTTP response: status, headers, and a body or a streamed body. */
public final class ServerHttpResponse {
    private static final byte[] NOTHING = new byte[0];
    private static final Set<String> FRAMING = Set.of("content-length", "transfer-encoding", "connection", "date");

    private final int status;
    private final List<HeaderField> fields;
    private final byte[] body;
    private final @Nullable BodyWriter stream;

    private ServerHttpResponse(int status, List<HeaderField> fields, byte[] body, @Nullable BodyWriter stream) {
        if (status < 200 || status > 599) {
            throw new IllegalArgumentException("Status " + status + " is not a final status, 200 to 599");
        }
        this.status = status;
        this.fields = fields;
        this.body = body;
        this.stream = stream;
    }

    /** JSON with `Cache-Control: no-store`, because API responses show the current state. */
    public static ServerHttpResponse json(int status, byte[] body) {
        return new ServerHttpResponse(status, List.of(HeaderField.JSON, HeaderField.NO_STORE), body, null);
    }

    public static ServerHttpResponse of(int status, String contentType, byte[] body) {
        return new ServerHttpResponse(status, List.of(new HeaderField("Content-Type", contentType)), body, null);
    }

    public static ServerHttpResponse empty(int status) {
        return new ServerHttpResponse(status, List.of(), NOTHING, null);
    }

    /** A streamed body; each flush sends one chunk. The connection's thread runs {@code stream} to its end. */
    public static ServerHttpResponse stream(String contentType, BodyWriter stream) {
        return new ServerHttpResponse(
                200, List.of(new HeaderField("Content-Type", contentType), HeaderField.NO_STORE), NOTHING, stream);
    }

    /** Adds a header. Rejects a value that could inject another header line. */
    public ServerHttpResponse with(String name, String value) {
        List<HeaderField> more = new ArrayList<>(fields.size() + 1);
        more.addAll(fields);
        more.add(new HeaderField(name, value));
        return new ServerHttpResponse(status, more, body, stream);
    }

    /**
     * Ends the stream once the condition is false. The condition is evaluated on every flush, so a stream must flush
     * at least every second, also without new bytes.
     */
    public ServerHttpResponse streamWhile(BooleanSupplier holds) {
        BodyWriter inner = stream;
        return inner == null
                ? this
                : new ServerHttpResponse(status, fields, body, out -> {
                    try {
                        inner.writeTo(new GuardedOutputStream(out, holds));
                    } catch (StreamEndedException e) {
                        return; // the chunked body still ends correctly
                    }
                });
    }

    private static final class StreamEndedException extends IOException {
        private static final long serialVersionUID = 1L;
    }

    /** Checks the condition of a stream before each flush. */
    private static final class GuardedOutputStream extends FilterOutputStream {
        private final BooleanSupplier holds;

        GuardedOutputStream(OutputStream out, BooleanSupplier holds) {
            super(out);
            this.holds = holds;
        }

        @Override
        public void write(byte[] bytes, int from, int length) throws IOException {
            out.write(bytes, from, length);
        }

        @Override
        public void flush() throws IOException {
            if (!holds.getAsBoolean()) {
                throw new StreamEndedException();
            }
            out.flush();
        }
    }

    public int status() {
        return status;
    }

    /** The first value of a header, or null. */
    public @Nullable String header(String name) {
        for (HeaderField field : fields) {
            if (field.name.equalsIgnoreCase(name)) {
                return field.value;
            }
        }
        return null;
    }

    public byte[] body() {
        return body;
    }

    public List<HeaderField> fields() {
        return fields;
    }

    @Nullable
    public BodyWriter stream() {
        return stream;
    }

    /** Writes a streamed body. An {@link IOException} means that the client disconnected. */
    @FunctionalInterface
    public interface BodyWriter {
        void writeTo(OutputStream out) throws IOException;
    }

    /** One response header; its constructor rejects names and values that HTTP does not allow. */
    public record HeaderField(String name, String value) {
        static final HeaderField JSON = new HeaderField("Content-Type", "application/json");
        static final HeaderField NO_STORE = new HeaderField("Cache-Control", "no-store");

        public HeaderField {
            if (!isToken(name)) {
                throw new IllegalArgumentException("A header name has a character that HTTP does not allow");
            }
            if (FRAMING.contains(name.toLowerCase(Locale.ROOT))) {
                throw new IllegalArgumentException(name + " is set by the server only");
            }
            for (int i = 0; i < value.length(); i++) {
                if (value.charAt(i) < ' ' || value.charAt(i) > '~') {
                    throw new IllegalArgumentException("Header " + name + " has a character outside visible ASCII");
                }
            }
        }

        private static boolean isToken(String name) {
            for (int i = 0; i < name.length(); i++) {
                char c = name.charAt(i);
                boolean letter = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z';
                if (!letter && !(c >= '0' && c <= '9') && c != '-' && c != '_') {
                    return false;
                }
            }
            return !name.isEmpty();
        }
    }
}
