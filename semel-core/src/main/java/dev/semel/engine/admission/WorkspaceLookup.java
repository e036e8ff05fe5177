package dev.semel.engine.admission;

import dev.semel.admission.Trigger;
import dev.semel.error.SemelException;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** What triggers of schedules and replays need beside the store. */
public interface WorkspaceLookup {
    Trigger.TriggerWorkspace space(int workspace);

    /** Why this input is not valid for a Java workflow of this process; null if it is, or for another workflow. */
    @Nullable
    SemelException inputRejection(String workflow, JsonNode input);
}
