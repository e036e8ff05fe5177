package dev.semel.replay;

import java.util.List;
import java.util.TreeSet;

/**
 * @param from the path of the step to start from; empty for where it ended, {@link #START} for the beginning
 * @param otherInput it gets another input than it had
 * @param otherVersion it uses another version of its workflow
 * @param redo paths of finished steps that run again on purpose
 * @param confirmed the caller confirmed {@code redo}; otherwise a user must decide
 * @param notifications what happens with notifications
 */
public record ReplayOptions(
        String from,
        boolean otherInput,
        boolean otherVersion,
        List<String> redo,
        boolean confirmed,
        ReplayNotificationMode notifications) {
    public static final String START = "start";

    /** From where it ended, with its input and version. */
    public static final ReplayOptions DEFAULT = new ReplayOptions("", false, false);

    public ReplayOptions {
        redo = List.copyOf(redo);
    }

    public ReplayOptions(String from, boolean otherInput, boolean otherVersion) {
        this(from, otherInput, otherVersion, List.of(), false);
    }

    /** Options that send missing notifications. */
    public ReplayOptions(String from, boolean otherInput, boolean otherVersion, List<String> redo, boolean confirmed) {
        this(from, otherInput, otherVersion, redo, confirmed, ReplayNotificationMode.MISSING);
    }

    /** The same options with this notification mode. Notifications to send again are added to {@code redo}. */
    public ReplayOptions notifying(ReplayNotificationMode value, ReplayPlannerInput source) {
        TreeSet<String> again = new TreeSet<>(redo);
        if (value == ReplayNotificationMode.AGAIN) {
            again.addAll(RunNotificationEffectFinder.sent(source));
        }
        return new ReplayOptions(from, otherInput, otherVersion, List.copyOf(again), confirmed, value);
    }

    /** Whether the new run starts with the old journal. With another input or version it may not match. */
    boolean carriesJournal() {
        return !from.equals(START) && !otherInput && !otherVersion;
    }

    /** Whether it starts with the whole journal, so that a completed run has nothing left to do. */
    boolean carriesWholeJournal() {
        return carriesJournal() && from.isEmpty() && redo.isEmpty();
    }
}
