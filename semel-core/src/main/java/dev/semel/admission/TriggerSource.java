package dev.semel.admission;

/** The source of a trigger: HTTP, library, child workflow, replay, event, webhook or schedule. The codes are stored. */
public enum TriggerSource {
    HTTP(1),
    LIBRARY(2),
    CHILD(3),
    REPLAY(4),
    EVENT(5),
    WEBHOOK(6),
    SCHEDULE(7);

    private final int code;

    TriggerSource(int code) {
        this.code = code;
    }

    public int code() {
        return code;
    }

    public static TriggerSource of(int code) {
        for (TriggerSource source : values()) {
            if (source.code == code) {
                return source;
            }
        }
        throw new IllegalArgumentException("no trigger source has the code " + code);
    }
}
