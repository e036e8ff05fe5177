package dev.semel.error;

/** The run was cancelled by a person or by its parent. The workflow may clean up, but starts nothing new. */
public final class RunCancelled extends SemelException {
    public RunCancelled(String runId, String reason) {
        super(
                ErrorCode.RUN_CANCELLED,
                "Run " + runId + " was cancelled" + (reason.isBlank() ? "" : ": " + reason)
                        + ". No further step was started; what was recorded before stays.",
                "Nothing, if that was meant. To go on, replay the run: effects that were done are reused, steps run"
                        + " again.");
        with("run_id", runId);
    }
}
