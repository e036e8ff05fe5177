package dev.semel.engine.step;

import dev.semel.definition.RunTimedOut;
import dev.semel.definition.WorkflowVersion;
import dev.semel.run.RunId;
import dev.semel.store.CrashCount;
import dev.semel.store.StoreWrite;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A run that this worker executes.
 *
 * @param input JSON text: a parsed tree uses about 20 times the memory
 * @param runId the public id
 * @param deadline when its time is over, by the store clock; {@link StoreWrite.Suspension#NEVER} for no limit
 * @param crashCount how many times in a row its worker crashed while executing it
 */
public record ActiveRun(
        StoreWrite.RunExecution driver,
        int workspace,
        WorkflowVersion workflow,
        String input,
        RunId lineage,
        int lane,
        String runId,
        long deadline,
        CrashCount crashCount,
        boolean cancelRequested,
        @Nullable RunId parent,
        int depth) {
    public RunId id() {
        return driver.run();
    }

    RunTimedOut timedOut() {
        Duration allowed = workflow.options().deadline();
        return new RunTimedOut(runId, allowed == null ? Duration.ZERO : allowed);
    }
}
