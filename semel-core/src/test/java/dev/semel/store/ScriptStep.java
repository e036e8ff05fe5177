package dev.semel.store;

import java.util.List;

/** One thing that happens to a store. The same steps in the same order have the same outcomes on every store. */
sealed interface ScriptStep {
    /** Time goes on. */
    record AdvanceClock(long micros) implements ScriptStep {}

    /** A batch of the worker, or of somebody without a lease. */
    record ApplyBatch(BatchAuthor as, List<StoreWrite<?>> writes) implements ScriptStep {}

    enum BatchAuthor {
        OWNER,
        NOBODY,
        /** A worker whose lease is gone. */
        FENCED
    }

    /** The worker dies, its lease runs out, and another one takes over. */
    record Crash(long lease) implements ScriptStep {}

    /** The worker gives its lease back, and another one starts. */
    record Handover(long lease) implements ScriptStep {}

    record Renew() implements ScriptStep {}
}
