package dev.semel.error;

/** Thrown when a user or the parent run cancelled the run. The workflow may clean up but starts no new step. */
public final class RunCancelled extends SemelException {
    public RunCancelled(String runId, String reason) {
        super(
                ErrorCode.RUN_CANCELLED,
                "Run " + runId + " was cancelled" + (reason.isBlank() ? "" : ": " + reason)
                        + ". No further step was started; what was recorded before stays.",
                "If this was intended, nothing. To continue, replay the run: Semel reuses recorded effects and runs"
                        + " steps again.");
        with("run_id", runId);
    }
}
