package dev.semel.replay;

/**
 * How a run is to be replayed.
 *
 * @param from the path of the step it goes on from; empty for where it ended, {@link #START} for the beginning
 * @param otherInput it gets another input than it had
 * @param otherVersion it goes by another version of its workflow
 */
public record Terms(String from, boolean otherInput, boolean otherVersion) {
    public static final String START = "start";

    /** Where it ended, with what it had. */
    public static final Terms USUAL = new Terms("", false, false);

    /** Whether the new run begins with what the old one has on record. Under other terms that may not fit. */
    boolean carries() {
        return !from.equals(START) && !otherInput && !otherVersion;
    }

    /** Whether it begins with all of it, so that a run that completed has nothing before it. */
    boolean carriesAll() {
        return carries() && from.isEmpty();
    }
}
