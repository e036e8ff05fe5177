package dev.semel.trials.crash;

/**
 * What the run in a cell of the crash matrix does between its first and its last step: one for each protection, and one
 * for each other way out of a run. The receiver's memory is the weakest one that the protection is allowed to trust.
 */
enum Deed {
    STEP("forgets", 1),
    REPEATABLE("forgets", 1),
    PROVIDER_KEY("dedupe", 1),
    /** The same before a provider that says 409 to what it knows. */
    ALREADY_DONE("conflict", 1),
    LOOKUP("forgets", 1),
    AT_MOST_ONCE("forgets", 1),
    ASK("forgets", 1),
    TX("none", 1),
    CALL("dedupe", 2),
    SIGNAL("none", 2);

    private final String memory;
    private final int runs;

    Deed(String memory, int runs) {
        this.memory = memory;
        this.runs = runs;
    }

    String memory() {
        return memory;
    }

    /** How many runs there are in the end: its own, and that of the workflow it calls or tells. */
    int runs() {
        return runs;
    }

    /** Whether the deed is an effect in the ledger. */
    boolean isEffect() {
        return this != STEP && this != TX && this != SIGNAL;
    }

    /** Whether the receiver hears of it. */
    boolean isHeard() {
        return this != TX && this != SIGNAL;
    }
}
