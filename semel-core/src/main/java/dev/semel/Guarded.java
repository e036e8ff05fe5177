package dev.semel;

import tools.jackson.databind.JsonNode;

/**
 * An operation that was done, or begun, once under its key. Where the process died half-way nobody but a person knows
 * whether it was done; the first decision counts.
 */
public final class Guarded {
    private final Run<JsonNode> run;
    private final String step;

    Guarded(Run<JsonNode> run, String step) {
        this.run = run;
        this.step = step;
    }

    /** The run that stands for it, under which it is shown. */
    public String runId() {
        return run.id();
    }

    public boolean inDoubt() {
        return run.inDoubt().contains(step);
    }

    /** It was done, and this was its result: whoever asks again gets it. False: it is not in doubt. */
    public boolean happened(Object result, String by) {
        return run.happened(step, result, by);
    }

    /** It was not done: whoever asks next does it. False: it is not in doubt. */
    public boolean didNotHappen(String by) {
        return run.didNotHappen(step, by);
    }
}
