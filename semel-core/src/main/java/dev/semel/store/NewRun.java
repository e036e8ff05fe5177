package dev.semel.store;

import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.trigger.Door;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A run to be created by a trigger. The store adds the time, the lineage and the links to earlier runs.
 *
 * @param fields keyed hashes of the fingerprint fields
 * @param state `started`, or `queued` if it must wait
 * @param links other runs that this one derives from
 * @param gate what delays the start; null for nothing
 */
public record NewRun(
        RunId id,
        int workspace,
        @Nullable String chosenId,
        String workflowId,
        int version,
        RunState state,
        Origin origin,
        String input,
        byte[] fields,
        Links links,
        @Nullable Gate gate) {
    /** A run that derives from no other run and starts at once. */
    public NewRun(
            RunId id,
            int workspace,
            @Nullable String chosenId,
            String workflowId,
            int version,
            RunState state,
            Origin origin,
            String input,
            byte[] fields) {
        this(id, workspace, chosenId, workflowId, version, state, origin, input, fields, Links.NONE, null);
    }

    /**
     * The runs that a new run derives from: lineage, parent and replayed run.
     *
     * @param lineage the first run of the lineage that this run continues; null if it starts one
     * @param carried the journal entries that it starts with; empty text for none
     * @param depth number of parent runs above it, each of which started the next
     */
    public record Links(
            @Nullable RunId lineage,
            @Nullable RunId parent,
            @Nullable RunId replayOf,
            String carried,
            int depth) {
        public static final Links NONE = new Links(null, null, null);

        /** A run with an empty journal and without a parent. */
        public Links(@Nullable RunId lineage, @Nullable RunId parent, @Nullable RunId replayOf) {
            this(lineage, parent, replayOf, "", 0);
        }

        /** Whether it has a parent or replays a run. */
        public boolean isLinked() {
            return parent != null || replayOf != null || depth > 0;
        }
    }

    /**
     * What delays the start of an admitted run: queues, rate limit, delay and debounce.
     *
     * @param places queues that the run passes through, in order; it starts when each has a free place
     * @param rate limits starts per time; null for no limit
     * @param delay microseconds
     * @param debounce waits until no further trigger comes; null for no debounce
     */
    public record Gate(
            List<Place> places,
            @Nullable Rate rate,
            long delay,
            @Nullable Debounce debounce) {
        /** A queue, identified by a digest, that limits how many of its runs are unfinished at a time. */
        public record Place(String queue, int cap) {}

        /** Limits how fast runs start: {@code burst} at once, then one every {@code interval} microseconds. */
        public record Rate(String name, long interval, int burst) {}

        /** Starts the run after {@code quiet} microseconds without another trigger of that name, or at a maximum delay. */
        public record Debounce(String name, long quiet, long atMost) {}
    }

    /** Trigger source, actor, key and correlation id of a run. */
    public record Origin(
            Door door,
            String actor,
            @Nullable String key,
            @Nullable String correlationId) {}
}
