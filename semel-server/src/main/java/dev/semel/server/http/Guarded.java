package dev.semel.server.http;

import io.helidon.common.buffers.BufferData;
import io.helidon.common.buffers.DataReader;
import io.helidon.common.buffers.DataWriter;
import io.helidon.common.concurrency.limits.Limit;
import io.helidon.common.socket.HelidonSocket;
import io.helidon.http.DirectHandler.EventType;
import io.helidon.http.RequestException;
import io.helidon.http.Status;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.ConnectionContext;
import io.helidon.webserver.spi.ServerConnection;
import java.io.UncheckedIOException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * One connection: the web server's own, with a {@link Gate} before its reader and a deadline on everything that a
 * peer can make us wait for.
 */
final class Guarded implements ServerConnection {
    private static final long NO_DEADLINE = 0;
    /** How long and how much of an unread body is thrown away before closing, so that the peer can read its answer. */
    private static final Duration LINGER = Duration.ofSeconds(1);

    private static final long LINGER_BYTES = 1 << 20;

    private final Settings settings;
    private final Connections connections;
    private final HelidonSocket socket;
    private final Gate gate;
    private final ServerConnection inner;

    /** In terms of {@link System#nanoTime}; written by the connection's thread, read by the one that cuts. */
    private volatile long deadline = NO_DEADLINE;

    private long headDeadline = NO_DEADLINE;
    private long bodyDeadline = NO_DEADLINE;
    private boolean first = true;
    private boolean faulty;

    Guarded(ConnectionContext context, Guard guard) {
        this.settings = guard.settings();
        this.connections = guard.connections();
        this.socket = context.serverSocket();
        this.gate = new Gate(this::readSocket, settings, guard.largestBody());
        this.inner = guard.http1()
                .connection(
                        new GuardedContext(context, DataReader.create(this::read), new Timed(context.dataWriter())));
    }

    @Override
    public void handle(Limit limit) throws InterruptedException {
        connections.add(this);
        try {
            inner.handle(limit);
        } finally {
            if (gate.inBody() && !faulty) {
                linger();
            }
            connections.remove(this);
        }
    }

    /** Always busy: idle connections have a deadline like all others, and Helidon need not look for them. */
    @Override
    public Duration idleTime() {
        return Duration.ZERO;
    }

    /** A gentle close is left to {@link HttpServer#stop}, which lets requests in flight finish first. */
    @Override
    public void close(boolean interrupt) {
        if (interrupt) {
            inner.close(true);
            cut();
        }
    }

    boolean overdue(long now) {
        long limit = deadline;
        return limit != NO_DEADLINE && now - limit >= 0;
    }

    void cut() {
        try {
            socket.close();
        } catch (UncheckedIOException e) {
            // It was closed already, which is what was wanted.
        }
    }

    private byte @Nullable [] read() {
        try {
            return gate.next();
        } catch (Fault.Found e) {
            faulty = true;
            throw RequestException.builder()
                    .type(EventType.BAD_REQUEST)
                    .status(Status.create(e.fault().status()))
                    .message(e.fault().text())
                    .safeMessage(true)
                    .setKeepAlive(false)
                    .build();
        }
    }

    private byte @Nullable [] readSocket() {
        deadline = readDeadline();
        try {
            return socket.get();
        } catch (UncheckedIOException e) {
            throw new CloseConnectionException("The peer is gone or was cut", e);
        } finally {
            deadline = NO_DEADLINE;
        }
    }

    private long readDeadline() {
        long now = System.nanoTime();
        if (gate.inBody()) {
            headDeadline = NO_DEADLINE;
            bodyDeadline = bodyDeadline == NO_DEADLINE ? after(now, settings.bodyTimeout()) : bodyDeadline;
            return bodyDeadline;
        }
        bodyDeadline = NO_DEADLINE;
        if (!gate.idle()) {
            headDeadline = headDeadline == NO_DEADLINE ? after(now, settings.headTimeout()) : headDeadline;
            return headDeadline;
        }
        headDeadline = NO_DEADLINE;
        // Whoever connects has something to say: the long idle time is for those who have said something.
        Duration quiet = first ? settings.headTimeout() : settings.idleTimeout();
        first = false;
        return after(now, quiet);
    }

    private static long after(long now, Duration time) {
        long at = now + time.toNanos();
        return at == NO_DEADLINE ? 1 : at;
    }

    /** Closing with unread bytes resets the connection, and the peer may lose the answer that says why. */
    private void linger() {
        deadline = after(System.nanoTime(), LINGER);
        long thrownAway = 0;
        try {
            byte[] bytes = socket.get();
            while (bytes != null && thrownAway < LINGER_BYTES) {
                thrownAway += bytes.length;
                bytes = socket.get();
            }
        } catch (UncheckedIOException e) {
            // The peer is gone or was cut; nobody waits for an answer any more.
        }
    }

    /** Writes with a deadline, for peers that ask and do not read. */
    private final class Timed implements DataWriter {
        private final DataWriter writer;

        Timed(DataWriter writer) {
            this.writer = writer;
        }

        @Override
        public void write(BufferData... buffers) {
            timed(() -> writer.write(buffers));
        }

        @Override
        public void write(BufferData buffer) {
            timed(() -> writer.write(buffer));
        }

        @Override
        public void writeNow(BufferData... buffers) {
            timed(() -> writer.writeNow(buffers));
        }

        @Override
        public void writeNow(BufferData buffer) {
            timed(() -> writer.writeNow(buffer));
        }

        @Override
        public void flush() {
            timed(writer::flush);
        }

        @Override
        public void close() {
            writer.close();
        }

        private void timed(Runnable write) {
            deadline = after(System.nanoTime(), settings.writeTimeout());
            try {
                write.run();
            } finally {
                deadline = NO_DEADLINE;
            }
        }
    }
}
