package dev.semel.definition;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;

/** Thrown when the workflow code does not match the run's journal, because it changed while the run was in progress. */
public final class RunDivergedFromJournal extends SemelException {
    private final String step;

    /** @param difference what differs, for example `the journal has an effect and the code requests a timer` */
    public RunDivergedFromJournal(String step, String difference) {
        super(
                ErrorCode.RUN_DIVERGED,
                "Step \"" + step + "\" does not match the run's journal: " + difference
                        + ". The run is held and nothing was sent.",
                "Restore the step, or declare the old name of a renamed step with formerly(…). Then retry the run.");
        this.step = step;
    }

    public String step() {
        return step;
    }
}
