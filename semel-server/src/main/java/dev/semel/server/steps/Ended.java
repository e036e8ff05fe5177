package dev.semel.server.steps;

/** Thrown when a step ends the run early: `end: word`. */
final class Ended extends RuntimeException {
    private final String word;

    Ended(String word) {
        super("the run ends: " + word, null, false, false);
        this.word = word;
    }

    String word() {
        return word;
    }
}
