package dev.semel.error;

import java.time.Duration;

/** The run as a whole took longer than the workflow allows. */
public final class RunTimedOut extends SemelException {
    public RunTimedOut(String runId, Duration deadline) {
        super(
                ErrorCode.RUN_TIMED_OUT,
                "Run " + runId + " was not done within its deadline of " + deadline
                        + ". No further step was started; what was recorded before stays.",
                "Replay the run to go on with what is on record, or give the workflow a longer deadline.");
        with("run_id", runId);
    }
}
