package dev.semel.replay;

import java.util.Locale;

/** Least risky first except for the last two. The words are shown, the positions are stored. */
public enum SafeReplayStepAction {
    /** It reuses the recorded result. */
    REUSE,
    /** It runs a plain step or a repeatable effect again. */
    RUN_AGAIN,
    /** It sends the effect for the first time. */
    SEND,
    /** It was sent without a response; it is sent again with the same key while the provider remembers it. */
    RESEND,
    /** It was sent without a response; the engine queries the provider first. */
    CHECK,
    ASK,
    /** It is sent again, and nothing prevents a duplicate. */
    UNPROTECTED,
    /** It is a notification that this replay does not send. */
    SILENT,
    /** It was sent before; a user confirmed that it is sent again on purpose, with a new key. */
    SEND_AGAIN;

    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Whether it needs no user decision, because it cannot create a duplicate. */
    public boolean isSafe() {
        return this == SILENT || compareTo(ASK) < 0;
    }

    /** Whether an apply needs no further consent: it is safe, or a user confirmed it when the plan was made. */
    public boolean isConsented() {
        return isSafe() || this == SEND_AGAIN;
    }

    /** Whether it is riskier. */
    boolean isWorseThan(SafeReplayStepAction other) {
        return rank() > other.rank();
    }

    private int rank() {
        return switch (this) {
            case SILENT -> 1;
            case SEND_AGAIN -> 2 * CHECK.ordinal() + 1;
            case REUSE, RUN_AGAIN, SEND, RESEND, CHECK, ASK, UNPROTECTED -> 2 * ordinal();
        };
    }

    /** Its bit in a stored set of actions. */
    public int bit() {
        return 1 << ordinal();
    }

    public static SafeReplayStepAction of(String word) {
        return valueOf(word.toUpperCase(Locale.ROOT));
    }
}
