package dev.semel;

import dev.semel.engine.Resumer;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.replay.Manner;
import dev.semel.replay.Outlook;
import dev.semel.replay.Resume;
import dev.semel.store.Edit;
import org.jspecify.annotations.Nullable;

/**
 * Predicts what resuming a failed run would do to each step, and holds the store change that resumes it.
 * Nothing changes until the caller commits {@link #edit}.
 */
public final class Resumption {
    private final String runId;
    private final Outlook outlook;
    private final Edit.@Nullable Resume edit;
    private final Resume request;
    private final String instead;

    Resumption(String runId, Resumer.Prospect prospect, Resume request) {
        this.runId = runId;
        this.outlook = prospect.outlook();
        this.edit = prospect.edit();
        this.instead = prospect.instead();
        this.request = request;
    }

    /** The prediction for each step, as in a replay plan, or the reason why the run cannot be resumed. */
    public Outlook outlook() {
        return outlook;
    }

    /** The change that resumes the run. Throws if that is impossible, or unsafe and the request does not allow it. */
    public Edit.Resume edit() {
        Edit.Resume change = edit;
        if (change == null) {
            throw refused(String.valueOf(outlook.blocked()), instead);
        }
        if (!new Manner(request.include(), 0, 0, 0).allows(outlook.actions())) {
            throw new SemelException(
                    ErrorCode.REPLAY_REFUSED,
                    "Run " + runId
                            + " was not resumed: one of its effects could happen twice, or needs a user's decision."
                            + " Nothing was changed.",
                    "Check its steps with dry_run=true. To resume it anyway, set include to ask or unprotected.");
        }
        return change;
    }

    SemelException refused(String why, String fix) {
        return new SemelException(
                ErrorCode.RESUME_REFUSED,
                "Run " + runId + " cannot be resumed: " + why + ". Nothing was changed.",
                fix);
    }
}
