package dev.semel.replay;

import java.util.List;
import java.util.TreeSet;

/**
 * How a run is to be replayed.
 *
 * @param from the path of the step it goes on from; empty for where it ended, {@link #START} for the beginning
 * @param otherInput it gets another input than it had
 * @param otherVersion it goes by another version of its workflow
 * @param redo paths of steps that are done again on purpose, although they are done
 * @param confirmed whoever asks for that has said that it is meant; else a person has to look
 * @param telling what becomes of notifications
 */
public record Terms(
        String from, boolean otherInput, boolean otherVersion, List<String> redo, boolean confirmed, Notify telling) {
    public static final String START = "start";

    /** Where it ended, with what it had. */
    public static final Terms USUAL = new Terms("", false, false);

    public Terms {
        redo = List.copyOf(redo);
    }

    public Terms(String from, boolean otherInput, boolean otherVersion) {
        this(from, otherInput, otherVersion, List.of(), false);
    }

    /** One that sends the notifications that are missing. */
    public Terms(String from, boolean otherInput, boolean otherVersion, List<String> redo, boolean confirmed) {
        this(from, otherInput, otherVersion, redo, confirmed, Notify.MISSING);
    }

    /** The same, with what becomes of notifications. Those that are sent again are named among what is done again. */
    public Terms notifying(Notify value, Past past) {
        TreeSet<String> again = new TreeSet<>(redo);
        if (value == Notify.AGAIN) {
            again.addAll(Notifications.sent(past));
        }
        return new Terms(from, otherInput, otherVersion, List.copyOf(again), confirmed, value);
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
