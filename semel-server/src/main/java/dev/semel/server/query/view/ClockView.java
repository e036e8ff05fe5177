package dev.semel.server.query.view;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

public record ClockView(
        @Described("Whether the store follows the machine's clock. On PostgreSQL the database's clock counts, so always"
                + " true.")
        boolean trusted,

        Instant storeTime,
        @Described("Only after a jump.") @Nullable Instant machineTime,

        @Described("Only after a jump: when the store follows the machine's clock again, if it does not jump again.")
        @Nullable
        Instant trustedAt) {}
