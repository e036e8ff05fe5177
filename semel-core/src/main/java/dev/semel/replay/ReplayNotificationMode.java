package dev.semel.replay;

import java.util.Locale;

/** What a safe replay does with notifications. The words are stored. */
public enum ReplayNotificationMode {
    /** Reuses sent notifications and sends the missing ones. */
    MISSING,
    /** Sends no notification: the step of a missing one ends without a result. */
    NONE,
    /** Sends all notifications again on purpose, like steps that are listed for redo. */
    AGAIN;

    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    public static ReplayNotificationMode of(String word) {
        return valueOf(word.toUpperCase(Locale.ROOT));
    }
}
