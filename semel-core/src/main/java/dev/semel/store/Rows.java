package dev.semel.store;

import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.schedule.Ticked;
import dev.semel.trigger.Door;
import org.jspecify.annotations.Nullable;

/** What the store tells when asked. Times are microseconds of the store's clock. */
public final class Rows {
    private Rows() {}

    public record Workspace(int ws, String name, byte[] secret) {}

    /** @param madeBy who asked for it; null where that is not known */
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

    /** @param changed whether the edit that answers with it changed anything */
    public record Workflow(
            int ws, String name, String workflowId, Rollout rollout, boolean paused, long createdAt, boolean changed) {
        /** One that has its newest version for all triggers. */
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

    /** One version (in lists the body is empty text). */
    public record Version(
            String workflowId, String name, int ws, int version, String body, long publishedAt, String by) {}

    /** A run with everything about it (in lists an input or output over 4 KiB is empty text); {@code input}, {@code output} and {@code entries} are JSON texts. */
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
     * An unfinished run.
     *
     * @param falls how often in a row its worker died with it
     * @param waits what it waits for, as JSON text; null where it waits for nothing
     */
    public record Work(
            int claims,
            int falls,
            boolean cancel,
            long due,
            @Nullable String waits) {}

    /** How many of the newest runs of a workflow are of this version and in this state. */
    public record Tally(int version, RunState state, long runs) {}

    public record Signal(RunId id, String name, String key, String value, long at) {}

    public record End(long endedAt, Write.Ending ending, String entries) {}

    public record Counts(long replays, long conflicts, long lastSeenAt) {
        public static final Counts NONE = new Counts(0, 0, 0);
    }

    /** A name as it stands, newest first in lists. */
    public record Held(
            Name name,
            dev.semel.key.Known known,
            String actor,
            @Nullable String correlationId,
            Counts counts,
            @Nullable String errorCode,
            @Nullable String errorStep) {}

    /**
     * A process that drives runs, with what it told of itself last.
     *
     * @param renewedAt when it told that; 0 where it has not yet
     * @param until when its lease is over unless it is renewed
     * @param ahead how far its clock is before the store's, in microseconds; behind it below zero
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
     * One version of a document that a workspace keeps.
     *
     * @param body its text; empty where it was removed, and in lists where it is over 4 KiB
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
     * When a workflow starts by itself.
     *
     * @param spec the schedule as text; where it changed, somebody edited it
     * @param nextNominal the tick that comes next, in microseconds; {@link Write.Rest#NEVER} where none does
     * @param nextAt when that tick fires
     * @param takenBy who sees to that tick; null where nobody does
     * @param lastRun of its newest tick that had one
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
     * What became of one nominal time.
     *
     * @param reason why it had no run; empty where it had one
     * @param run its own, or the one that it would have overlapped
     * @param through 0; or up to when nothing was made up for, where the ticks of a long outage are told as one
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
     * An event that came in.
     *
     * @param eventId our own id of it, by which the same event is known again
     * @param seq rises with time, for lists
     * @param body the whole event as JSON text (in lists empty where it is over 4 KiB)
     * @param matched how many workflows wanted it, when most did
     * @param notes why others did not, as JSON text
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
        /** The same row after another try that more workflows wanted. */
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

    public record Audit(RunId id, long at, String actor, String action, String target, String reason) {}
}
