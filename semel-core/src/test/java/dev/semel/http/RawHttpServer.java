package dev.semel.http;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/** A socket that counts requests before it answers them, all in one way: with a text, by closing, or not at all. */
final class RawHttpServer implements AutoCloseable {
    private static final String HANG = "hang";

    private final ServerSocket socket;
    private final List<ReceivedRequest> requests = new CopyOnWriteArrayList<>();
    private final List<Socket> open = new CopyOnWriteArrayList<>();
    private volatile @Nullable String answer;

    RawHttpServer() {
        try {
            socket = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        Thread.ofVirtual().start(this::accept);
    }

    /** The head of a request. */
    record ReceivedRequest(String head) {
        String header(String name) {
            return head.lines()
                    .filter(line -> line.regionMatches(true, 0, name + ":", 0, name.length() + 1))
                    .map(line -> line.substring(name.length() + 1).strip())
                    .findFirst()
                    .orElse("");
        }
    }

    URI uri() {
        return URI.create("http://127.0.0.1:" + socket.getLocalPort());
    }

    List<ReceivedRequest> requests() {
        return requests;
    }

    /** From now on; null closes after the request was read. */
    void answers(@Nullable String text) {
        answer = text;
    }

    void hangs() {
        answer = HANG;
    }

    private void accept() {
        while (!socket.isClosed()) {
            try {
                Socket one = socket.accept();
                open.add(one);
                Thread.ofVirtual().start(() -> serve(one));
            } catch (IOException e) {
                return;
            }
        }
    }

    private void serve(Socket one) {
        try (one) {
            while (true) {
                String head = head(one.getInputStream());
                if (head == null) {
                    return;
                }
                requests.add(new ReceivedRequest(head));
                String text = answer;
                if (text == null) {
                    return;
                }
                if (text.equals(HANG)) {
                    one.getInputStream().read(); // until the client gives up
                    return;
                }
                one.getOutputStream().write(text.getBytes(StandardCharsets.UTF_8));
                one.getOutputStream().flush();
                if (text.contains("half")) {
                    return;
                }
            }
        } catch (IOException e) {
            // The client has gone, which is its business.
        }
    }

    private static @Nullable String head(InputStream in) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        while (!out.toString(StandardCharsets.ISO_8859_1).endsWith("\r\n\r\n")) {
            int c = in.read();
            if (c < 0) {
                return null;
            }
            out.write(c);
        }
        String head = out.toString(StandardCharsets.ISO_8859_1);
        String length = new ReceivedRequest(head).header("Content-Length");
        in.readNBytes(length.isEmpty() ? 0 : Integer.parseInt(length));
        return head;
    }

    @Override
    public void close() {
        try {
            socket.close();
            for (Socket one : open) {
                one.close();
            }
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
