package dev.semel.server.connectors.ingress;

import dev.semel.error.SemelException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The durable result of an event delivery: the runs it started or found, and the workflows that skipped it.
 *
 * @param eventId Semel's id, {@code evt_…}, derived from trigger source, event source and event id
 * @param duplicate whether the event was received before
 * @param runs one per matching workflow
 * @param skipped why subscribed workflows skipped it
 */
public record InboundEventResult(
        String eventId, boolean duplicate, List<StartedRun> runs, List<SkippedWorkflow> skipped) {
    public InboundEventResult {
        runs = List.copyOf(runs);
        skipped = List.copyOf(skipped);
    }

    /**
     * @param runId empty if the workflow rejected the event
     * @param changed whether the payload differs from that of the replayed run
     * @param rejection why no run exists; does not affect other workflows
     */
    public record StartedRun(
            String workflow,
            String workflowId,
            String runId,
            boolean replayed,
            boolean changed,
            @Nullable SemelException rejection) {}

    public record SkippedWorkflow(String workflow, String reason) {}

    /** Every run existed before, or the event was known and matched no workflow. */
    public boolean replayed() {
        return runs.isEmpty() ? duplicate : runs.stream().allMatch(run -> run.rejection() == null && run.replayed());
    }
}
