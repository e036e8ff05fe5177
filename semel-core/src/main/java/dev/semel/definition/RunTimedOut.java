package dev.semel.definition;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import java.time.Duration;

/** Thrown when a run exceeds the deadline of its workflow. */
public final class RunTimedOut extends SemelException {
    public RunTimedOut(String runId, Duration deadline) {
        super(
                ErrorCode.RUN_TIMED_OUT,
                "Run " + runId + " did not end within its deadline of " + deadline
                        + ". No further step was started; recorded results remain.",
                "Replay the run to continue with its recorded effects, or set a longer deadline in the workflow.");
        with("run_id", runId);
    }
}
