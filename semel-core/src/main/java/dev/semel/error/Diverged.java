package dev.semel.error;

/** The code asked for something else than the run has on record there: it was changed under a run in flight. */
public final class Diverged extends SemelException {
    private final String step;

    /** @param difference what was found and what was expected, e.g. `an effect is on record, and the code asks for a timer` */
    public Diverged(String step, String difference) {
        super(
                ErrorCode.RUN_DIVERGED,
                "Step \"" + step + "\" does not fit what is on record: " + difference
                        + ". The run is held and nothing was sent.",
                "Put the step back as it was, or give a renamed step its old name with formerly(…); then resume the"
                        + " run.");
        this.step = step;
    }

    public String step() {
        return step;
    }
}
