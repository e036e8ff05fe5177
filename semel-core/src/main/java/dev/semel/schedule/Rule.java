package dev.semel.schedule;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** At which times something is due, by themselves and without any clock. */
public sealed interface Rule permits Cron, Every {
    /** Nothing is due after this; it also bounds every search. */
    Instant END_OF_TIME = Instant.parse("9999-01-01T00:00:00Z");

    /** The first time behind this one, in whole seconds; null where none comes any more. */
    @Nullable
    Instant after(Instant time);
}
