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
 * A request for a run, as a door hands it in.
 *
 * @param current the workflow as it was looked up; the admission holds only while that is still true
 * @param input the text of {@code data}, stored as it came
 * @param strict the caller wants a changed payload refused, whatever the workflow says
 * @param checks what the door holds against it, once it is known what it is
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
    /** A trigger whose run may start at once. */
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

    /** A trigger that comes from no other run. */
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
     * Which other run this one comes from.
     *
     * @param lineage the first run of the line that the new one continues
     * @param childOf the id of the step that starts it; the same step finds the same run again
     * @param carried what its journal begins with; empty text for nothing
     * @param depth so many runs, each started by a step of the one before, stand between it and whoever began
     */
    public record Ties(
            @Nullable RunId lineage,
            @Nullable RunId parent,
            @Nullable RunId replayOf,
            @Nullable String childOf,
            String carried,
            int depth) {
        public static final Ties NONE = new Ties(null, null, null, null);

        /** A run that begins with an empty journal, and that no step of a run has started. */
        public Ties(
                @Nullable RunId lineage, @Nullable RunId parent, @Nullable RunId replayOf, @Nullable String childOf) {
            this(lineage, parent, replayOf, childOf, "", 0);
        }

        /** Of a trigger that a step of a run has sent. */
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

    /** The same request, for the workflow as it is by now. For triggers in which nothing else hangs on its version. */
    public Trigger under(Current now) {
        return new Trigger(space, now, data, input, names, sender, strict, checks, ties, delay);
    }

    /** The same request, whose run starts so many microseconds later. */
    public Trigger later(long micros) {
        return new Trigger(space, current, data, input, names, sender, strict, checks, ties, micros);
    }

    /** The workspace, and the secret under which its field hashes are made. */
    public record Space(int workspace, byte[] secret) {}

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
     * By what a door knows that it was asked the same before, in a namespace of its own. A repeat whose payload differs
     * is a repeat: nobody is there who could choose another name.
     *
     * @param text unique in the workspace among the names of this door
     * @param shown to people, where the key of a caller would stand
     * @param queue what came in under this name goes one after another; null where it need not
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
                throw new IllegalArgumentException("callers at the door " + door + " bring their own names");
            }
        }
    }

    /**
     * Each throws to refuse, before anything is written or remembered.
     *
     * @param fresh held only against a fresh trigger (quota, input schema): a known key is answered before it is asked
     * @param repeat held only against a repeat (the quota of replays)
     */
    public record Checks(@Nullable Runnable fresh, @Nullable Runnable repeat) {
        public static final Checks NONE = new Checks(null, null);
    }

    public record Sender(Door door, String actor, @Nullable String correlationId) {}
}
