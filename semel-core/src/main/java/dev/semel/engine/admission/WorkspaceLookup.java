package dev.semel.engine.admission;

import dev.semel.admission.Trigger;
import tools.jackson.databind.JsonNode;

public interface WorkspaceLookup {
    Trigger.TriggerWorkspace space(int workspace);

    Trigger.AdmissionChecks checksFor(String workflow, JsonNode input);
}
