package dev.semel.server.http.transport;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A raw connection: what we write is what the server gets, byte for byte. */
public final class RawConnection implements AutoCloseable {
    /** Far longer than anything here takes; only a broken server runs into it. */
    private static final int PATIENCE_MILLIS = 20_000;

    private final Socket socket;
    private final InputStream in;

    RawConnection(int port) throws IOException {
        this.socket = new Socket("127.0.0.1", port);
        socket.setSoTimeout(PATIENCE_MILLIS);
        socket.setTcpNoDelay(true);
        this.in = socket.getInputStream();
    }

    public RawConnection send(String text) throws IOException {
        return send(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    RawConnection send(byte[] bytes) throws IOException {
        socket.getOutputStream().write(bytes);
        socket.getOutputStream().flush();
        return this;
    }

    /** How long a read may block before it throws. */
    RawConnection patience(int millis) throws IOException {
        socket.setSoTimeout(millis);
        return this;
    }

    /** Reads one answer with a Content-Length, or one without a body. */
    public RawResponse reply() throws IOException {
        RawResponse head = head();
        String length = head.header("content-length");
        byte[] body = in.readNBytes(length == null ? 0 : Integer.parseInt(length));
        return new RawResponse(head.status, head.headers, new String(body, StandardCharsets.UTF_8));
    }

    /** One answer, or null where the server closed without one. */
    @Nullable
    RawResponse replyOrNull() {
        try {
            return reply();
        } catch (IOException e) {
            return null;
        }
    }

    /** Reads up to the empty line behind the headers. */
    RawResponse head() throws IOException {
        ByteArrayOutputStream head = new ByteArrayOutputStream();
        int matched = 0;
        while (matched < 4) {
            int b = in.read();
            if (b < 0) {
                throw new IOException("closed after: " + head.toString(StandardCharsets.ISO_8859_1));
            }
            head.write(b);
            matched = b == "\r\n\r\n".charAt(matched) ? matched + 1 : b == '\r' ? 1 : 0;
        }
        String[] lines = head.toString(StandardCharsets.ISO_8859_1).split("\r\n");
        return new RawResponse(
                Integer.parseInt(lines[0].split(" ")[1]), List.of(lines).subList(1, lines.length), "");
    }

    /** Reads one chunk; the last one is empty. */
    String chunk() throws IOException {
        StringBuilder size = new StringBuilder();
        for (int b = in.read(); b != '\n'; b = in.read()) {
            if (b < 0) {
                throw new IOException("closed inside a chunk");
            }
            size.append((char) b);
        }
        byte[] data = in.readNBytes(Integer.parseInt(size.toString().strip(), 16));
        in.readNBytes(2);
        return new String(data, StandardCharsets.UTF_8);
    }

    /** Everything until the server closes; a reset counts as closed. */
    public String untilClosed() throws IOException {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        try {
            for (int b = in.read(); b >= 0; b = in.read()) {
                all.write(b);
            }
        } catch (SocketException e) {
            // The server closed while bytes of ours were still unread.
        }
        return all.toString(StandardCharsets.ISO_8859_1);
    }

    /** Sends a byte, waits a moment for the close, sends another. @return how many went out */
    int dripUntilClosed(int atMost) throws IOException {
        patience(10);
        for (int sent = 0; sent < atMost; sent++) {
            try {
                send("x");
                if (in.read() < 0) {
                    return sent;
                }
            } catch (SocketTimeoutException e) {
                // Still open: the next byte, please.
            } catch (SocketException e) {
                return sent;
            }
        }
        return atMost;
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }

    public record RawResponse(int status, List<String> headers, String body) {
        @Nullable
        public String header(String name) {
            List<String> values = headers(name);
            return values.isEmpty() ? null : values.getFirst();
        }

        List<String> headers(String name) {
            List<String> out = new ArrayList<>();
            for (String line : headers) {
                int colon = line.indexOf(':');
                if (line.substring(0, colon).equalsIgnoreCase(name)) {
                    out.add(line.substring(colon + 1).strip());
                }
            }
            return out;
        }
    }
}
