package dev.semel.workflow;

import org.jspecify.annotations.Nullable;

/**
 * The body of a workflow, or the code for one item of a {@code forEach}: computes a result and performs side effects only
 * through the context. It may throw any exception.
 */
@FunctionalInterface
public interface WorkflowFunction<I, O extends @Nullable Object> {
    O run(Context ctx, I input) throws Exception;
}
