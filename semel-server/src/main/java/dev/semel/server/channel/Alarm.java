package dev.semel.server.channel;

import java.time.Duration;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Rings once when a time is over, unless it was turned off before; a blocked read or write cannot look at a clock. */
public final class Alarm implements AutoCloseable {
    private final ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1, work -> {
        Thread thread = new Thread(work, "semel-channel-alarm");
        thread.setDaemon(true);
        return thread;
    });

    public Alarm() {
        timer.setRemoveOnCancelPolicy(true);
    }

    /** @param ring short work that blocks on nothing, such as closing a socket */
    Set after(Duration time, Runnable ring) {
        ScheduledFuture<?> pending = timer.schedule(ring, time.toMillis(), TimeUnit.MILLISECONDS);
        return () -> pending.cancel(false);
    }

    /** An alarm that is set. */
    interface Set extends AutoCloseable {
        @Override
        void close();
    }

    @Override
    public void close() {
        timer.shutdownNow();
    }
}
