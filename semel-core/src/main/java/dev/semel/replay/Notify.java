package dev.semel.replay;

import java.util.Locale;

/** What a safe replay does about notifications, which are the effects that tell somebody something. The words are stored. */
public enum Notify {
    /** What was sent is reused and stays silent; what was not is sent. */
    MISSING,
    /** What was not sent is not sent: its step ends without a result. */
    NONE,
    /** What was sent is sent again on purpose, as if it were named to be done again. */
    AGAIN;

    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    public static Notify of(String word) {
        return valueOf(word.toUpperCase(Locale.ROOT));
    }
}
