package dev.semel.workflow;

/** The code of a compensation; its step names have their own scope. It may throw any exception. */
@FunctionalInterface
public interface ContextAction {
    void run(Context ctx) throws Exception;
}
