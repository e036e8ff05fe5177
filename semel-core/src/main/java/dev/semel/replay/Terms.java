package dev.semel.replay;

import java.util.List;

/**
 * How a run is to be replayed.
 *
 * @param from the path of the step it goes on from; empty for where it ended, {@link #START} for the beginning
 * @param otherInput it gets another input than it had
 * @param otherVersion it goes by another version of its workflow
 * @param redo paths of steps that are done again on purpose, although they are done
 * @param confirmed whoever asks for that has said that it is meant; else a person has to look
 */
public record Terms(String from, boolean otherInput, boolean otherVersion, List<String> redo, boolean confirmed) {
    public static final String START = "start";

    /** Where it ended, with what it had. */
    public static final Terms USUAL = new Terms("", false, false);

    public Terms {
        redo = List.copyOf(redo);
    }

    public Terms(String from, boolean otherInput, boolean otherVersion) {
        this(from, otherInput, otherVersion, List.of(), false);
    }

    /** Whether the new run begins with what the old one has on record. Under other terms that may not fit. */
    boolean carries() {
        return !from.equals(START) && !otherInput && !otherVersion;
    }

    /** Whether it begins with all of it, so that a run that completed has nothing before it. */
    boolean carriesAll() {
        return carries() && from.isEmpty() && redo.isEmpty();
    }
}
