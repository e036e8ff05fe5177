package dev.semel.engine;

import dev.semel.definition.RunTooLarge;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** Counts what a run has recorded, for all of its branches. A step that has begun is always recorded. */
final class RunSizeMeter {
    private final String runId;
    private final ActiveRunMemory.Share memory;
    private final RunSizeLimits limits;
    private final AtomicInteger steps;
    private final AtomicInteger items = new AtomicInteger();
    private final AtomicLong bytes;
    private volatile @Nullable RunTooLarge exceeded;

    RunSizeMeter(
            String runId, ActiveRunMemory.Share memory, RunSizeLimits limits, int recordedSteps, long recordedBytes) {
        this.runId = runId;
        this.memory = memory;
        this.limits = limits;
        this.steps = new AtomicInteger(recordedSteps);
        this.bytes = new AtomicLong(recordedBytes);
    }

    void addBytes(long more) {
        bytes.addAndGet(more);
        memory.grow(more);
    }

    /** Returns whether there is memory to parse a value of so many bytes; otherwise the run should be parked first. */
    boolean mayParse(long text) {
        return memory.mayParse(text);
    }

    /** Whether the run should be parked before its next step, because the worker has too little memory for it. */
    boolean shouldYield() {
        return memory.shouldYield();
    }

    /** Rejects a new step beyond a limit. A compensation may always begin: it undoes what is recorded. */
    void beginStep(boolean compensation) {
        int count = steps.incrementAndGet();
        if (!compensation) {
            rejectIf(count > limits.steps(), limits.steps() + " steps");
            rejectIf(bytes.get() >= limits.journalBytes(), limits.journalBytes() + " bytes of journal");
        }
    }

    /** Rejects a new item of a loop. Items count although they may record nothing, because they use memory. */
    void beginItem(boolean compensation) {
        int count = items.incrementAndGet();
        if (!compensation) {
            rejectIf(count > limits.steps(), limits.steps() + " items of loops");
        }
    }

    private void rejectIf(boolean beyond, String limit) {
        if (beyond) {
            RunTooLarge failure = new RunTooLarge(runId, limit);
            exceeded = failure;
            throw failure;
        }
    }

    /** Returns why the run must fail, even if its code handled the rejection of a step; null if it is within limits. */
    @Nullable
    RunTooLarge exceeded() {
        return exceeded;
    }
}
