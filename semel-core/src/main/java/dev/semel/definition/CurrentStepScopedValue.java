package dev.semel.definition;

import dev.semel.workflow.Step;
import java.util.concurrent.Callable;

/** Binds the step whose code runs on this thread, for {@link Step#current}. */
public final class CurrentStepScopedValue {
    private static final ScopedValue<Step> CURRENT = ScopedValue.newInstance();

    private CurrentStepScopedValue() {}

    public static boolean isBound() {
        return CURRENT.isBound();
    }

    public static Step get() {
        return CURRENT.get();
    }

    public static <T> T runWith(Step step, Callable<T> work) throws Exception {
        return ScopedValue.where(CURRENT, step).call(work::call);
    }
}
