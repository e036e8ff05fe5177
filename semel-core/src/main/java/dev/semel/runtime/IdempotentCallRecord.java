package dev.semel.runtime;

import tools.jackson.databind.JsonNode;

/**
 * The record of one idempotent call, with methods to confirm its outcome if a crash left it in doubt.
 * The first confirmation applies; later ones return false.
 */
public final class IdempotentCallRecord {
    private final RunHandle<JsonNode> run;
    private final String step;

    IdempotentCallRecord(RunHandle<JsonNode> run, String step) {
        this.run = run;
        this.step = step;
    }

    /** The run that represents the call in the API and the dashboard. */
    public String runId() {
        return run.id();
    }

    public boolean isInDoubt() {
        return run.stepsInDoubt().contains(step);
    }

    /** Confirms that the operation was done; repeats then receive this result. False if it is not in doubt. */
    public boolean confirmDone(Object result, String by) {
        return run.confirmDone(step, result, by);
    }

    /** Confirms that the operation was not done; the next call executes it. False if it is not in doubt. */
    public boolean confirmNotDone(String by) {
        return run.confirmNotDone(step, by);
    }
}
