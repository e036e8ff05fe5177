package dev.semel.server.steps;

/** Thrown when a step ends the run early: `end: word`. */
final class EarlyRunEndException extends RuntimeException {
    private final String status;

    EarlyRunEndException(String word) {
        super("the run ends: " + word, null, false, false);
        this.status = word;
    }

    String status() {
        return status;
    }
}
