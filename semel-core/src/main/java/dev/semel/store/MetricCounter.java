package dev.semel.store;

import java.util.Locale;

/** The counters that the store keeps per minute, workflow and step for monitoring. The codes are stored. */
public enum MetricCounter {
    /** A trigger with an identifier (a key, a chosen run id or the id of its source) that got a run. */
    KEYED(1),
    /** A trigger without an identifier, which always gets a run. */
    UNKEYED(2),
    /** A duplicate request that was answered with the existing run. */
    REPLAYED(3),
    /** A request that was rejected because its key belongs to another action. */
    CONFLICT(4),
    /** A request that was rejected because its payload ran under another key. */
    DUPLICATE_PAYLOAD(5),
    /** A trigger with an expired key. It also counts as keyed. */
    EXPIRED(6),
    /** A run that completed after a failed attempt or after its worker crashed. */
    RECOVERED(7),
    /** An accepted effect that creates or updates something. */
    WRITTEN(8),
    /** An accepted effect that sends a notification. */
    NOTIFIED(9),
    /** An effect that was not sent again inside its window. */
    SUPPRESSED(10),
    /** An accepted effect without protection. It also counts as a write or a notification. */
    UNPROTECTED(11);

    private final int code;

    MetricCounter(int code) {
        this.code = code;
    }

    public int code() {
        return code;
    }

    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    public static MetricCounter of(int code) {
        for (MetricCounter figure : values()) {
            if (figure.code == code) {
                return figure;
            }
        }
        throw new IllegalArgumentException("no counter has the code " + code);
    }
}
