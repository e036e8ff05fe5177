package dev.semel.definition;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;

public final class RunTooLarge extends SemelException {
    /** @param limit the limit that the run reached, such as "100000 steps" */
    public RunTooLarge(String runId, String limit) {
        super(
                ErrorCode.RUN_TOO_LARGE,
                "Run " + runId + " reached its limit of " + limit
                        + ". No further step was started; recorded results remain, and other runs are not affected.",
                "Split the work into child workflows, return references instead of data, or raise the limit.");
        with("run_id", runId);
    }
}
