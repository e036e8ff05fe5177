package dev.semel.replay;

/**
 * What will happen at one step of a replay, and why.
 *
 * @param step its path
 * @param kind the word of the journal: step, effect, tx, approval, await, signal or call
 * @param until when the provider forgets the key that goes out again, in microseconds; 0 for any other action
 * @param certain the run comes to it for sure; false for what hangs on a condition or stands in a loop
 */
public record Foretold(String step, String kind, Action action, String why, long until, boolean certain) {
    /** The same step, for another reason. */
    Foretold instead(Action other, String because) {
        return new Foretold(step, kind, other, because, 0, certain);
    }

    /** The same, as certain as this. */
    Foretold perhaps(boolean sure) {
        return new Foretold(step, kind, action, why, until, sure);
    }

    /** Whether it changes something outside of its run. */
    boolean isDeed() {
        return kind.equals("effect") || kind.equals("tx") || kind.equals("call");
    }
}
