package dev.semel.engine;

import java.util.concurrent.atomic.LongAdder;

/** What happened since the start, for metrics. Not the truth of anything: that is in the store. */
public final class Counters {
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
}
