package dev.semel.server.doors;

import dev.semel.error.SemelException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The durable result of an event delivery: the runs it started or found, and the workflows that skipped it.
 *
 * @param eventId Semel's id, {@code evt_…}, derived from trigger source, event source and event id
 * @param known whether the event was received before
 * @param runs one per matching workflow
 * @param notes why subscribed workflows skipped it
 */
public record Delivered(String eventId, boolean known, List<Started> runs, List<Note> notes) {
    public Delivered {
        runs = List.copyOf(runs);
        notes = List.copyOf(notes);
    }

    /**
     * @param runId empty if the workflow rejected the event
     * @param changed whether the payload differs from that of the replayed run
     * @param refused why no run exists; does not affect other workflows
     */
    public record Started(
            String workflow,
            String workflowId,
            String runId,
            boolean replayed,
            boolean changed,
            @Nullable SemelException refused) {}

    /** A subscribed workflow that did not start, with the reason. */
    public record Note(String workflow, String reason) {}

    /**
     * Whether the delivery was a duplicate: every run existed before, or the event was known and matched no workflow.
     */
    public boolean replayed() {
        return runs.isEmpty() ? known : runs.stream().allMatch(run -> run.refused() == null && run.replayed());
    }
}
