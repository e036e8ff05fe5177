package dev.semel.engine;

import dev.semel.run.RunId;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** Lets callers wait for the end of a run. Ends in this process wake them; ends elsewhere are found by looking. */
public final class Completions {
    private static final long LOOK_AGAIN_MILLIS = 200;
    private final ConcurrentHashMap<RunId, CountDownLatch> waiting = new ConcurrentHashMap<>();

    void ended(RunId run) {
        CountDownLatch latch = waiting.remove(run);
        if (latch != null) {
            latch.countDown();
        }
    }

    /** Waits until {@code ended} says so, at most {@code nanos}. */
    public boolean await(RunId run, long nanos, BooleanSupplier ended) {
        long left = nanos;
        while (true) {
            CountDownLatch latch = waiting.computeIfAbsent(run, _ -> new CountDownLatch(1));
            if (ended.getAsBoolean()) {
                waiting.remove(run, latch);
                return true;
            }
            if (left <= 0) {
                // Others who wait for the same run find its end by looking.
                waiting.remove(run, latch);
                return false;
            }
            try {
                long slice = Math.min(left, TimeUnit.MILLISECONDS.toNanos(LOOK_AGAIN_MILLIS));
                latch.await(slice, TimeUnit.NANOSECONDS);
                left -= slice;
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return false;
            }
        }
    }
}
