package dev.semel.store;

import java.util.List;

/** One thing that happens to a store. The same steps in the same order have the same outcomes on every store. */
sealed interface Step {
    /** Time goes on. */
    record Move(long micros) implements Step {}

    /** A batch of the worker, or of somebody without a lease. */
    record Apply(As as, List<StoreWrite<?>> writes) implements Step {}

    enum As {
        OWNER,
        NOBODY,
        /** A worker whose lease is gone. */
        FENCED
    }

    /** The worker dies, its lease runs out, and another one takes over. */
    record Crash(long lease) implements Step {}

    /** The worker gives its lease back, and another one starts. */
    record Handover(long lease) implements Step {}

    record Renew() implements Step {}
}
