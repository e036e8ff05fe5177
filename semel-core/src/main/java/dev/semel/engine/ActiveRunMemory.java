package dev.semel.engine;

import dev.semel.store.ClaimMemory;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** Estimates the memory of the runs that this worker executes. Beyond the limit it starts none; they stay queued. */
final class ActiveRunMemory {
    /** A run is large if it uses more than this part of the limit. */
    private static final int LARGE = 8;

    /** A value is always parsed if it uses less than this part of the limit. */
    private static final int ALWAYS_PARSED = 64;

    private final long limit;
    private final AtomicLong used = new AtomicLong();
    private volatile boolean refused;

    ActiveRunMemory(long limit) {
        this.limit = limit;
    }

    /** What the claim of further runs may use. */
    ClaimMemory available() {
        return new ClaimMemory(Math.max(0, limit - used.get()), perRun());
    }

    /** Half of the limit for one run, so that a large run does not wait until this worker executes nothing else. */
    private long perRun() {
        return Math.max(1, limit / 2);
    }

    /** Reserves the memory of a new run; null if it does not fit. */
    @Nullable
    Share reserve(long input, long journal) {
        long bytes = available().estimate(input, journal);
        long before = used.getAndUpdate(now -> now + bytes <= limit ? now + bytes : now);
        if (before + bytes > limit) {
            refused = true;
            return null;
        }
        return new Share(bytes);
    }

    /** Adds the memory of a run that was claimed within {@link #available}. */
    Share add(long input, long journal) {
        long bytes = available().estimate(input, journal);
        used.addAndGet(bytes);
        return new Share(bytes);
    }

    /** A claim left runs in the store. If memory is short, they may have been too large for it. */
    void noteUnclaimed() {
        refused |= used.get() > limit - perRun();
    }

    /** The memory of one run. */
    final class Share {
        private final AtomicLong bytes;

        private Share(long bytes) {
            this.bytes = new AtomicLong(bytes);
        }

        /** The run recorded so many bytes, which it may keep in memory. */
        void grow(long journal) {
            add(ClaimMemory.PER_JOURNAL_BYTE * journal);
        }

        /** The run is about to parse so many bytes. False: memory is short, and the run should be parked first. */
        boolean mayParse(long text) {
            long parsed = ClaimMemory.PER_INPUT_BYTE * text;
            add(parsed);
            return used.get() <= limit || parsed <= limit / ALWAYS_PARSED;
        }

        private void add(long more) {
            long before = bytes.getAndUpdate(now -> Math.max(now, Math.min(perRun(), now + more)));
            used.addAndGet(Math.max(before, Math.min(perRun(), before + more)) - before);
        }

        /** Whether this run has grown so large that it should continue when others have ended. */
        boolean shouldYield() {
            return used.get() > limit && bytes.get() > limit / LARGE;
        }

        /** Returns whether a run waits for this memory. */
        boolean release() {
            used.addAndGet(-bytes.getAndSet(0));
            boolean waiting = refused;
            refused = false;
            return waiting;
        }
    }
}
