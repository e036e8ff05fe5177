package dev.semel.trials.chaos.checks;

/**
 * A promise that was broken.
 *
 * @param invariant its number in the list of invariants
 */
public record Violation(int invariant, String what) {
    @Override
    public String toString() {
        return "invariant " + invariant + ": " + what;
    }
}
