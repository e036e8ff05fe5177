package dev.semel.server.connectors.outbound;

import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Resolves host names to addresses. Called once per request, so that the checked address is the one connected to. */
public interface HostNameResolver extends AutoCloseable {
    List<InetAddress> resolve(String host, Duration longest) throws IOException;

    @Override
    default void close() {}

    /**
     * A resolver that uses the operating system. Its lookups block the carrier thread without a timeout, so a few
     * dedicated threads run them and callers wait with a limit.
     */
    static HostNameResolver system() {
        return new SystemHostResolver();
    }

    /** @see #system */
    final class SystemHostResolver implements HostNameResolver {
        private static final int AT_ONCE = 8;
        private static final int WAITING = 1_000;

        private final ThreadPoolExecutor askers = new ThreadPoolExecutor(
                AT_ONCE,
                AT_ONCE,
                10,
                TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(WAITING),
                Thread.ofPlatform().daemon().name("outbound-names-", 0).factory());

        private SystemHostResolver() {
            askers.allowCoreThreadTimeOut(true);
        }

        @Override
        public List<InetAddress> resolve(String host, Duration longest) throws IOException {
            Future<InetAddress[]> answer;
            try {
                answer = askers.submit(() -> InetAddress.getAllByName(host));
            } catch (RejectedExecutionException e) {
                throw new IOException("too many DNS lookups are running", e);
            }
            try {
                return List.of(answer.get(longest.toNanos(), TimeUnit.NANOSECONDS));
            } catch (TimeoutException e) {
                throw new IOException("the DNS lookup timed out", e);
            } catch (ExecutionException e) {
                throw new UnknownHostException("the host name does not exist");
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IOException("interrupted during the DNS lookup", e);
            } finally {
                answer.cancel(false);
            }
        }

        @Override
        public void close() {
            askers.shutdownNow();
        }
    }
}
