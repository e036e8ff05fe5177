package dev.semel.admission;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What delays the start of a run.
 *
 * @param queueLimits queues that the run passes through, in order; it starts when each has a free place
 * @param rateLimit limits starts per time; null for no limit
 * @param delay microseconds
 * @param debounce waits until no further trigger comes; null for no debounce
 */
public record StartConditions(
        List<QueueLimit> queueLimits,
        @Nullable RateLimit rateLimit,
        long delay,
        @Nullable DebounceWindow debounce) {
    /**
     * A queue, identified by a digest, that limits how many of its runs are unfinished at a time.
     *
     * @param entersLast the run enters it only when it is due and has its places in the other queues
     */
    public record QueueLimit(String queue, int maxUnfinished, boolean entersLast) {
        public QueueLimit(String queue, int maxUnfinished) {
            this(queue, maxUnfinished, false);
        }
    }

    /** Limits how fast runs start: {@code burst} at once, then one every {@code interval} microseconds. */
    public record RateLimit(String name, long interval, int burst) {}

    /** Starts the run after {@code quiet} microseconds without another trigger of that name, or at a maximum delay. */
    public record DebounceWindow(String name, long quiet, long maxDelay) {}
}
