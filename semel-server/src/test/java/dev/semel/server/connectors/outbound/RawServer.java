package dev.semel.server.connectors.outbound;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/** A bare socket that keeps every byte of every request and answers with whatever bytes a test likes. */
public final class RawServer implements AutoCloseable {
    private static final int PATIENCE_MILLIS = 20_000;

    /** What is done with a connection once a whole request has been read from it. */
    public interface Script {
        void answer(String request, Socket socket) throws IOException;
    }

    private final ServerSocket server;
    private final List<String> requests = new CopyOnWriteArrayList<>();
    private final AtomicInteger connections = new AtomicInteger();
    private volatile Script script = (_, _) -> {};

    public RawServer() {
        this("127.0.0.1", 0);
    }

    public RawServer(String address, int port) {
        this(open(address, port));
    }

    public RawServer(ServerSocket server) {
        this.server = server;
        Thread.ofVirtual().start(this::accept);
    }

    private static ServerSocket open(String address, int port) {
        try {
            return new ServerSocket(port, 100, InetAddress.getByName(address));
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Every request gets this very text. */
    public RawServer answers(String text) {
        return runs((_, socket) -> socket.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1)));
    }

    public RawServer json(String body) {
        return answers("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: "
                + body.getBytes(StandardCharsets.UTF_8).length + "\r\n\r\n" + body);
    }

    public RawServer runs(Script value) {
        script = value;
        return this;
    }

    public int port() {
        return server.getLocalPort();
    }

    public String url(String path) {
        return "http://127.0.0.1:" + port() + path;
    }

    /** The requests that arrived whole: request line, headers and body. */
    public List<String> requests() {
        return requests;
    }

    public int connections() {
        return connections.get();
    }

    /** Waits a moment, or until the client has gone. */
    public static boolean stillThere(Socket socket) throws IOException {
        socket.setSoTimeout(20);
        try {
            return socket.getInputStream().read() >= 0;
        } catch (SocketTimeoutException e) {
            return true;
        }
    }

    private void accept() {
        while (!server.isClosed()) {
            try {
                Socket socket = server.accept();
                connections.incrementAndGet();
                Thread.ofVirtual().start(() -> serve(socket));
            } catch (IOException e) {
                return;
            }
        }
    }

    private void serve(Socket socket) {
        try (socket) {
            socket.setSoTimeout(PATIENCE_MILLIS);
            String request = request(socket.getInputStream());
            if (!request.isEmpty()) {
                requests.add(request);
                script.answer(request, socket);
            }
        } catch (IOException _) {
            // The client went away, or TLS was refused: what counts is what arrived.
        }
    }

    private static String request(InputStream in) throws IOException {
        var text = new StringBuilder();
        while (text.indexOf("\r\n\r\n") < 0) {
            int c = in.read();
            if (c < 0) {
                return text.toString();
            }
            text.append((char) c);
        }
        for (String line : text.toString().split("\r\n")) {
            if (line.startsWith("Content-Length: ")) {
                byte[] body = in.readNBytes(Integer.parseInt(line.substring(16)));
                return text + new String(body, StandardCharsets.UTF_8);
            }
        }
        return text.toString();
    }

    @Override
    public void close() {
        try {
            server.close();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }
}
