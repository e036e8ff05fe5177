package dev.semel.trials.crash;

/**
 * What the run in a cell of the crash matrix does between its first and its last step: one for each protection, and one
 * for each other way out of a run. The receiver's memory is the weakest one that the protection is allowed to trust.
 */
enum CrashAction {
    STEP("forgets", 1, 6),
    REPEATABLE("forgets", 1, 7),
    PROVIDER_KEY("dedupe", 1, 7),
    /** The same before a provider that says 409 to what it knows. */
    ALREADY_DONE("conflict", 1, 7),
    LOOKUP("forgets", 1, 7),
    AT_MOST_ONCE("forgets", 1, 7),
    ASK("forgets", 1, 7),
    TX("none", 1, 7),
    CALL("dedupe", 2, 11),
    SIGNAL("none", 2, 11);

    private final String memory;
    private final int runs;
    private final int commits;

    CrashAction(String memory, int runs, int commits) {
        this.memory = memory;
        this.runs = runs;
        this.commits = commits;
    }

    String memory() {
        return memory;
    }

    /** How many runs there are in the end: its own, and that of the workflow it calls or tells. */
    int runs() {
        return runs;
    }

    /** So many batches are committed in a life of it at least, from opening the workspace to the last row. */
    int commits() {
        return commits;
    }

    /** Whether the effect is an effect in the ledger. */
    boolean isEffect() {
        return this != STEP && this != TX && this != SIGNAL;
    }
}
