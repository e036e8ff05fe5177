package dev.semel.admission;

import dev.semel.definition.WorkflowCatalogEntry;
import dev.semel.definition.WorkflowVersion;
import dev.semel.error.SemelException;
import dev.semel.idempotency.ChosenRunId;
import dev.semel.idempotency.IdempotencyKey;
import dev.semel.run.RunId;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * @param current the workflow as it was looked up; admission reads it again if it has changed
 * @param input the text of {@code data}, stored unchanged
 * @param strict whether to reject a different payload regardless of the workflow's policy
 * @param rejection why a fresh run of this trigger is not started, for example because its input is not valid; null if it
 *     may start. A repeat is not rejected for it.
 * @param delay microseconds between the admission and the start of a fresh run
 */
public record Trigger(
        TriggerWorkspace workspace,
        WorkflowCatalogEntry current,
        JsonNode data,
        String input,
        Identifiers identifiers,
        Sender sender,
        boolean strict,
        @Nullable SemelException rejection,
        RunLinks links,
        long delay) {
    /** A trigger that no other run caused. */
    public Trigger(
            TriggerWorkspace space,
            WorkflowCatalogEntry current,
            JsonNode data,
            String input,
            Identifiers names,
            Sender sender,
            boolean strict,
            @Nullable SemelException rejection) {
        this(space, current, data, input, names, sender, strict, rejection, RunLinks.NONE, 0);
    }

    /**
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

    /** Runs a check and returns its rejection; null if it passes. */
    public static @Nullable SemelException rejectionOf(Runnable check) {
        try {
            check.run();
            return null;
        } catch (SemelException rejection) {
            return rejection;
        }
    }

    public WorkflowVersion workflow() {
        return current.published();
    }

    public boolean paused() {
        return current.paused();
    }

    /** The same request for the current state of the workflow, if nothing else in it depends on the version. */
    public Trigger withWorkflow(WorkflowCatalogEntry now) {
        return new Trigger(workspace, now, data, input, identifiers, sender, strict, rejection, links, delay);
    }

    public Trigger withDelay(long micros) {
        return new Trigger(workspace, current, data, input, identifiers, sender, strict, rejection, links, micros);
    }

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

        public static Identifiers of(SourceKey sourceKey) {
            return new Identifiers(null, null, sourceKey);
        }

        /** Whether nothing identifies the request, so that a repeat starts another run. */
        public boolean isEmpty() {
            return key == null && runId == null && sourceKey == null;
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
        public SourceKey(TriggerSource triggerSource, String text, String shown, Duration window) {
            this(triggerSource, text, shown, window, null);
        }

        public SourceKey {
            if (source != TriggerSource.EVENT
                    && source != TriggerSource.WEBHOOK
                    && source != TriggerSource.SCHEDULE
                    && source != TriggerSource.REPLAY) {
                throw new IllegalArgumentException("triggers of source " + source + " use the caller's own keys");
            }
        }
    }

    public record Sender(
            TriggerSource source, String actor, @Nullable String correlationId) {}
}
