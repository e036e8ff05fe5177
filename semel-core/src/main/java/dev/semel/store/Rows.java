package dev.semel.store;

import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.schedule.Ticked;
import dev.semel.trigger.Door;
import org.jspecify.annotations.Nullable;

/** Rows that the store returns from queries. Times are microseconds of the store's clock. */
public final class Rows {
    private Rows() {}

    /** A workspace with its hash secret. */
    public record Workspace(int ws, String name, byte[] secret) {}

    /**
     * An API token.
     *
     * @param madeBy who created it; null if unknown
     */
    public record Token(
            String tokenId,
            int ws,
            String workspace,
            String name,
            byte[] hash,
            String scopes,
            int quotaPerMinute,
            long createdAt,
            long revokedAt,
            @Nullable String madeBy) {
        public Token(
                String tokenId,
                int ws,
                String workspace,
                String name,
                byte[] hash,
                String scopes,
                int quotaPerMinute,
                long createdAt,
                long revokedAt) {
            this(tokenId, ws, workspace, name, hash, scopes, quotaPerMinute, createdAt, revokedAt, null);
        }
    }

    /**
     * A workflow with its rollout.
     *
     * @param changed whether the command that returns it changed anything
     */
    public record Workflow(
            int ws, String name, String workflowId, Rollout rollout, boolean paused, long createdAt, boolean changed) {
        /** A workflow whose newest version gets all triggers. */
        public Workflow(
                int ws, String name, String workflowId, int version, boolean paused, long createdAt, boolean changed) {
            this(ws, name, workflowId, Rollout.of(version), paused, createdAt, changed);
        }

        public int version() {
            return rollout.version();
        }

        public Workflow changed(boolean value) {
            return new Workflow(ws, name, workflowId, rollout, paused, createdAt, value);
        }
    }

    /** A published workflow version; the body is empty in lists. */
    public record Version(
            String workflowId, String name, int ws, int version, String body, long publishedAt, String by) {}

    /**
     * A run with its state, input and result. In lists, inputs and outputs over 4 KiB are empty. {@code input}, {@code
     * output} and {@code entries} are JSON texts.
     */
    public record Run(
            RunId id,
            int ws,
            @Nullable String chosenId,
            String workflowId,
            int version,
            RunState state,
            NewRun.Origin origin,
            String input,
            RunId lineage,
            @Nullable RunId previous,
            @Nullable RunId duplicateOf,
            long createdAt,
            @Nullable Work work,
            @Nullable End end,
            Counts counts,
            @Nullable RunId parent,
            @Nullable RunId replayOf,
            int depth) {
        public String runIdText() {
            return chosenId != null ? chosenId : id.text();
        }
    }

    /**
     * Execution state of an unfinished run.
     *
     * @param falls how often in a row its worker crashed while executing it
     * @param waits what it waits for, as JSON text; null for nothing
     */
    public record Work(
            int claims,
            int falls,
            boolean cancel,
            long due,
            @Nullable String waits) {}

    /** Number of recent runs of one version in one state. */
    public record Tally(int version, RunState state, long runs) {}

    /** A signal that a run received. */
    public record Signal(RunId id, String name, String key, String value, long at) {}

    /** When and how a run ended, with its last journal entries. */
    public record End(long endedAt, Write.Ending ending, String entries) {}

    /** Counts of duplicate requests. */
    public record Counts(long replays, long conflicts, long lastSeenAt) {
        public static final Counts NONE = new Counts(0, 0, 0);
    }

    /** A unique key with its record, actor, duplicate counts and error; newest first in lists. */
    public record Held(
            Name name,
            dev.semel.key.Known known,
            String actor,
            @Nullable String correlationId,
            Counts counts,
            @Nullable String errorCode,
            @Nullable String errorStep) {}

    /**
     * A worker process with the status that it last reported.
     *
     * @param renewedAt when it reported; 0 if not yet
     * @param until when its lease expires unless renewed
     * @param ahead how far its clock is ahead of the store's, in microseconds; negative if behind
     */
    public record Worker(
            long lease, String name, String version, long startedAt, long renewedAt, long until, int runs, long ahead) {
        public Worker until(long value) {
            return new Worker(lease, name, version, startedAt, renewedAt, value, runs, ahead);
        }

        public Worker telling(Leases.Told told, long now) {
            return new Worker(lease, name, told.version(), startedAt, now, until, told.runs(), told.wall() - now);
        }
    }

    /**
     * One version of a setting of a workspace.
     *
     * @param body its text; empty if removed, and in lists if it is over 4 KiB
     */
    public record Setting(
            int ws,
            String kind,
            String name,
            int version,
            String body,
            long changedAt,
            String changedBy,
            boolean removed) {}

    /**
     * A schedule of a workflow with its next tick.
     *
     * @param spec the schedule as JSON text; a different text means that it was edited
     * @param nextNominal the next tick, in microseconds; {@link Write.Rest#NEVER} for none
     * @param nextAt when that tick fires
     * @param takenBy the request that claimed that tick; null for none
     * @param lastRun of the newest tick that has a run
     * @param busy that run has not ended
     */
    public record Schedule(
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
     * A recorded tick of a schedule with its outcome.
     *
     * @param reason why it has no run; empty if it has one
     * @param run its own run, or the run that it would have overlapped
     * @param through 0; or the end of an outage whose ticks are recorded as one
     */
    public record Tick(
            String workflowId,
            String schedule,
            long nominal,
            Ticked state,
            String reason,
            @Nullable RunId run,
            long at,
            long through) {}

    /**
     * A received event.
     *
     * @param eventId Semel's id of it, which identifies repeats
     * @param seq increases with time, for lists
     * @param body the whole event as JSON text; empty in lists if it is over 4 KiB
     * @param matched the highest number of workflows that subscribed to it in any attempt
     * @param notes why others did not match, as JSON text
     */
    public record Event(
            int ws,
            String eventId,
            RunId seq,
            Door door,
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
        public Event after(Event again) {
            return again.matched <= matched
                    ? this
                    : new Event(
                            ws,
                            eventId,
                            seq,
                            door,
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

        public Event at(long now) {
            return new Event(ws, eventId, seq, door, source, id, type, body, now, actor, correlationId, matched, notes);
        }
    }

    /** A row of the audit log. */
    public record Audit(RunId id, long at, String actor, String action, String target, String reason) {}
}
