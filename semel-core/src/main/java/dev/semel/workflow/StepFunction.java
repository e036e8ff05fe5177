package dev.semel.workflow;

import org.jspecify.annotations.Nullable;

/** The code of a step or effect; may throw any exception. */
@FunctionalInterface
public interface StepFunction<T extends @Nullable Object> {
    T run(Step step) throws Exception;
}
