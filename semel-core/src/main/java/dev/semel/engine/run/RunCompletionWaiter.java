package dev.semel.engine.run;

import dev.semel.run.RunId;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Runs that end in this process wake the callers; runs on other workers are polled. */
public final class RunCompletionWaiter {
    private static final long LOOK_AGAIN_MILLIS = 200;
    private final ConcurrentHashMap<RunId, CountDownLatch> waiting = new ConcurrentHashMap<>();

    void notifyEnded(RunId run) {
        CountDownLatch latch = waiting.remove(run);
        if (latch != null) {
            latch.countDown();
        }
    }

    /** @param willBeNotified the run will end in this process with a notification, so that polling before is useless */
    public record RunPoll<T>(
            BooleanSupplier willBeNotified, Supplier<@Nullable T> read, Predicate<@Nullable T> isDone) {}

    /** Polls until the result suffices, at most {@code nanos}; returns the last result. */
    public <T> @Nullable T await(RunId run, long nanos, RunPoll<T> watch) {
        long left = nanos;
        boolean first = true;
        while (true) {
            CountDownLatch latch = waiting.computeIfAbsent(run, _ -> new CountDownLatch(1));
            if (!first || left <= 0 || !watch.willBeNotified().getAsBoolean()) {
                T seen = watch.read().get();
                // Other waiting callers find the end by polling.
                if (left <= 0 || watch.isDone().test(seen)) {
                    waiting.remove(run, latch);
                    return seen;
                }
            }
            first = false;
            try {
                long slice = Math.min(left, TimeUnit.MILLISECONDS.toNanos(LOOK_AGAIN_MILLIS));
                latch.await(slice, TimeUnit.NANOSECONDS);
                left -= slice;
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return watch.read().get();
            }
        }
    }
}
