package dev.semel.server.query.view;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The runs with an unknown outcome that are safe to send again, and how long. */
public record RecoveryView(
        Instant at,

        @Described(value = "Runs with an unknown outcome that are safe to send again.", min = 0)
        long runs,

        @Described(min = 0) long loseSafeResendWithinHour,
        @Described(min = 0) long loseSafeResendWithinDay,

        @Described("When the first run loses safe re-send.") @Nullable
        Instant soonest,

        @Described(maxItems = 1_000) List<WorkflowRecoveryView> workflows) {

    public record WorkflowRecoveryView(
            String workflowId,
            @Described("The workflow's name.") @Nullable String workflow,
            @Described(min = 0) long runs,
            @Described(min = 0) long loseSafeResendWithinHour,
            @Described(min = 0) long loseSafeResendWithinDay,
            Instant soonest) {}
}
