package dev.semel.trigger;

import dev.semel.key.ChosenRunId;
import dev.semel.key.IdempotencyKey;
import dev.semel.run.RunId;
import dev.semel.workflow.Published;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A request for a run, as a door hands it in.
 *
 * @param input the text of {@code data}, stored as it came
 * @param strict the caller wants a changed payload refused, whatever the workflow says
 * @param freshOnly held only against a fresh trigger (quota, input schema); throws to refuse. A known key is answered
 *     before it is asked
 */
public record Trigger(
        Space space,
        Published workflow,
        boolean paused,
        JsonNode data,
        String input,
        Names names,
        Sender sender,
        boolean strict,
        @Nullable Runnable freshOnly,
        Ties ties) {
    /** A trigger that comes from no other run. */
    public Trigger(
            Space space,
            Published workflow,
            boolean paused,
            JsonNode data,
            String input,
            Names names,
            Sender sender,
            boolean strict,
            @Nullable Runnable freshOnly) {
        this(space, workflow, paused, data, input, names, sender, strict, freshOnly, Ties.NONE);
    }

    /**
     * Which other run this one comes from.
     *
     * @param lineage the first run of the line that the new one continues
     * @param childOf the id of the step that starts it; the same step finds the same run again
     */
    public record Ties(
            @Nullable RunId lineage,
            @Nullable RunId parent,
            @Nullable RunId replayOf,
            @Nullable String childOf) {
        public static final Ties NONE = new Ties(null, null, null, null);
    }

    /** The workspace, and the secret under which its field hashes are made. */
    public record Space(int workspace, byte[] secret) {}

    public record Names(
            @Nullable IdempotencyKey key, @Nullable ChosenRunId runId) {
        public static final Names NONE = new Names(null, null);
    }

    public record Sender(Door door, String actor, @Nullable String correlationId) {}
}
