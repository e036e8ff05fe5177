package dev.semel.store;

import dev.semel.admission.StartConditions;
import dev.semel.admission.TriggerSource;
import dev.semel.json.StorableText;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import org.jspecify.annotations.Nullable;

/**
 * A run to be created by a trigger. The store adds the time, the lineage and the links to earlier runs.
 *
 * @param fields keyed hashes of the fingerprint fields
 * @param state `started`, or `queued` if it must wait
 * @param links other runs that this one derives from
 * @param startConditions what delays the start; null for nothing
 */
public record NewRun(
        RunId id,
        int workspace,
        @Nullable String chosenId,
        String workflowId,
        int version,
        RunState state,
        TriggerOrigin origin,
        String input,
        byte[] fields,
        RunParentage links,
        @Nullable StartConditions startConditions) {
    /**
     * @param lineage the first run of the lineage that this run continues; null if it starts one
     * @param carriedJournal the journal entries that it starts with; empty text for none
     * @param depth number of parent runs above it, each of which started the next
     */
    public record RunParentage(
            @Nullable RunId lineage,
            @Nullable RunId parent,
            @Nullable RunId replayOf,
            String carriedJournal,
            int depth) {
        public static final RunParentage NONE = new RunParentage(null, null, null);

        /** A run with an empty journal and without a parent. */
        public RunParentage(@Nullable RunId lineage, @Nullable RunId parent, @Nullable RunId replayOf) {
            this(lineage, parent, replayOf, "", 0);
        }

        /** Whether it has a parent or replays a run. */
        public boolean isLinked() {
            return parent != null || replayOf != null || depth > 0;
        }
    }

    public record TriggerOrigin(
            TriggerSource triggerSource,
            String actor,
            @Nullable String key,
            @Nullable String correlationId) {
        public TriggerOrigin {
            correlationId = correlationId == null ? null : StorableText.shortenForIndex(correlationId);
        }
    }
}
