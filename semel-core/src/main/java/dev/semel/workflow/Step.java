package dev.semel.workflow;

import java.util.concurrent.Callable;

/** The step that is being done: what helper code needs to make its calls safe to repeat. */
public interface Step {
    /** Stable over retries, recovery, takeover and safe replay. */
    String id();

    /** What goes to the outside world as the idempotency key; byte-identical in every attempt. */
    String key();

    /** 1 for the first try. */
    int attempt();

    /** The step whose code runs on this thread. */
    static Step current() {
        if (!Bound.CURRENT.isBound()) {
            throw new IllegalStateException(
                    "No step is being done on this thread. Call Step.current() inside the code of a step or effect.");
        }
        return Bound.CURRENT.get();
    }

    /** For the engine: does work with {@link #current} set. */
    static <T> T during(Step step, Callable<T> work) throws Exception {
        return ScopedValue.where(Bound.CURRENT, step).call(work::call);
    }

    /** Holds the binding; an interface cannot have a private field. */
    final class Bound {
        private static final ScopedValue<Step> CURRENT = ScopedValue.newInstance();

        private Bound() {}
    }
}
