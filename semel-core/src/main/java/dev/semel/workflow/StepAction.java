package dev.semel.workflow;

/** The code of a step or effect without a result; may throw any exception. */
@FunctionalInterface
public interface StepAction {
    void run(Step step) throws Exception;
}
