package dev.semel.server.connectors.channel;

import java.time.Duration;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Runs a task once after a timeout. A blocked socket read or write cannot check a clock itself. */
public final class SmtpTimeoutScheduler implements AutoCloseable {
    private final ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1, work -> {
        Thread thread = new Thread(work, "semel-channel-timeout");
        thread.setDaemon(true);
        return thread;
    });

    public SmtpTimeoutScheduler() {
        timer.setRemoveOnCancelPolicy(true);
    }

    /** @param task short work that does not block, such as closing a socket */
    PendingTimeout schedule(Duration time, Runnable task) {
        ScheduledFuture<?> pending = timer.schedule(task, time.toMillis(), TimeUnit.MILLISECONDS);
        return () -> pending.cancel(false);
    }

    /** A timeout that has not fired yet; closing it cancels it. */
    interface PendingTimeout extends AutoCloseable {
        @Override
        void close();
    }

    @Override
    public void close() {
        timer.shutdownNow();
    }
}
