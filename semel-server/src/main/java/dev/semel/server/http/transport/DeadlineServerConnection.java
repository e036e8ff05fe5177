package dev.semel.server.http.transport;

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
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Deadlines apply to every read and write; {@link InboundHttpRequestFramer} validates requests before Helidon. */
final class DeadlineServerConnection implements ServerConnection {
    /** The connection whose thread this is. */
    static final ScopedValue<DeadlineServerConnection> CURRENT = ScopedValue.newInstance();

    private static final long NO_DEADLINE = 0;
    /** Limits for discarding an unread body before closing, so that the client can read the response. */
    private static final Duration LINGER = Duration.ofSeconds(1);

    private static final long LINGER_BYTES = 1 << 20;

    private final HttpServerSettings settings;
    private final InboundConnectionDeadlineMonitor connections;
    private final HelidonSocket socket;
    private final InboundHttpRequestFramer requestFramer;
    private final ServerConnection inner;

    private final String network;
    private final AtomicReference<ConnectionPhase> phase = new AtomicReference<>(ConnectionPhase.BUSY);
    /** When the wait for the next request began; a {@link System#nanoTime} value. */
    private volatile long waitingSince;

    /** A {@link System#nanoTime} value. The connection's thread writes it, the deadline thread reads it. */
    private volatile long deadline = NO_DEADLINE;

    private long headDeadline = NO_DEADLINE;
    private long bodyDeadline = NO_DEADLINE;
    private boolean first = true;
    private boolean faulty;
    private TotalRequestBodyMemoryLimit.@Nullable BodyMemory bodyMemory;

    /** Only a waiting connection may be closed for another one: the server has not read its request yet. */
    private enum ConnectionPhase {
        WAITING,
        BUSY,
        EVICTED
    }

    DeadlineServerConnection(ConnectionContext context, DeadlineConnectionSelector guard) {
        this.settings = guard.settings();
        this.connections = guard.connections();
        this.socket = context.serverSocket();
        this.network = connections.networkOf(context.remotePeer().host());
        this.requestFramer = new InboundHttpRequestFramer(this::readSocket, settings, guard.largestBody());
        this.inner = guard.http1()
                .connection(new DeadlineConnectionContext(
                        context, DataReader.create(this::read), new DeadlineWriter(context.dataWriter())));
    }

    @Override
    public void handle(Limit limit) throws InterruptedException {
        try {
            if (!connections.add(this)) {
                closeSocket();
                return;
            }
            ScopedValue.where(CURRENT, this).call(() -> {
                inner.handle(limit);
                return true;
            });
        } finally {
            if (requestFramer.inBody() && !faulty) {
                linger();
            }
            connections.remove(this);
        }
    }

    /** Always zero: idle connections have a deadline here, so Helidon must not close them. */
    @Override
    public Duration idleTime() {
        return Duration.ZERO;
    }

    /** Ignores a graceful close: {@link HttpServer#stop} first lets requests in flight finish. */
    @Override
    public void close(boolean interrupt) {
        if (interrupt) {
            inner.close(true);
            closeSocket();
        }
    }

    /** Counts the body of the current request, with the bytes that arrived together with its head. */
    void countBody(TotalRequestBodyMemoryLimit.BodyMemory memory) {
        bodyMemory = memory;
        requireBodyMemory();
    }

    /** What the server discards from now on is not counted. */
    void countNoBody() {
        bodyMemory = null;
    }

    private void requireBodyMemory() {
        if (bodyMemory != null && !bodyMemory.growTo(requestFramer.bodyBytes())) {
            throw InboundRequestErrorFactory.bodyMemoryFull();
        }
    }

    /** What limits per address count; empty for a trusted proxy, which carries many clients. */
    String network() {
        return network;
    }

    boolean isWaiting() {
        return phase.get() == ConnectionPhase.WAITING;
    }

    long waitingSince() {
        return waitingSince;
    }

    /** Closes the connection unless a request has arrived. @return whether it was closed */
    boolean evict() {
        boolean evicted = phase.compareAndSet(ConnectionPhase.WAITING, ConnectionPhase.EVICTED);
        if (evicted) {
            closeSocket();
        }
        return evicted;
    }

    boolean isOverdue(long now) {
        long limit = deadline;
        return limit != NO_DEADLINE && now - limit >= 0;
    }

    void closeSocket() {
        try {
            socket.close();
        } catch (UncheckedIOException e) {
            // The socket is closed already.
        }
    }

    private byte @Nullable [] read() {
        try {
            byte[] next = requestFramer.readNext();
            requireBodyMemory();
            return next;
        } catch (HttpRequestSyntaxError.MalformedRequestException e) {
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
        boolean waits = !requestFramer.inBody();
        if (requestFramer.idle()) {
            waitingSince = System.nanoTime();
        }
        deadline = readDeadline();
        try {
            phase.compareAndSet(ConnectionPhase.BUSY, waits ? ConnectionPhase.WAITING : ConnectionPhase.BUSY);
            byte[] bytes = socket.get();
            if (waits && !phase.compareAndSet(ConnectionPhase.WAITING, ConnectionPhase.BUSY)) {
                throw new CloseConnectionException("The connection was closed for a newer one");
            }
            return bytes;
        } catch (UncheckedIOException e) {
            throw new CloseConnectionException("The client disconnected or exceeded its deadline", e);
        } finally {
            deadline = NO_DEADLINE;
        }
    }

    private long readDeadline() {
        long now = System.nanoTime();
        if (requestFramer.inBody()) {
            headDeadline = NO_DEADLINE;
            bodyDeadline =
                    bodyDeadline == NO_DEADLINE ? after(now, settings.timeouts().body()) : bodyDeadline;
            return bodyDeadline;
        }
        bodyDeadline = NO_DEADLINE;
        if (!requestFramer.idle()) {
            headDeadline =
                    headDeadline == NO_DEADLINE ? after(now, settings.timeouts().head()) : headDeadline;
            return headDeadline;
        }
        headDeadline = NO_DEADLINE;
        // A new connection must send a request soon; the longer idle timeout applies after its first request.
        Duration idle = first ? settings.timeouts().head() : settings.timeouts().idle();
        first = false;
        return after(now, idle);
    }

    private static long after(long now, Duration time) {
        long at = now + time.toNanos();
        return at == NO_DEADLINE ? 1 : at;
    }

    /** Discards unread bytes: closing with unread bytes resets the connection, and the client may lose the response. */
    private void linger() {
        deadline = after(System.nanoTime(), LINGER);
        long discarded = 0;
        try {
            byte[] bytes = socket.get();
            while (bytes != null && discarded < LINGER_BYTES) {
                discarded += bytes.length;
                bytes = socket.get();
            }
        } catch (UncheckedIOException e) {
            // The connection is closed; no client waits for the response.
        }
    }

    /** Writes with a deadline, for clients that do not read their response. */
    private final class DeadlineWriter implements DataWriter {
        private final DataWriter writer;

        DeadlineWriter(DataWriter writer) {
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
            deadline = after(System.nanoTime(), settings.timeouts().write());
            try {
                write.run();
            } finally {
                deadline = NO_DEADLINE;
            }
        }
    }
}
