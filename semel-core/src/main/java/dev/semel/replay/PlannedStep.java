package dev.semel.replay;

/**
 * The predicted action of a safe replay at one step, with the reason.
 *
 * @param step its path
 * @param kind as in the journal: step, effect, tx, approval, await, signal or call
 * @param until when the provider forgets the key that is sent again, in microseconds; 0 for other actions
 * @param certain whether the run certainly reaches it; false for conditional steps and loops
 */
public record PlannedStep(String step, String kind, ReplayAction action, String why, long until, boolean certain) {
    /** The same step with another action. */
    PlannedStep withAction(ReplayAction other, String because) {
        return new PlannedStep(step, kind, other, because, 0, certain);
    }

    /** The same step with this certainty. */
    PlannedStep withCertainty(boolean sure) {
        return new PlannedStep(step, kind, action, why, until, sure);
    }

    /** Whether it changes something outside its run. */
    boolean isSideEffect() {
        return kind.equals("effect") || kind.equals("tx") || kind.equals("call");
    }
}
