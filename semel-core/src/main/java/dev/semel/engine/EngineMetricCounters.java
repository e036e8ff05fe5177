package dev.semel.engine;

import dev.semel.run.RunState;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;

/** Counts events since the start of the process, for metrics. The store holds the authoritative data. */
public final class EngineMetricCounters {
    public final LongAdder fresh = new LongAdder();
    public final LongAdder replayed = new LongAdder();
    public final LongAdder mismatched = new LongAdder();
    public final LongAdder conflicts = new LongAdder();
    public final LongAdder expiredKeyRetries = new LongAdder();
    public final LongAdder duplicatePayloads = new LongAdder();
    public final LongAdder unkeyed = new LongAdder();
    public final LongAdder batches = new LongAdder();
    public final LongAdder writes = new LongAdder();
    public final LongAdder poisonedWrites = new LongAdder();
    public final LongAdder unknownCommits = new LongAdder();
    public final LongAdder storeFailures = new LongAdder();
    public final LongAdder fencedBatches = new LongAdder();
    public final LongAdder overload = new LongAdder();
    public final LongAdder completed = new LongAdder();
    public final LongAdder failed = new LongAdder();
    public final LongAdder recovered = new LongAdder();
    public final LongAdder takeovers = new LongAdder();
    public final LongAdder droppedRuns = new LongAdder();
    public final LongAdder debounced = new LongAdder();
    public final LongAdder cancelled = new LongAdder();
    public final LongAdder parkedRuns = new LongAdder();
    public final LongAdder diskWaits = new LongAdder();
    public final LongAdder sent = new LongAdder();
    public final LongAdder suppressed = new LongAdder();
    public final LongAdder reused = new LongAdder();
    public final LongAdder inDoubt = new LongAdder();
    public final LongAdder retries = new LongAdder();
    public final LongAdder diverged = new LongAdder();
    public final LongAdder held = new LongAdder();
    public final LongAdder runsRemoved = new LongAdder();

    public void countEnd(RunState state) {
        switch (state) {
            case COMPLETED -> completed.increment();
            case CANCELLED -> cancelled.increment();
            default -> failed.increment();
        }
    }

    /** Increases with every event after which the store may list a run as ours that does not execute here. */
    public long ownershipDoubts() {
        return storeFailures.sum() + fencedBatches.sum() + droppedRuns.sum();
    }

    public Map<String, LongSupplier> all() {
        return Map.ofEntries(
                Map.entry("fresh", fresh::sum),
                Map.entry("runsRemoved", runsRemoved::sum),
                Map.entry("replayed", replayed::sum),
                Map.entry("mismatched", mismatched::sum),
                Map.entry("conflicts", conflicts::sum),
                Map.entry("expiredKeyRetries", expiredKeyRetries::sum),
                Map.entry("duplicatePayloads", duplicatePayloads::sum),
                Map.entry("unkeyed", unkeyed::sum),
                Map.entry("batches", batches::sum),
                Map.entry("writes", writes::sum),
                Map.entry("poisonedWrites", poisonedWrites::sum),
                Map.entry("unknownCommits", unknownCommits::sum),
                Map.entry("storeFailures", storeFailures::sum),
                Map.entry("fencedBatches", fencedBatches::sum),
                Map.entry("overload", overload::sum),
                Map.entry("completed", completed::sum),
                Map.entry("failed", failed::sum),
                Map.entry("recovered", recovered::sum),
                Map.entry("takeovers", takeovers::sum),
                Map.entry("droppedRuns", droppedRuns::sum),
                Map.entry("debounced", debounced::sum),
                Map.entry("cancelled", cancelled::sum),
                Map.entry("parkedRuns", parkedRuns::sum),
                Map.entry("diskWaits", diskWaits::sum),
                Map.entry("sent", sent::sum),
                Map.entry("suppressed", suppressed::sum),
                Map.entry("reused", reused::sum),
                Map.entry("inDoubt", inDoubt::sum),
                Map.entry("retries", retries::sum),
                Map.entry("diverged", diverged::sum),
                Map.entry("held", held::sum));
    }
}
