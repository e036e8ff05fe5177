package dev.semel.error;

/** Thrown when a user or the parent run cancelled the run. The workflow may clean up but starts no new step. */
public final class RunCancelled extends SemelException {
    public RunCancelled(String runId, String reason) {
        super(
                ErrorCode.RUN_CANCELLED,
                "Run " + runId + " was cancelled" + (reason.isBlank() ? "" : ": " + reason)
                        + ". No further step was started; recorded results remain.",
                "If the cancellation was intended, do nothing. To continue, replay the run. A replay runs the steps"
                        + " again and does not repeat recorded effects.");
        with("run_id", runId);
    }
}
