package dev.semel.replay;

import java.util.Locale;

/** What a safe replay does about one step, the harmless first. The words are shown, their places are stored. */
public enum Action {
    /** Its result is on record and stands. */
    REUSE,
    /** A plain step, or an effect that may be repeated. */
    RUN_AGAIN,
    /** It goes out for the first time: nobody has it. */
    SEND,
    /** It was sent and not answered; the same key goes out again while the provider knows it. */
    RESEND,
    /** It was sent and not answered; the provider is asked first. */
    CHECK,
    /** A person has to say how it stands. */
    ASK,
    /** It goes out again, and nothing stops a second one. */
    UNPROTECTED;

    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Whether it can be done without anybody looking at it: it makes no duplicate. */
    public boolean isSafe() {
        return compareTo(ASK) < 0;
    }

    /** Its place in a set of actions that is stored as a number. */
    public int bit() {
        return 1 << ordinal();
    }

    public static Action of(String word) {
        return valueOf(word.toUpperCase(Locale.ROOT));
    }
}
