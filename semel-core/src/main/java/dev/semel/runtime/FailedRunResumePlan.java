package dev.semel.runtime;

import dev.semel.engine.replay.FailedRunResumePlanner;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.replay.FailedRunResumeRequest;
import dev.semel.replay.ReplayPlanApplyOptions;
import dev.semel.replay.ReplayPreview;
import dev.semel.store.StoreWriteCommand;
import org.jspecify.annotations.Nullable;

/** Nothing changes until the caller commits {@link #edit}. */
public final class FailedRunResumePlan {
    private final String runId;
    private final ReplayPreview preview;
    private final StoreWriteCommand.@Nullable ResumeFailedRun edit;
    private final FailedRunResumeRequest request;
    private final String instead;

    FailedRunResumePlan(
            String runId, FailedRunResumePlanner.ResumePrediction prospect, FailedRunResumeRequest request) {
        this.runId = runId;
        this.preview = prospect.preview();
        this.edit = prospect.edit();
        this.instead = prospect.remedy();
        this.request = request;
    }

    /** The prediction for each step, as in a replay plan, or the reason why the run cannot be resumed. */
    public ReplayPreview preview() {
        return preview;
    }

    /** The change that resumes the run. Throws if that is impossible, or unsafe and the request does not allow it. */
    public StoreWriteCommand.ResumeFailedRun edit() {
        StoreWriteCommand.ResumeFailedRun change = edit;
        if (change == null) {
            throw rejection(String.valueOf(preview.blocked()), instead);
        }
        if (!new ReplayPlanApplyOptions(request.include(), 0, 0, 0).allows(preview.actions())) {
            throw new SemelException(
                    ErrorCode.REPLAY_REFUSED,
                    "Run " + runId
                            + " was not resumed: one of its effects could happen twice, or needs a user's decision."
                            + " Nothing was changed.",
                    "Check the steps of the run with `dry_run=true`. To resume the run anyway, set `include` to `ask`"
                            + " or `unprotected`.");
        }
        return change;
    }

    SemelException rejection(String why, String fix) {
        return new SemelException(
                ErrorCode.RESUME_REFUSED,
                "Run " + runId + " cannot be resumed: " + why + ". Nothing was changed.",
                fix);
    }
}
