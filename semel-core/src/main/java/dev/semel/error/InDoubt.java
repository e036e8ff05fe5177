package dev.semel.error;

/** An effect was sent and nobody knows whether it happened. It is neither a success nor a failure. */
public final class InDoubt extends SemelException {
    private final String step;

    /** @param why how the answer was lost, without a payload value, e.g. `the connection was reset` */
    public InDoubt(String step, String why) {
        super(
                ErrorCode.IN_DOUBT,
                "Effect \"" + step + "\" was sent, and it is not known whether it happened: " + why
                        + ". It was not sent again.",
                "Look at the outside system, then decide in the review inbox: it happened, it did not, or stop the"
                        + " run.");
        this.step = step;
    }

    public String step() {
        return step;
    }
}
