package dev.semel.server.query.view;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** A side effect of the ledger with its key, status and run. */
public record EffectView(
        String effectKey,

        @Described("The key as the provider received it; null if it received none.") @Nullable
        String sentKey,

        Status status,
        String stepId,
        String path,
        String runId,
        String workflowId,
        @Nullable String workflow,
        String protection,
        String does,
        @Nullable String object,
        @Nullable String worth,
        @Described(min = 0) int attempts,
        Instant firstAt,
        @Nullable Instant acceptedAt,
        @Nullable Instant windowEndsAt,

        @Described("The outcome is unknown, and the effect is safe to send again with the same key until then.")
        @Nullable
        Instant safeToResendUntil,

        @Described(
                value = "ISO week and counter, or the counter alone for an effect without a window.",
                example = "2026-W47.1")
        String generation) {
    /** With `unknown`, the effect may have happened and may be sent again; `in_doubt` waits for a decision. */
    public enum Status {
        IN_FLIGHT,
        DONE,
        IN_DOUBT,
        UNKNOWN,
        NOT_DONE,
        SUPPRESSED,
        /** A crash cut off this send, and a later one followed. */
        LOST
    }
}
