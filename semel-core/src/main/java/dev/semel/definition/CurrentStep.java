package dev.semel.definition;

import dev.semel.workflow.Step;
import java.util.concurrent.Callable;

/** Binds the step whose code runs on this thread, for {@link Step#current}. */
public final class CurrentStep {
    private static final ScopedValue<Step> CURRENT = ScopedValue.newInstance();

    private CurrentStep() {}

    public static boolean isBound() {
        return CURRENT.isBound();
    }

    public static Step get() {
        return CURRENT.get();
    }

    /** Runs code with the current step set. */
    public static <T> T runWith(Step step, Callable<T> work) throws Exception {
        return ScopedValue.where(CURRENT, step).call(work::call);
    }
}
