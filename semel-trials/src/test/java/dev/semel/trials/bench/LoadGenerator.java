package dev.semel.trials.bench;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.function.LongFunction;

/**
 * A closed-loop load on one thread: each connection sends its next request when its answer is whole. One selector for
 * all connections, so that the load takes as little as it can from the two cores it shares with the server.
 */
final class LoadGenerator {
    private final int port;
    private final int connections;
    private final String path;
    private final LongFunction<String> bodies;

    LoadGenerator(int port, int connections, String path, String body) {
        this(port, connections, path, _ -> body);
    }

    /** @param bodies the body of the nth request */
    LoadGenerator(int port, int connections, String path, LongFunction<String> bodies) {
        this.port = port;
        this.connections = connections;
        this.path = path;
        this.bodies = bodies;
    }

    /** How it went: requests a second and the latency below which 50 and 99 of 100 answers stayed. */
    record Result(long requests, double seconds, double p50Millis, double p99Millis, long replayed) {
        double perSecond() {
            return requests / seconds;
        }
    }

    private static final class Connection {
        final SocketChannel channel;
        final ByteBuffer in = ByteBuffer.allocate(256 * 1024);
        ByteBuffer out = ByteBuffer.allocate(0);
        long sentAt;

        Connection(SocketChannel channel) {
            this.channel = channel;
        }
    }

    /** Runs for that long; {@code keys} names the key of the nth request. */
    Result run(double seconds, LongFunction<String> keys) throws IOException {
        Tally tally = new Tally(keys);
        try (Selector selector = Selector.open()) {
            for (int i = 0; i < connections; i++) {
                SocketChannel channel = SocketChannel.open(new InetSocketAddress("127.0.0.1", port));
                channel.setOption(java.net.StandardSocketOptions.TCP_NODELAY, true);
                channel.configureBlocking(false);
                Connection connection = new Connection(channel);
                channel.register(selector, SelectionKey.OP_READ, connection);
                send(connection, tally);
            }
            long start = System.nanoTime();
            long end = start + (long) (seconds * 1e9);
            while (System.nanoTime() < end) {
                selector.select(100);
                for (SelectionKey key : selector.selectedKeys()) {
                    Connection connection = (Connection) key.attachment();
                    if (connection.out.hasRemaining()) {
                        connection.channel.write(connection.out);
                    }
                    read(connection, tally);
                }
                selector.selectedKeys().clear();
            }
            double took = (System.nanoTime() - start) / 1e9;
            for (SelectionKey key : selector.keys()) {
                key.channel().close();
            }
            return tally.result(took);
        }
    }

    private static final class Tally {
        final LongFunction<String> keys;
        long[] latencies = new long[1 << 20];
        int count;
        long sent;
        long replayed;

        Tally(LongFunction<String> keys) {
            this.keys = keys;
        }

        void answered(long nanos, boolean wasReplayed) {
            if (count == latencies.length) {
                latencies = Arrays.copyOf(latencies, count * 2);
            }
            latencies[count++] = nanos;
            replayed += wasReplayed ? 1 : 0;
        }

        Result result(double seconds) {
            long[] sorted = Arrays.copyOf(latencies, count);
            Arrays.sort(sorted);
            double p50 = count == 0 ? 0 : sorted[count / 2] / 1e6;
            double p99 = count == 0 ? 0 : sorted[(int) (count * 0.99)] / 1e6;
            return new Result(count, seconds, p50, p99, replayed);
        }
    }

    private void send(Connection connection, Tally tally) throws IOException {
        String body = bodies.apply(tally.sent);
        String request = "POST " + path + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer dev\r\n"
                + "Content-Type: application/json\r\nIdempotency-Key: " + tally.keys.apply(tally.sent++)
                + "\r\nContent-Length: " + body.length() + "\r\n\r\n" + body;
        connection.out = ByteBuffer.wrap(request.getBytes(StandardCharsets.US_ASCII));
        connection.sentAt = System.nanoTime();
        connection.channel.write(connection.out);
    }

    private void read(Connection connection, Tally tally) throws IOException {
        int read = connection.channel.read(connection.in);
        if (read < 0) {
            throw new IOException("the server closed a connection under load");
        }
        int length = whole(connection.in);
        if (length > 0) {
            byte[] bytes = connection.in.array();
            if (bytes[9] != '2') {
                throw new IOException("the server answered "
                        + new String(bytes, 0, Math.min(length, 600), StandardCharsets.US_ASCII));
            }
            // The last member says whether it was a repeat: …"idempotent_replayed":true}
            boolean replayed = bytes[length - 2] == 'e' && bytes[length - 3] == 'u';
            tally.answered(System.nanoTime() - connection.sentAt, replayed);
            connection.in.clear();
            send(connection, tally);
        }
    }

    /** The length of the answer in the buffer, or 0 while it is not whole. */
    private static int whole(ByteBuffer in) {
        byte[] bytes = in.array();
        int end = in.position();
        int length = -1;
        for (int i = 0; i + 3 < end; i++) {
            if (bytes[i] == '\r' && bytes[i + 1] == '\n' && bytes[i + 2] == '\r' && bytes[i + 3] == '\n') {
                return length >= 0 && end >= i + 4 + length ? i + 4 + length : 0;
            }
            if (bytes[i] == '\n' && (bytes[i + 1] == 'C' || bytes[i + 1] == 'c') && matches(bytes, i + 1, end)) {
                length = number(bytes, i + 1 + "content-length:".length());
            }
        }
        return 0;
    }

    private static final byte[] LENGTH = "content-length:".getBytes(StandardCharsets.US_ASCII);

    private static boolean matches(byte[] bytes, int at, int end) {
        if (at + LENGTH.length >= end) {
            return false;
        }
        for (int i = 0; i < LENGTH.length; i++) {
            if ((bytes[at + i] | 0x20) != (LENGTH[i] | 0x20)) {
                return false;
            }
        }
        return true;
    }

    private static int number(byte[] bytes, int from) {
        int value = 0;
        for (int i = from; bytes[i] != '\r'; i++) {
            if (bytes[i] >= '0' && bytes[i] <= '9') {
                value = value * 10 + bytes[i] - '0';
            }
        }
        return value;
    }
}
