package dev.semel.server.http;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/** Closes connections past their deadline. A socket read timeout is not enough: it restarts with every byte. */
final class InboundConnectionDeadlineMonitor {
    private static final long LONGEST_INTERVAL = TimeUnit.MILLISECONDS.toNanos(250);
    private static final long SHORTEST_INTERVAL = TimeUnit.MILLISECONDS.toNanos(5);

    private final Set<DeadlineServerConnection> open = ConcurrentHashMap.newKeySet();
    private final long checkInterval;
    private final Thread thread;
    private volatile boolean closed;

    InboundConnectionDeadlineMonitor(HttpServerSettings settings) {
        long shortest = Stream.of(
                        settings.timeouts().head(),
                        settings.timeouts().body(),
                        settings.timeouts().write(),
                        settings.timeouts().idle())
                .mapToLong(Duration::toNanos)
                .min()
                .orElse(LONGEST_INTERVAL);
        this.checkInterval = Math.clamp(shortest / 8, SHORTEST_INTERVAL, LONGEST_INTERVAL);
        this.thread = Thread.ofPlatform().daemon().name("http-deadlines").unstarted(this::watch);
    }

    InboundConnectionDeadlineMonitor start() {
        thread.start();
        return this;
    }

    Thread thread() {
        return thread;
    }

    void add(DeadlineServerConnection connection) {
        open.add(connection);
        // Checked after adding, so that a connection that arrives during closeAll is closed by one of the two.
        if (closed) {
            connection.closeSocket();
        }
    }

    void remove(DeadlineServerConnection connection) {
        open.remove(connection);
    }

    void closeAll() {
        closed = true;
        open.forEach(DeadlineServerConnection::closeSocket);
    }

    private void watch() {
        while (!closed) {
            LockSupport.parkNanos(checkInterval);
            long now = System.nanoTime();
            for (DeadlineServerConnection connection : open) {
                if (connection.isOverdue(now)) {
                    connection.closeSocket();
                }
            }
        }
    }
}
