package dev.semel.server.http.transport;

import dev.semel.server.http.ClientNetwork;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * Closes connections past their deadline. A socket read timeout is not enough: it restarts with every byte.
 *
 * <p>Also limits connections, in total and per address. Over a limit it closes those that wait longest for a request,
 * so that idle connections never keep out new ones.
 */
final class InboundConnectionDeadlineMonitor {
    private static final long LONGEST_INTERVAL = TimeUnit.MILLISECONDS.toNanos(250);
    private static final long SHORTEST_INTERVAL = TimeUnit.MILLISECONDS.toNanos(5);
    private static final int LEAST_HEADROOM = 16;
    /** Closing one percent at a time keeps the search for the oldest cheap. */
    private static final int EVICTED_PERCENT = 100;

    private final Set<DeadlineServerConnection> open = ConcurrentHashMap.newKeySet();
    private final ConcurrentHashMap<String, Integer> openByNetwork = new ConcurrentHashMap<>();
    private final HttpServerSettings settings;
    private final int maxOfNetwork;
    private final long checkInterval;
    private final Thread thread;
    private volatile boolean closed;

    InboundConnectionDeadlineMonitor(HttpServerSettings settings) {
        this.settings = settings;
        this.maxOfNetwork = Math.max(1, settings.maxConnections() / 2);
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

    /** Connections above a limit for the moment until an older one is closed. */
    static int withHeadroom(int limit) {
        return limit + Math.max(LEAST_HEADROOM, limit / 8);
    }

    /** What limits per address count; empty for a trusted proxy, which has no limit of its own. */
    String networkOf(String peer) {
        return settings.proxies().trusts(peer) ? "" : ClientNetwork.of(peer);
    }

    InboundConnectionDeadlineMonitor start() {
        thread.start();
        return this;
    }

    Thread thread() {
        return thread;
    }

    /** @return false if the connection must be closed: its address has too many, and none of them waits */
    boolean add(DeadlineServerConnection connection) {
        open.add(connection);
        int ofNetwork = openByNetwork.merge(connection.network(), 1, Integer::sum);
        evictAboveLimits(connection.network(), ofNetwork);
        boolean tooMany = !connection.network().isEmpty()
                && openByNetwork.getOrDefault(connection.network(), 0) > withHeadroom(maxOfNetwork);
        // Checked after adding, so that a connection that arrives during closeAll is closed by one of the two.
        return !closed && !tooMany;
    }

    void remove(DeadlineServerConnection connection) {
        if (open.remove(connection)) {
            openByNetwork.computeIfPresent(connection.network(), (_, count) -> count == 1 ? null : count - 1);
        }
    }

    void closeAll() {
        closed = true;
        open.forEach(DeadlineServerConnection::closeSocket);
    }

    private void evictAboveLimits(String network, int ofNetwork) {
        if (ofNetwork > maxOfNetwork && !network.isEmpty()) {
            evictOldest(
                    ofNetwork - maxOfNetwork, maxOfNetwork, one -> one.network().equals(network));
        }
        int over = open.size() - settings.maxConnections();
        if (over > 0) {
            evictOldest(over, settings.maxConnections(), _ -> true);
        }
    }

    private void evictOldest(int over, int limit, Predicate<DeadlineServerConnection> which) {
        record WaitingConnection(DeadlineServerConnection connection, long since) {}
        long now = System.nanoTime();
        List<WaitingConnection> oldest = open.stream()
                .filter(one -> one.isWaiting() && which.test(one))
                .map(one -> new WaitingConnection(one, now - one.waitingSince()))
                .sorted(Comparator.comparingLong(WaitingConnection::since).reversed())
                .limit(Math.max(over, limit / EVICTED_PERCENT))
                .toList();
        for (WaitingConnection one : oldest) {
            if (one.connection().evict()) {
                remove(one.connection());
            }
        }
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
            // Connections that were busy when a limit was exceeded may wait by now.
            if (open.size() > maxOfNetwork) {
                openByNetwork.forEach(this::evictAboveLimits);
            }
        }
    }
}
