package dev.semel.trials.crash;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One client on one kept connection. Not the JDK's client: a trial must know exactly how often it sent something, so
 * nothing here is ever sent again by itself.
 */
final class KeepAliveClient implements AutoCloseable {
    static final String WORKFLOW = "payment_receipt";
    private static final int TIMEOUT_MILLIS = 30_000;

    private final String token;
    private int port;
    private @Nullable Socket socket;
    private @Nullable InputStream in;

    KeepAliveClient(int port) {
        this(port, "dev");
    }

    KeepAliveClient(int port, String token) {
        this.port = port;
        this.token = token;
    }

    /** From now on this server; an open connection to another is given up. */
    void use(int otherPort) {
        if (otherPort != port) {
            close();
            port = otherPort;
        }
    }

    Reply trigger(String key, String body) throws IOException {
        return send("POST /v1/workflows/" + WORKFLOW + "/trigger", "Idempotency-Key: " + key + "\r\n", body);
    }

    Reply get(String path) throws IOException {
        return send("GET " + path, "", "");
    }

    /** @param prologue method and path */
    Reply send(String prologue, String headers, String body) throws IOException {
        byte[] content = body.getBytes(StandardCharsets.UTF_8);
        boolean typed = content.length == 0 || headers.contains("Content-Type:");
        String type = typed ? "" : "Content-Type: application/json\r\n";
        String length = content.length == 0 ? "" : "Content-Length: " + content.length + "\r\n";
        byte[] head = (prologue + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + token + "\r\n" + type
                        + length + headers + "\r\n")
                .getBytes(StandardCharsets.US_ASCII);
        byte[] whole = new byte[head.length + content.length];
        System.arraycopy(head, 0, whole, 0, head.length);
        System.arraycopy(content, 0, whole, head.length, content.length);
        try {
            InputStream answers = connected();
            if (socket != null) {
                socket.getOutputStream().write(whole);
            }
            return read(answers);
        } catch (IOException e) {
            close();
            throw e;
        }
    }

    private InputStream connected() throws IOException {
        if (in == null) {
            Socket fresh = new Socket();
            socket = fresh;
            fresh.setSoTimeout(TIMEOUT_MILLIS);
            fresh.setTcpNoDelay(true);
            fresh.connect(new InetSocketAddress("127.0.0.1", port), TIMEOUT_MILLIS);
            in = new BufferedInputStream(fresh.getInputStream());
        }
        return in;
    }

    private Reply read(InputStream answers) throws IOException {
        String status = line(answers);
        if (!status.startsWith("HTTP/1.1 ")) {
            throw new IOException("no HTTP answer: " + status);
        }
        Map<String, String> headers = new HashMap<>();
        for (String line = line(answers); !line.isEmpty(); line = line(answers)) {
            int colon = line.indexOf(':');
            headers.put(
                    line.substring(0, colon).toLowerCase(Locale.ROOT),
                    line.substring(colon + 1).strip());
        }
        int length = Integer.parseInt(headers.getOrDefault("content-length", "0"));
        byte[] body = answers.readNBytes(length);
        if (body.length < length) {
            throw new EOFException("the answer was cut");
        }
        if ("close".equalsIgnoreCase(headers.get("connection"))) {
            close();
        }
        return new Reply(Integer.parseInt(status.substring(9, 12)), headers, new String(body, StandardCharsets.UTF_8));
    }

    private static String line(InputStream answers) throws IOException {
        StringBuilder line = new StringBuilder();
        for (int c = answers.read(); c != '\n'; c = answers.read()) {
            if (c < 0) {
                throw new EOFException("the connection was cut");
            }
            line.append((char) c);
        }
        return line.toString().stripTrailing();
    }

    @Override
    public void close() {
        Socket old = socket;
        socket = null;
        in = null;
        try {
            if (old != null) {
                old.close();
            }
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }
}
