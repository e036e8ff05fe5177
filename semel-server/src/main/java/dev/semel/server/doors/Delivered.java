package dev.semel.server.doors;

import dev.semel.error.SemelException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What became of an event. All of it is durable.
 *
 * @param eventId our own id of it, {@code evt_…}: it hangs on door, source and id alone
 * @param known it came before
 * @param runs one for each workflow that it matched
 * @param notes why workflows that subscribe to its type did not take it
 */
public record Delivered(String eventId, boolean known, List<Started> runs, List<Note> notes) {
    public Delivered {
        runs = List.copyOf(runs);
        notes = List.copyOf(notes);
    }

    /**
     * @param runId empty where it was refused
     * @param changed the payload is another than that of the run which is replayed
     * @param refused why there is no run; it does not keep the others back
     */
    public record Started(
            String workflow,
            String workflowId,
            String runId,
            boolean replayed,
            boolean changed,
            @Nullable SemelException refused) {}

    /** A workflow that might have taken it, and why it did not. */
    public record Note(String workflow, String reason) {}

    /** Whether nothing new came of it: every run was there before, or it was known and nobody wanted it. */
    public boolean replayed() {
        return runs.isEmpty() ? known : runs.stream().allMatch(run -> run.refused() == null && run.replayed());
    }
}
