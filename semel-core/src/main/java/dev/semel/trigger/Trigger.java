package dev.semel.trigger;

import dev.semel.admission.ChosenRunId;
import dev.semel.admission.IdempotencyKey;
import dev.semel.run.RunId;
import dev.semel.definition.CurrentWorkflow;
import dev.semel.definition.WorkflowVersion;
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
        TriggerWorkspace workspace,
        CurrentWorkflow current,
        JsonNode data,
        String input,
        Identifiers identifiers,
        Sender sender,
        boolean strict,
        AdmissionChecks checks,
        RunLinks links,
        long delay) {
    /** A trigger without a delay. */
    public Trigger(
            TriggerWorkspace space,
            CurrentWorkflow current,
            JsonNode data,
            String input,
            Identifiers names,
            Sender sender,
            boolean strict,
            AdmissionChecks checks,
            RunLinks ties) {
        this(space, current, data, input, names, sender, strict, checks, ties, 0);
    }

    /** A trigger that no other run caused. */
    public Trigger(
            TriggerWorkspace space,
            CurrentWorkflow current,
            JsonNode data,
            String input,
            Identifiers names,
            Sender sender,
            boolean strict,
            AdmissionChecks checks) {
        this(space, current, data, input, names, sender, strict, checks, RunLinks.NONE);
    }

    /**
     * The links of a new run to the runs that caused it: lineage, parent and replayed run.
     *
     * @param lineage the first run of the lineage that the new run continues
     * @param callerStepId the id of the calling step; the same step finds the same run again
     * @param initialJournal initial entries of its journal; empty text for none
     * @param depth number of ancestor runs that started each other by steps
     */
    public record RunLinks(
            @Nullable RunId lineage,
            @Nullable RunId parent,
            @Nullable RunId replayOf,
            @Nullable String callerStepId,
            String initialJournal,
            int depth) {
        public static final RunLinks NONE = new RunLinks(null, null, null, null);

        /** Links of a run with an empty journal that no step started. */
        public RunLinks(
                @Nullable RunId lineage, @Nullable RunId parent, @Nullable RunId replayOf, @Nullable String childOf) {
            this(lineage, parent, replayOf, childOf, "", 0);
        }

        /** Links of a trigger that a step of a run sent. */
        public static RunLinks atDepth(int depth) {
            return new RunLinks(null, null, null, null, "", depth);
        }
    }

    public WorkflowVersion workflow() {
        return current.published();
    }

    public boolean paused() {
        return current.paused();
    }

    /** The same request for the current state of the workflow, if nothing else in it depends on the version. */
    public Trigger withWorkflow(CurrentWorkflow now) {
        return new Trigger(workspace, now, data, input, identifiers, sender, strict, checks, links, delay);
    }

    /** The same request with a delay in microseconds. */
    public Trigger withDelay(long micros) {
        return new Trigger(workspace, current, data, input, identifiers, sender, strict, checks, links, micros);
    }

    /** The workspace of a trigger, and the secret for its field hashes. */
    public record TriggerWorkspace(int id, byte[] secret) {}

    /** The identifiers that make a trigger idempotent: the key, a chosen run id, or the key of its source. */
    public record Identifiers(
            @Nullable IdempotencyKey key,
            @Nullable ChosenRunId runId,
            @Nullable SourceKey sourceKey) {
        public static final Identifiers NONE = new Identifiers(null, null);

        public Identifiers(@Nullable IdempotencyKey key, @Nullable ChosenRunId runId) {
            this(key, runId, null);
        }

        public static Identifiers of(SourceKey door) {
            return new Identifiers(null, null, door);
        }
    }

    /**
     * The deduplication key of an event, webhook, schedule tick or replay, in a namespace of its own. A repeat with a
     * different payload is still a repeat, because no caller could choose another key.
     *
     * @param text unique in the workspace among the keys of this source
     * @param displayText the text that users see as the key
     * @param serialKey triggers with the same value run one after another; null for no order
     */
    public record SourceKey(
            TriggerSource source,
            String text,
            String displayText,
            Duration window,
            @Nullable String serialKey) {
        public SourceKey(TriggerSource door, String text, String shown, Duration window) {
            this(door, text, shown, window, null);
        }

        public SourceKey {
            if (source != TriggerSource.EVENT && source != TriggerSource.HOOK && source != TriggerSource.SCHEDULE && source != TriggerSource.REPLAY) {
                throw new IllegalArgumentException("triggers of source " + source + " use the caller's own keys");
            }
        }
    }

    /**
     * Checks that run before anything is stored; each throws to reject the trigger.
     *
     * @param onFresh runs only for a fresh trigger (quota, input schema), not for a known key
     * @param onRepeat runs only for a repeat (quota of replayed requests)
     */
    public record AdmissionChecks(@Nullable Runnable onFresh, @Nullable Runnable onRepeat) {
        public static final AdmissionChecks NONE = new AdmissionChecks(null, null);
    }

    /** The source and actor of a trigger. */
    public record Sender(TriggerSource source, String actor, @Nullable String correlationId) {}
}
