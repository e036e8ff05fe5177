package dev.semel.runtime;

import dev.semel.Run;
import dev.semel.testing.WorkflowTestKit;

/** The engine of a test kit, for tests of what users do not see. */
public final class TestRuntime {
    private TestRuntime() {}

    public static SemelRuntime of(WorkflowTestKit kit) {
        return SemelRuntime.of(kit.semel());
    }

    public static <O> RunHandle<O> handle(Run<O> run) {
        return (RunHandle<O>) run;
    }
}
