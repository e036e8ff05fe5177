package dev.semel.runtime;

import dev.semel.engine.ResumePlanner;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.replay.ApplyOptions;
import dev.semel.replay.ReplayPreview;
import dev.semel.replay.ResumeRequest;
import dev.semel.store.StoreCommand;
import org.jspecify.annotations.Nullable;

/**
 * Predicts what resuming a failed run would do to each step, and holds the store change that resumes it.
 * Nothing changes until the caller commits {@link #edit}.
 */
public final class ResumePlan {
    private final String runId;
    private final ReplayPreview preview;
    private final StoreCommand.@Nullable ResumeFailedRun edit;
    private final ResumeRequest request;
    private final String instead;

    ResumePlan(String runId, ResumePlanner.ResumePrediction prospect, ResumeRequest request) {
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
    public StoreCommand.ResumeFailedRun edit() {
        StoreCommand.ResumeFailedRun change = edit;
        if (change == null) {
            throw rejection(String.valueOf(preview.blocked()), instead);
        }
        if (!new ApplyOptions(request.include(), 0, 0, 0).allows(preview.actions())) {
            throw new SemelException(
                    ErrorCode.REPLAY_REFUSED,
                    "Run " + runId
                            + " was not resumed: one of its effects could happen twice, or needs a user's decision."
                            + " Nothing was changed.",
                    "Check its steps with dry_run=true. To resume it anyway, set include to ask or unprotected.");
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
