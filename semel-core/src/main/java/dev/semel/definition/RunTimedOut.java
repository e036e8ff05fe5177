package dev.semel.definition;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import java.time.Duration;

public final class RunTimedOut extends SemelException {
    public RunTimedOut(String runId, Duration deadline) {
        super(
                ErrorCode.RUN_TIMED_OUT,
                "Run " + runId + " did not end within its deadline of " + deadline
                        + ". No further step was started; recorded results remain.",
                "Set a longer deadline in the workflow, or replay the run. A replay runs the steps again and does not"
                        + " repeat recorded effects.");
        with("run_id", runId);
    }
}
