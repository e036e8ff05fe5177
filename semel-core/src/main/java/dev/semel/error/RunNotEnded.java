package dev.semel.error;

/** The run has no result yet, and the time that its caller had for it is over. The run itself goes on. */
public final class RunNotEnded extends SemelException {
    /** @param state where the run is, in the word that everybody sees */
    public RunNotEnded(String runId, String state) {
        super(
                ErrorCode.RUN_NOT_ENDED,
                "Run " + runId + " is " + state + " and has no result yet. Nothing was stopped by that: it goes on.",
                "Wait longer, or ask for its result again later.");
        with("run_id", runId);
    }
}
