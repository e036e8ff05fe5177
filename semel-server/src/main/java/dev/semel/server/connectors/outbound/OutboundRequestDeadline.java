package dev.semel.server.connectors.outbound;

import java.io.Closeable;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The overall deadline of one outbound request. Socket timeouts restart with every byte and writes have none, so it
 * closes the socket when time is up.
 */
final class OutboundRequestDeadline implements AutoCloseable {
    private final LongSupplier nanos;
    private final long end;
    private final Future<?> alarm;
    private volatile @Nullable Closeable open;
    private volatile boolean hasPassed;

    OutboundRequestDeadline(Duration longest, LongSupplier nanos, ScheduledExecutorService alarms) {
        this.nanos = nanos;
        this.end = nanos.getAsLong() + longest.toNanos();
        this.alarm = alarms.schedule(this::expire, longest.toNanos(), TimeUnit.NANOSECONDS);
    }

    private void expire() {
        hasPassed = true;
        closeSocket();
    }

    /** Sets the socket to close at the deadline; closes the previous one now. */
    void attach(Closeable socket) {
        closeSocket();
        open = socket;
        if (hasPassed) {
            closeSocket();
        }
    }

    private void closeSocket() {
        Closeable socket = open;
        try {
            if (socket != null) {
                socket.close();
            }
        } catch (IOException _) {
            // The socket is discarded anyway.
        }
    }

    boolean hasPassed() {
        return hasPassed;
    }

    /** The remaining time, at least 1 ms, because zero means unlimited for a socket. */
    Duration remaining() {
        return Duration.ofNanos(Math.max(1_000_000, end - nanos.getAsLong()));
    }

    @Override
    public void close() {
        alarm.cancel(false);
        closeSocket();
    }
}
