package dev.semel.error;

import java.util.List;

/** Thrown when an effect was sent and its outcome is unknown: neither a success nor a failure. */
public final class EffectInDoubt extends SemelException {
    private final String step;

    /** @param why how the response was lost, without payload values, for example `the connection was reset` */
    public EffectInDoubt(String step, String why) {
        super(
                ErrorCode.IN_DOUBT,
                "Effect \"" + step + "\" was sent and its outcome is unknown: " + why + ". It was not sent again.",
                "Check the external system, then decide in the review inbox: it happened, it did not happen, or stop"
                        + " the run.");
        this.step = step;
    }

    private EffectInDoubt(String detail, String fix, String step) {
        super(ErrorCode.IN_DOUBT, detail, fix);
        this.step = step;
    }

    /**
     * The error for callers that request the result of a run with an effect in doubt.
     *
     * @param steps the steps whose effects are in doubt, as the decision methods accept them
     */
    public static EffectInDoubt ofRun(String runId, List<String> steps) {
        String names = "\"" + String.join("\", \"", steps) + "\"";
        String which = switch (steps.size()) {
            case 0 -> "an effect";
            case 1 -> "effect " + names;
            default -> "the effects " + names;
        };
        EffectInDoubt doubt = new EffectInDoubt(
                "Run " + runId + " is in doubt: it is unknown whether " + which
                        + " happened. Nothing was sent again; the run waits for a decision.",
                "Check the external system, then call run.confirmDone(step, result, by) or"
                        + " run.confirmNotDone(step, by). Or cancel the run.",
                steps.isEmpty() ? "" : steps.getFirst());
        doubt.with("run_id", runId);
        return doubt;
    }

    /** The error for an idempotent call whose process ended while it ran. */
    public static EffectInDoubt ofOperation(String operation) {
        return new EffectInDoubt(
                "Operation \"" + operation
                        + "\" was started under this key and its outcome is unknown, because the calling process ended"
                        + " during the call. The operation was not executed again.",
                "Check whether the operation happened, then call confirmDone(result, by) or confirmNotDone(by) on"
                        + " semel.idempotent(operation).caller(…).key(…).",
                operation);
    }

    public String step() {
        return step;
    }
}
