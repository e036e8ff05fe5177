package dev.semel.server.outbound;

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

/** From a host to its addresses. Asked once for each request: what was checked is what is connected to. */
public interface Names extends AutoCloseable {
    List<InetAddress> addresses(String host, Duration longest) throws IOException;

    @Override
    default void close() {}

    /**
     * The names as this machine knows them. Its look-ups have no time limit and hold the thread that asks, carrier and
     * all, so a few threads of their own ask, and whoever needs an answer waits no longer than it may.
     */
    static Names ofThisMachine() {
        return new OfThisMachine();
    }

    /** @see #ofThisMachine */
    final class OfThisMachine implements Names {
        private static final int AT_ONCE = 8;
        private static final int WAITING = 1_000;

        private final ThreadPoolExecutor askers = new ThreadPoolExecutor(
                AT_ONCE,
                AT_ONCE,
                10,
                TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(WAITING),
                Thread.ofPlatform().daemon().name("outbound-names-", 0).factory());

        private OfThisMachine() {
            askers.allowCoreThreadTimeOut(true);
        }

        @Override
        public List<InetAddress> addresses(String host, Duration longest) throws IOException {
            Future<InetAddress[]> answer;
            try {
                answer = askers.submit(() -> InetAddress.getAllByName(host));
            } catch (RejectedExecutionException e) {
                throw new IOException("too many names are being looked up", e);
            }
            try {
                return List.of(answer.get(longest.toNanos(), TimeUnit.NANOSECONDS));
            } catch (TimeoutException e) {
                throw new IOException("the look-up of the name took too long", e);
            } catch (ExecutionException e) {
                throw new UnknownHostException("the name is not known");
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IOException("interrupted while the name was looked up", e);
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
