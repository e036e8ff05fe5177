package dev.semel.server.http;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/**
 * Every open connection, and the thread that cuts those whose time is up. A read timeout of the socket would not do:
 * it starts anew with every byte, and a slow client sends one byte at a time.
 */
final class Connections {
    private static final long RAREST_LOOK = TimeUnit.MILLISECONDS.toNanos(250);
    private static final long OFTENEST_LOOK = TimeUnit.MILLISECONDS.toNanos(5);

    private final Set<Guarded> open = ConcurrentHashMap.newKeySet();
    private final long lookEvery;
    private volatile boolean closed;

    Connections(Settings settings) {
        long shortest = Stream.of(
                        settings.headTimeout(), settings.bodyTimeout(), settings.writeTimeout(), settings.idleTimeout())
                .mapToLong(Duration::toNanos)
                .min()
                .orElse(RAREST_LOOK);
        this.lookEvery = Math.clamp(shortest / 8, OFTENEST_LOOK, RAREST_LOOK);
    }

    Connections start() {
        Thread.ofPlatform().daemon().name("http-deadlines").start(this::watch);
        return this;
    }

    void add(Guarded connection) {
        open.add(connection);
        // Looked at after adding: whoever comes in while the others are being closed is closed by one of the two.
        if (closed) {
            connection.cut();
        }
    }

    void remove(Guarded connection) {
        open.remove(connection);
    }

    void closeAll() {
        closed = true;
        open.forEach(Guarded::cut);
    }

    private void watch() {
        while (!closed) {
            LockSupport.parkNanos(lookEvery);
            long now = System.nanoTime();
            for (Guarded connection : open) {
                if (connection.overdue(now)) {
                    connection.cut();
                }
            }
        }
    }
}
