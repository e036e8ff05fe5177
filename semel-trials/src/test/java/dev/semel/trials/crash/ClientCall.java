package dev.semel.trials.crash;

/** One request and what its sender learned. */
record ClientCall(String key, int epoch, Outcome outcome) {
    sealed interface Outcome {}

    record Ok(String runId, boolean replayed) implements Outcome {}

    /** A clear no. */
    record Rejected(int status, String body) implements Outcome {}

    /** Sent or half sent, and no answer: anything may have happened. */
    record Unknown(String why) implements Outcome {}
}
