package dev.semel.store;

import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.trigger.Door;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A run as a trigger asks for it. The store adds the time, the lineage and the links to earlier runs.
 *
 * @param fields keyed hashes of the fingerprint's fields
 * @param state `started`, or `queued` where it must wait
 * @param links other runs that this one comes from
 * @param gate what stands between the admission and the start; null for nothing
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
    /** A run that comes from no other and waits for nothing. */
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
     * Where a run comes from.
     *
     * @param lineage the first run of the line that this one continues; null where it begins one
     * @param carried what its journal begins with; empty text for nothing
     * @param depth so many runs, each started by a step of the one before, stand between it and whoever began
     */
    public record Links(
            @Nullable RunId lineage,
            @Nullable RunId parent,
            @Nullable RunId replayOf,
            String carried,
            int depth) {
        public static final Links NONE = new Links(null, null, null);

        /** A run that begins with an empty journal, and that no step of a run has started. */
        public Links(@Nullable RunId lineage, @Nullable RunId parent, @Nullable RunId replayOf) {
            this(lineage, parent, replayOf, "", 0);
        }

        /** Whether there is anything to remember about where it comes from, beside its lineage. */
        public boolean isLinked() {
            return parent != null || replayOf != null || depth > 0;
        }
    }

    /**
     * What stands between the admission and the start.
     *
     * @param places queues that the run goes through, in order; it starts when it has a place in each
     * @param rate at most so many starts in a time; null for no limit
     * @param delay microseconds
     * @param debounce waits for quiet; null for no waiting
     */
    public record Gate(
            List<Place> places,
            @Nullable Rate rate,
            long delay,
            @Nullable Debounce debounce) {
        /** A queue, named by a digest: at most {@code cap} of its runs are begun and unfinished. */
        public record Place(String queue, int cap) {}

        /** {@code burst} starts at once, then one each {@code interval} microseconds. */
        public record Rate(String name, long interval, int burst) {}

        /** The run starts after {@code quiet} microseconds without another trigger of that name, at most so many later. */
        public record Debounce(String name, long quiet, long atMost) {}
    }

    /** Who asked, through which door, under which key. */
    public record Origin(
            Door door,
            String actor,
            @Nullable String key,
            @Nullable String correlationId) {}
}
