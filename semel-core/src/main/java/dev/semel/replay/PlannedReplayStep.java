package dev.semel.replay;

/**
 * @param step its path
 * @param kind as in the journal: step, effect, tx, approval, await, signal or call
 * @param until when the provider forgets the key that is sent again, in microseconds; 0 for other actions
 * @param certain whether the run certainly reaches it; false for conditional steps and loops
 */
public record PlannedReplayStep(
        String step, String kind, SafeReplayStepAction action, String why, long until, boolean certain) {
    PlannedReplayStep withAction(SafeReplayStepAction other, String because) {
        return new PlannedReplayStep(step, kind, other, because, 0, certain);
    }

    PlannedReplayStep withCertainty(boolean sure) {
        return new PlannedReplayStep(step, kind, action, why, until, sure);
    }

    /** Whether it changes something outside its run. */
    boolean isSideEffect() {
        return kind.equals("effect") || kind.equals("tx") || kind.equals("call");
    }
}
