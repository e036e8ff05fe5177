package dev.semel.schedule;

import java.util.Locale;

/** The recorded outcome of a tick. The codes are stored. */
public enum ScheduleTickOutcome {
    FIRED(1),
    /** No worker ran when it was due; it was caught up later. */
    CAUGHT_UP(2),
    /** A user backfilled it. */
    BACKFILLED(3),
    SKIPPED(4),
    /** The workflow rejected its input. */
    REJECTED(5);

    private final int code;

    ScheduleTickOutcome(int code) {
        this.code = code;
    }

    public int code() {
        return code;
    }

    /** Whether it has its own run, which is final. */
    public boolean ran() {
        return code <= BACKFILLED.code;
    }

    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    public static ScheduleTickOutcome of(int code) {
        for (ScheduleTickOutcome state : values()) {
            if (state.code == code) {
                return state;
            }
        }
        throw new IllegalArgumentException("no tick outcome has the code " + code);
    }
}
