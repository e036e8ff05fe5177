package dev.semel.error;

import java.util.List;

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

    private InDoubt(String detail, String fix, String step) {
        super(ErrorCode.IN_DOUBT, detail, fix);
        this.step = step;
    }

    /**
     * A run waits for somebody who says how an effect ended, as the one who asks for its result is told.
     *
     * @param steps the effects in doubt, by the names that the decision takes
     */
    public static InDoubt ofRun(String runId, List<String> steps) {
        String which = steps.isEmpty() ? "" : " \"" + String.join("\", \"", steps) + "\"";
        InDoubt doubt = new InDoubt(
                "Run " + runId + " is in doubt: it is not known whether effect" + which
                        + " happened. It was not sent again; the run waits for a decision.",
                "Look at the outside system, then decide: run.happened(step, result, by) or run.didNotHappen(step, by)."
                        + " Or cancel the run.",
                steps.isEmpty() ? "" : steps.getFirst());
        doubt.with("run_id", runId);
        return doubt;
    }

    /** An operation that is done once was begun by somebody who is gone. */
    public static InDoubt ofOperation(String operation) {
        return new InDoubt(
                "Operation \"" + operation + "\" was begun under this key, and it is not known whether it was done: the"
                        + " process that did it ended half-way. It was not done again.",
                "Find out, then decide: semel.guarded(operation, key).happened(result, by) or .didNotHappen(by).",
                operation);
    }

    public String step() {
        return step;
    }
}
