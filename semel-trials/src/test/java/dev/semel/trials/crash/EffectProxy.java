package dev.semel.trials.crash;

import dev.semel.trials.support.TcpProxy;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Stands between a worker and the {@link Receiver}, and cuts the first POST of a path as its last part says. Everything
 * else passes. Who is cut sees a reset connection, whatever became of the request.
 */
final class EffectProxy extends TcpProxy {
    /** Where the bytes end. */
    enum Cut {
        /** In the middle of the head: the request never arrives as one. */
        REQUEST,
        /** The request arrived, was done and answered; no byte of the answer came through. */
        ANSWER,
        /** So much of the answer came through that its status is known and its end is not. */
        HALF_ANSWER
    }

    private static final int LONGEST = 64 * 1024;

    private final Map<String, Cut> done = new ConcurrentHashMap<>();

    EffectProxy(String receiver) {
        super(URI.create(receiver).getPort());
        start();
    }

    String url() {
        return "http://127.0.0.1:" + port();
    }

    /** Whether the cut that a name asks for was made. */
    boolean happened(String name) {
        return done.containsKey(name);
    }

    @Override
    protected void connected(Socket client) {
        Thread.ofVirtual().start(() -> pass(client));
    }

    private void pass(Socket client) {
        try (client;
                Socket server = connect()) {
            byte[] request = request(client.getInputStream());
            String line = new String(request, StandardCharsets.US_ASCII)
                    .lines()
                    .findFirst()
                    .orElse("");
            String name = line.replaceFirst("^\\S+ \\S*/(\\S+) .*$", "$1");
            Cut cut = Cut.valueOf(name.substring(name.indexOf('.') + 1));
            boolean here = line.startsWith("POST ") && done.putIfAbsent(name, cut) == null;
            OutputStream out = server.getOutputStream();
            if (here && cut == Cut.REQUEST) {
                out.write(request, 0, line.length());
                out.flush();
                reset(client, server);
                return;
            }
            out.write(request);
            out.flush();
            byte[] answer = server.getInputStream().readAllBytes(); // the receiver closes after each answer
            if (!here || cut == Cut.HALF_ANSWER) {
                int length = here ? answer.length - 4 : answer.length;
                client.getOutputStream().write(Arrays.copyOf(answer, length));
                client.getOutputStream().flush();
            }
            if (here && cut == Cut.ANSWER) {
                reset(client, server);
            }
        } catch (IOException e) {
            System.err.println("effect proxy: " + e.getMessage());
        }
    }

    /** Closing now sends a reset instead of a goodbye. */
    private static void reset(Socket... sockets) throws IOException {
        for (Socket socket : sockets) {
            socket.setSoLinger(true, 0);
        }
    }

    /** Head and body of one request. */
    private static byte[] request(InputStream in) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        int last = 0;
        while (last != 0x0d0a0d0a) {
            int next = in.read();
            if (next < 0 || bytes.size() > LONGEST) {
                throw new IOException("no whole request came");
            }
            bytes.write(next);
            last = last << 8 | next;
        }
        int length = bytes.toString(StandardCharsets.US_ASCII)
                .lines()
                .map(line -> line.toLowerCase(Locale.ROOT))
                .filter(line -> line.startsWith("content-length:"))
                .mapToInt(line -> Integer.parseInt(line.substring(15).strip()))
                .findFirst()
                .orElse(0);
        bytes.write(in.readNBytes(length));
        return bytes.toByteArray();
    }
}
