package dev.semel.error;

/** Thrown when a run has no result within the caller's wait time. The run itself continues. */
public final class RunNotEnded extends SemelException {
    /** @param state the status of the run, as on the wire */
    public RunNotEnded(String runId, String state) {
        super(
                ErrorCode.RUN_NOT_ENDED,
                "Run " + runId + " is " + state + " and has no result yet. The run continues.",
                "Wait longer, or request the result of the run again later.");
        with("run_id", runId);
    }
}
