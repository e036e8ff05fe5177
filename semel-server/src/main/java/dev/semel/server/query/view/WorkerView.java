package dev.semel.server.query.view;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

public record WorkerView(
        @Described("Display name; not unique.") String worker,

        @Described(value = "Id of its lease; new at each start.", pattern = "^wk_[0-9a-f]{16}$")
        String workerId,

        @Described("Version of Semel; null before the first heartbeat.") @Nullable
        String version,

        @Described("Judged by the store's clock. Other workers take over an expired worker within seconds.")
        Status status,

        @Described("Whether this worker sent the response.") boolean current,
        Instant startedAt,

        @Described("Its last heartbeat, which reported these values.") @Nullable
        Instant renewedAt,

        Instant leaseUntil,

        @Described(value = "Runs in memory at the last heartbeat.", min = 0)
        long runs,

        @Described("How far its clock is ahead of the store's; negative if behind. No decision of Semel depends on it.")
        long clockAheadMs) {
    public enum Status {
        LIVE,
        EXPIRED
    }

    /** @param next always null: the list has one page */
    public record WorkerList(
            List<WorkerView> items,
            @Nullable String next,

            @Described(
                    value = "Delay of the oldest due run that no worker executes, in milliseconds; 0 if there is none.",
                    min = 0)
            long lagMs) {}
}
