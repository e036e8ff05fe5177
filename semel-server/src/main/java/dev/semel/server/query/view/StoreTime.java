package dev.semel.server.query.view;

import dev.semel.admission.RunDeduplicationKeyClaim;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** Converts the microseconds of the store into the times of views. */
public final class StoreTime {
    private StoreTime() {}

    public static Instant instant(long micros) {
        return Instant.ofEpochSecond(Math.floorDiv(micros, 1_000_000), Math.floorMod(micros, 1_000_000) * 1_000L);
    }

    /** Null for 0 and for a time that never comes. */
    public static @Nullable Instant instantOrNull(long micros) {
        return micros == 0 || micros == RunDeduplicationKeyClaim.FOREVER ? null : instant(micros);
    }
}
