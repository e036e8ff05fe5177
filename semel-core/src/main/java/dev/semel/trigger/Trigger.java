package dev.semel.trigger;

import dev.semel.key.ChosenRunId;
import dev.semel.key.IdempotencyKey;
import dev.semel.run.RunId;
import dev.semel.workflow.Current;
import dev.semel.workflow.Published;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A request to start a run of a workflow, from any trigger source, before admission decides on it.
 *
 * @param current the workflow as it was looked up; admission reads it again if it has changed
 * @param input the text of {@code data}, stored unchanged
 * @param strict whether to reject a different payload regardless of the workflow's policy
 * @param checks checks of the trigger source, which run when it is known whether the trigger is fresh or a repeat
 * @param delay microseconds between the admission and the start of a fresh run
 */
public record Trigger(
        Space space,
        Current current,
        JsonNode data,
        String input,
        Names names,
        Sender sender,
        boolean strict,
        Checks checks,
        Ties ties,
        long delay) {
    /** A trigger without a delay. */
    public Trigger(
            Space space,
            Current current,
            JsonNode data,
            String input,
            Names names,
            Sender sender,
            boolean strict,
            Checks checks,
            Ties ties) {
        this(space, current, data, input, names, sender, strict, checks, ties, 0);
    }

    /** A trigger that no other run caused. */
    public Trigger(
            Space space,
            Current current,
            JsonNode data,
            String input,
            Names names,
            Sender sender,
            boolean strict,
            Checks checks) {
        this(space, current, data, input, names, sender, strict, checks, Ties.NONE);
    }

    /**
     * The links of a new run to the runs that caused it: lineage, parent and replayed run.
     *
     * @param lineage the first run of the lineage that the new run continues
     * @param childOf the id of the calling step; the same step finds the same run again
     * @param carried initial entries of its journal; empty text for none
     * @param depth number of ancestor runs that started each other by steps
     */
    public record Ties(
            @Nullable RunId lineage,
            @Nullable RunId parent,
            @Nullable RunId replayOf,
            @Nullable String childOf,
            String carried,
            int depth) {
        public static final Ties NONE = new Ties(null, null, null, null);

        /** Links of a run with an empty journal that no step started. */
        public Ties(
                @Nullable RunId lineage, @Nullable RunId parent, @Nullable RunId replayOf, @Nullable String childOf) {
            this(lineage, parent, replayOf, childOf, "", 0);
        }

        /** Links of a trigger that a step of a run sent. */
        public static Ties atDepth(int depth) {
            return new Ties(null, null, null, null, "", depth);
        }
    }

    public Published workflow() {
        return current.published();
    }

    public boolean paused() {
        return current.paused();
    }

    /** The same request for the current state of the workflow, if nothing else in it depends on the version. */
    public Trigger under(Current now) {
        return new Trigger(space, now, data, input, names, sender, strict, checks, ties, delay);
    }

    /** The same request with a delay in microseconds. */
    public Trigger later(long micros) {
        return new Trigger(space, current, data, input, names, sender, strict, checks, ties, micros);
    }

    /** The workspace of a trigger, and the secret for its field hashes. */
    public record Space(int workspace, byte[] secret) {}

    /** The identifiers that make a trigger idempotent: the key, a chosen run id, or the key of its source. */
    public record Names(
            @Nullable IdempotencyKey key,
            @Nullable ChosenRunId runId,
            @Nullable DoorName door) {
        public static final Names NONE = new Names(null, null);

        public Names(@Nullable IdempotencyKey key, @Nullable ChosenRunId runId) {
            this(key, runId, null);
        }

        public static Names of(DoorName door) {
            return new Names(null, null, door);
        }
    }

    /**
     * The deduplication key of an event, webhook, schedule tick or replay, in a namespace of its own. A repeat with a
     * different payload is still a repeat, because no caller could choose another key.
     *
     * @param text unique in the workspace among the keys of this source
     * @param shown the text that users see as the key
     * @param queue triggers with the same value run one after another; null for no order
     */
    public record DoorName(
            Door door,
            String text,
            String shown,
            Duration window,
            @Nullable String queue) {
        public DoorName(Door door, String text, String shown, Duration window) {
            this(door, text, shown, window, null);
        }

        public DoorName {
            if (door != Door.EVENT && door != Door.HOOK && door != Door.SCHEDULE && door != Door.REPLAY) {
                throw new IllegalArgumentException("triggers of source " + door + " use the caller's own keys");
            }
        }
    }

    /**
     * Checks that run before anything is stored; each throws to reject the trigger.
     *
     * @param fresh runs only for a fresh trigger (quota, input schema), not for a known key
     * @param repeat runs only for a repeat (quota of replayed requests)
     */
    public record Checks(@Nullable Runnable fresh, @Nullable Runnable repeat) {
        public static final Checks NONE = new Checks(null, null);
    }

    /** The source and actor of a trigger. */
    public record Sender(Door door, String actor, @Nullable String correlationId) {}
}
