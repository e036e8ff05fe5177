package dev.semel.replay;

import java.util.Locale;

/** What a safe replay does about one step, the harmless first but for the last. The words are shown, their places are stored. */
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
    UNPROTECTED,
    /** It would tell somebody something, and this replay is to tell nobody anything: it does not go out. */
    SILENT;

    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Whether it can be done without anybody looking at it: it makes no duplicate. */
    public boolean isSafe() {
        return this == SILENT || compareTo(ASK) < 0;
    }

    /** Whether it deserves more attention. What came to this list last is nearly as harmless as its first. */
    boolean isWorseThan(Action other) {
        return rank() > other.rank();
    }

    private int rank() {
        return this == SILENT ? 1 : 2 * ordinal();
    }

    /** Its place in a set of actions that is stored as a number. */
    public int bit() {
        return 1 << ordinal();
    }

    public static Action of(String word) {
        return valueOf(word.toUpperCase(Locale.ROOT));
    }
}
