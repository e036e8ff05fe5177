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
 * What it would mean to let a run that failed go on in place: told before anything is done. Nothing changes before its
 * {@link #edit} is made.
 */
public final class Resumption {
    private final String runId;
    private final Outlook outlook;
    private final Edit.@Nullable Resume edit;
    private final Resume wish;
    private final String instead;

    Resumption(String runId, Resumer.Prospect prospect, Resume wish) {
        this.runId = runId;
        this.outlook = prospect.outlook();
        this.edit = prospect.edit();
        this.instead = prospect.instead();
        this.wish = wish;
    }

    /** Step by step, as a plan of a safe replay tells it; or why it is blocked. */
    public Outlook outlook() {
        return outlook;
    }

    /** The change; refused where it is blocked, or where it is not safe and that is not included. */
    public Edit.Resume edit() {
        Edit.Resume change = edit;
        if (change == null) {
            throw refused(String.valueOf(outlook.blocked()), instead);
        }
        if (!new Manner(wish.include(), 0, 0, 0).allows(outlook.actions())) {
            throw new SemelException(
                    ErrorCode.REPLAY_REFUSED,
                    "Run " + runId
                            + " did not go on: an effect of it could happen twice, or is for a person to look at. "
                            + "Nothing was changed.",
                    "Look at its steps with dry_run=true; what is to be done all the same is named in include: ask,"
                            + " unprotected.");
        }
        return change;
    }

    SemelException refused(String why, String fix) {
        return new SemelException(
                ErrorCode.RESUME_REFUSED,
                "Run " + runId + " cannot go on in place: " + why + ". Nothing was changed.",
                fix);
    }
}
