package dev.semel.engine;

import dev.semel.run.RunId;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

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

    /**
     * How somebody who waits looks at a run.
     *
     * @param tells whether the run will end here with a word to us, so that there is nothing to see before
     */
    public record Watch<T>(BooleanSupplier tells, Supplier<@Nullable T> look, Predicate<@Nullable T> enough) {}

    /** Waits until a look at the run is enough, at most {@code nanos}; what was seen last. */
    public <T> @Nullable T await(RunId run, long nanos, Watch<T> watch) {
        long left = nanos;
        boolean first = true;
        while (true) {
            CountDownLatch latch = waiting.computeIfAbsent(run, _ -> new CountDownLatch(1));
            if (!first || left <= 0 || !watch.tells().getAsBoolean()) {
                T seen = watch.look().get();
                // Others who wait for the same run find its end by looking.
                if (left <= 0 || watch.enough().test(seen)) {
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
                return watch.look().get();
            }
        }
    }
}
