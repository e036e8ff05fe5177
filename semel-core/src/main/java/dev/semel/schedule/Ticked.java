package dev.semel.schedule;

import java.util.Locale;

/** What became of a tick. The codes are stored. */
public enum Ticked {
    FIRED(1),
    /** Somebody was away when it was due, and it was made up for. */
    CAUGHT_UP(2),
    /** A person asked for it later. */
    BACKFILLED(3),
    SKIPPED(4),
    /** The workflow did not take its input. */
    REFUSED(5);

    private final int code;

    Ticked(int code) {
        this.code = code;
    }

    public int code() {
        return code;
    }

    /** It has a run of its own, so it is done for good. */
    public boolean ran() {
        return code <= BACKFILLED.code;
    }

    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    public static Ticked of(int code) {
        for (Ticked state : values()) {
            if (state.code == code) {
                return state;
            }
        }
        throw new IllegalArgumentException("no tick has the state " + code);
    }
}
