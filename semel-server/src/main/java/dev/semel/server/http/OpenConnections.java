package dev.semel.server.http;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/**
 * Tracks all open connections and closes those that exceed their deadline. A socket read timeout is not enough: it
 * restarts with every byte, and a slow client sends one byte at a time.
 */
final class OpenConnections {
    private static final long LONGEST_INTERVAL = TimeUnit.MILLISECONDS.toNanos(250);
    private static final long SHORTEST_INTERVAL = TimeUnit.MILLISECONDS.toNanos(5);

    private final Set<LimitedConnection> open = ConcurrentHashMap.newKeySet();
    private final long checkInterval;
    private volatile boolean closed;

    OpenConnections(HttpServerSettings settings) {
        long shortest = Stream.of(
                        settings.headTimeout(), settings.bodyTimeout(), settings.writeTimeout(), settings.idleTimeout())
                .mapToLong(Duration::toNanos)
                .min()
                .orElse(LONGEST_INTERVAL);
        this.checkInterval = Math.clamp(shortest / 8, SHORTEST_INTERVAL, LONGEST_INTERVAL);
    }

    OpenConnections start() {
        Thread.ofPlatform().daemon().name("http-deadlines").start(this::watch);
        return this;
    }

    void add(LimitedConnection connection) {
        open.add(connection);
        // Checked after adding, so that a connection that arrives during closeAll is closed by one of the two.
        if (closed) {
            connection.closeSocket();
        }
    }

    void remove(LimitedConnection connection) {
        open.remove(connection);
    }

    void closeAll() {
        closed = true;
        open.forEach(LimitedConnection::closeSocket);
    }

    private void watch() {
        while (!closed) {
            LockSupport.parkNanos(checkInterval);
            long now = System.nanoTime();
            for (LimitedConnection connection : open) {
                if (connection.isOverdue(now)) {
                    connection.closeSocket();
                }
            }
        }
    }
}
