package dev.semel.run;

import java.util.Locale;

/** The status of a run. The codes are stored; the lower-case names appear in the API, the CLI and the dashboard. */
public enum RunState {
    QUEUED(1),
    STARTED(2),
    RUNNING(3),
    WAITING(4),
    IN_DOUBT(5),
    HELD(6),
    COMPLETED(10),
    FAILED(11),
    CANCELLED(12);

    private final int code;

    RunState(int code) {
        this.code = code;
    }

    public static RunState of(int code) {
        for (RunState state : values()) {
            if (state.code == code) {
                return state;
            }
        }
        throw new IllegalArgumentException("no run state has the code " + code);
    }

    public int code() {
        return code;
    }

    public String wireName() {
        return name().toLowerCase(Locale.ROOT);
    }

    public boolean hasEnded() {
        return code >= 10;
    }
}
