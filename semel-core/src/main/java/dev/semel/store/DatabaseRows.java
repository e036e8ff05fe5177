package dev.semel.store;

import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.schedule.ScheduleTickOutcome;
import dev.semel.trigger.TriggerSource;
import org.jspecify.annotations.Nullable;

/** Rows that the store returns from queries. Times are microseconds of the store's clock. */
public final class DatabaseRows {
    private DatabaseRows() {}

    public record WorkspaceRow(int ws, String name, byte[] secret) {}

    /** @param createdBy null if unknown */
    public record TokenRow(
            String tokenId,
            int ws,
            String workspace,
            String name,
            byte[] hash,
            String scopes,
            int quotaPerMinute,
            long createdAt,
            long revokedAt,
            @Nullable String createdBy) {}

    /** @param changed whether the command that returns it changed anything */
    public record WorkflowRow(
            int ws,
            String name,
            String workflowId,
            WorkflowVersionRollout rollout,
            boolean paused,
            long createdAt,
            boolean changed) {
        /** A workflow whose newest version gets all triggers. */
        public WorkflowRow(
                int ws, String name, String workflowId, int version, boolean paused, long createdAt, boolean changed) {
            this(ws, name, workflowId, WorkflowVersionRollout.of(version), paused, createdAt, changed);
        }

        public int version() {
            return rollout.version();
        }
    }

    /** A published workflow version; the body is empty in lists. */
    public record VersionRow(
            String workflowId, String name, int ws, int version, String body, long publishedAt, String by) {}

    /**
     * In lists, inputs and outputs over 4 KiB are empty. {@code input}, {@code output}, {@code entries} are JSON.
     *
     * @param leftQueueAt when a queued run started; 0 for a run that started with its admission
     */
    public record RunRow(
            RunId id,
            int ws,
            @Nullable String chosenId,
            String workflowId,
            int version,
            RunState state,
            NewRun.TriggerOrigin origin,
            String input,
            RunId lineage,
            @Nullable RunId previous,
            @Nullable RunId duplicateOf,
            long createdAt,
            @Nullable RunProgress progress,
            @Nullable RunEnd end,
            DuplicateCounts counts,
            @Nullable RunId parent,
            @Nullable RunId replayOf,
            int depth,
            long leftQueueAt) {
        /** {@link #leftQueueAt} of a run that was cancelled before it started. */
        public static final long NEVER_STARTED = -1;

        /** When it started, or null if it has not. */
        public @Nullable Long startedAt() {
            if (state == RunState.QUEUED || leftQueueAt == NEVER_STARTED) {
                return null;
            }
            return leftQueueAt == 0 ? createdAt : leftQueueAt;
        }

        public String runIdText() {
            return chosenId != null ? chosenId : id.text();
        }
    }

    /**
     * @param crashCount how often in a row its worker crashed while executing it
     * @param waitingFor what it waits for, as JSON text; null for nothing
     */
    public record RunProgress(
            int claims,
            int crashCount,
            boolean cancelRequested,
            long due,
            @Nullable String waitingFor) {}

    /** Number of recent runs of one version in one state. */
    public record RunCount(int version, RunState state, long runs) {}

    /** A signal that no wait has recorded, without its value. */
    public record UnreadSignal(RunId id, String name, String key, long bytes) {}

    public record SignalRow(RunId id, String name, String key, String value, long at) {}

    public record RunEnd(long endedAt, StoreWrite.RunResult result, String entries) {}

    public record DuplicateCounts(long replays, long conflicts, long lastSeenAt) {
        public static final DuplicateCounts NONE = new DuplicateCounts(0, 0, 0);
    }

    /** A unique key with its record, actor, duplicate counts and error; newest first in lists. */
    public record KeyRow(
            RunDeduplicationKey key,
            dev.semel.admission.RunDeduplicationKeyRecord keyRecord,
            String actor,
            @Nullable String correlationId,
            DuplicateCounts counts,
            @Nullable String errorCode,
            @Nullable String errorStep) {}

    /**
     * @param renewedAt when it reported; 0 if not yet
     * @param leaseUntil when its lease expires unless renewed
     * @param clockAhead how far its clock is ahead of the store's, in microseconds; negative if behind
     */
    public record WorkerRow(
            long lease,
            String name,
            String version,
            long startedAt,
            long renewedAt,
            long leaseUntil,
            int runs,
            long clockAhead) {}

    /** @param body its text; empty if removed, and in lists if it is over 4 KiB */
    public record SettingRow(
            int ws,
            String kind,
            String name,
            int version,
            String body,
            long changedAt,
            String changedBy,
            boolean removed) {}

    /**
     * @param spec the schedule as JSON text; a different text means that it was edited
     * @param nextNominal the next tick, in microseconds; {@link StoreWrite.Suspension#NEVER} for none
     * @param nextAt when that tick fires
     * @param takenBy the request that claimed that tick; null for none
     * @param lastRun of the newest tick that has a run
     * @param busy that run has not ended
     */
    public record ScheduleRow(
            int ws,
            String workflowId,
            String name,
            String spec,
            boolean paused,
            long nextNominal,
            long nextAt,
            @Nullable RunId takenBy,
            long takenUntil,
            @Nullable RunId lastRun,
            boolean busy) {}

    /**
     * @param reason why it has no run; empty if it has one
     * @param run its own run, or the run that it would have overlapped
     * @param through 0; or the end of an outage whose ticks are recorded as one
     */
    public record TickRow(
            String workflowId,
            String schedule,
            long nominal,
            ScheduleTickOutcome state,
            String reason,
            @Nullable RunId run,
            long recordedAt,
            long through) {}

    /**
     * @param eventId Semel's id of it, which identifies repeats
     * @param seq increases with time, for lists
     * @param body the whole event as JSON text; empty in lists if it is over 4 KiB
     * @param matched the highest number of workflows that subscribed to it in any attempt
     * @param notes why others did not match, as JSON text
     */
    public record EventRow(
            int ws,
            String eventId,
            RunId seq,
            TriggerSource triggerSource,
            String source,
            String id,
            String type,
            String body,
            long at,
            String actor,
            @Nullable String correlationId,
            int matched,
            String notes) {
        /** The same row after a later attempt that matched more workflows. */
        public EventRow withMatchesOf(EventRow again) {
            return again.matched <= matched
                    ? this
                    : new EventRow(
                            ws,
                            eventId,
                            seq,
                            triggerSource,
                            source,
                            id,
                            type,
                            body,
                            at,
                            actor,
                            correlationId,
                            again.matched,
                            again.notes);
        }

        public EventRow at(long now) {
            return new EventRow(
                    ws, eventId, seq, triggerSource, source, id, type, body, now, actor, correlationId, matched, notes);
        }
    }

    public record AuditRow(RunId id, long at, String actor, String action, String target, String reason) {}

    /**
     * Runs of a workflow with an unknown outcome that are safe to send again.
     *
     * @param runs all of them
     * @param inHour how many stop to be safe within the next hour
     * @param inDay how many stop to be safe within the next day
     * @param soonest when the first one stops to be safe
     */
    public record ResendLoss(String workflowId, long runs, long inHour, long inDay, long soonest) {}
}
