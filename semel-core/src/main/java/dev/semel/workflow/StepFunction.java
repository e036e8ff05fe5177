package dev.semel.workflow;

/** The code of a step or effect; may throw any exception. */
@FunctionalInterface
public interface StepFunction<T> {
    T run(Step step) throws Exception;
}
