package dev.semel.store;

import java.util.Locale;

/** What is counted. The codes are stored. */
public enum Figure {
    /** A trigger with a name of its own (a key, a chosen run id, what its door calls it) that got a run. */
    KEYED(1),
    /** A trigger without any name, which always gets a run. */
    UNKEYED(2),
    /** A request that was answered with the run it had started before. */
    REPLAYED(3),
    /** A name that was refused because it stands for something else. */
    CONFLICT(4),
    /** A payload that was refused because it ran under another key. */
    SAME_PAYLOAD(5),
    /** A trigger with a key whose window was over. It is keyed, too. */
    EXPIRED(6),
    /** A run that completed after a failed attempt or after its worker had died. */
    RECOVERED(7),
    /** An effect that creates or updates something and was accepted. */
    WRITTEN(8),
    /** An effect that tells somebody something and was accepted. */
    TOLD(9),
    /** An effect that was not sent again inside its window. */
    SUPPRESSED(10),
    /** An accepted effect that nothing protects. It is written or told, too. */
    UNPROTECTED(11);

    private final int code;

    Figure(int code) {
        this.code = code;
    }

    public int code() {
        return code;
    }

    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    public static Figure of(int code) {
        for (Figure figure : values()) {
            if (figure.code == code) {
                return figure;
            }
        }
        throw new IllegalArgumentException("no figure has the code " + code);
    }
}
