package dev.semel.server.outbound;

import java.io.Closeable;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The end of one request. Time limits of a socket begin anew with every byte, and a write has none; so when the time is
 * over the socket is closed under whoever holds it, which ends every wait.
 */
final class Deadline implements AutoCloseable {
    private final LongSupplier nanos;
    private final long end;
    private final Future<?> alarm;
    private volatile @Nullable Closeable open;
    private volatile boolean passed;

    Deadline(Duration longest, LongSupplier nanos, ScheduledExecutorService alarms) {
        this.nanos = nanos;
        this.end = nanos.getAsLong() + longest.toNanos();
        this.alarm = alarms.schedule(this::ring, longest.toNanos(), TimeUnit.NANOSECONDS);
    }

    private void ring() {
        passed = true;
        shut();
    }

    /** What is closed at the end; the one before it is closed now. */
    void holds(Closeable socket) {
        shut();
        open = socket;
        if (passed) {
            shut();
        }
    }

    private void shut() {
        Closeable socket = open;
        try {
            if (socket != null) {
                socket.close();
            }
        } catch (IOException _) {
            // It is given up all the same.
        }
    }

    boolean passed() {
        return passed;
    }

    /** What is left, at least a millisecond, since zero means for ever to a socket. */
    Duration left() {
        return Duration.ofNanos(Math.max(1_000_000, end - nanos.getAsLong()));
    }

    @Override
    public void close() {
        alarm.cancel(false);
        shut();
    }
}
