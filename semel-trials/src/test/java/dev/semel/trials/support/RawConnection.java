package dev.semel.trials.support;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A raw connection: what is written is what the server gets, byte for byte. */
public final class RawConnection implements AutoCloseable {
    /** Far longer than anything takes here; only a broken server runs into it. */
    private static final int PATIENCE_MILLIS = 60_000;

    private final Socket socket;
    private final InputStream in;

    public RawConnection(int port) {
        try {
            this.socket = new Socket("127.0.0.1", port);
            socket.setSoTimeout(PATIENCE_MILLIS);
            socket.setTcpNoDelay(true);
            this.in = socket.getInputStream();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Characters are bytes. */
    public RawConnection send(String text) {
        return send(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    public RawConnection send(byte[] bytes) {
        try {
            socket.getOutputStream().write(bytes);
            socket.getOutputStream().flush();
            return this;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Sends what the server may refuse to take to the end. */
    public RawConnection tryToSend(byte[] bytes) {
        try {
            return send(bytes);
        } catch (UncheckedIOException e) {
            return this; // The server has closed already; its answer may still be there to be read.
        }
    }

    /** Reads one answer. */
    public HttpReply reply() {
        try {
            HttpReply head = head();
            String length = head.header("content-length");
            byte[] body = in.readNBytes(length == null ? 0 : Integer.parseInt(length));
            return new HttpReply(head.status(), head.lines(), new String(body, StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Reads up to the empty line behind the headers. */
    private HttpReply head() throws IOException {
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
        return new HttpReply(
                Integer.parseInt(lines[0].split(" ")[1]), List.of(lines).subList(1, lines.length), "");
    }

    /** One answer, or null where the server closed without one. */
    public @Nullable HttpReply replyOrClosed() {
        try {
            return reply();
        } catch (UncheckedIOException e) {
            return null;
        }
    }

    /** Everything until the server closes; a reset counts as closed. */
    public String untilClosed() {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        try {
            for (int b = in.read(); b >= 0; b = in.read()) {
                all.write(b);
            }
        } catch (SocketException e) {
            // The server closed while bytes of ours were still unread.
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return all.toString(StandardCharsets.ISO_8859_1);
    }

    /** Reads until the server closes or sends this text. */
    public String untilClosedOr(String text) {
        StringBuilder all = new StringBuilder();
        try {
            for (int b = in.read(); b >= 0 && all.indexOf(text) < 0; b = in.read()) {
                all.append((char) b);
            }
        } catch (SocketException e) {
            return all.toString();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return all.toString();
    }

    @Override
    public void close() {
        try {
            socket.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
