package dev.semel.server.definition;

import dev.semel.json.Json;
import dev.semel.workflow.Context;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;
import tools.jackson.databind.JsonNode;

/** A journal in memory: a recorded step is not run again, and results come back as they would from a store. */
final class MemoryContext implements Context {
    final Map<String, String> recorded = new LinkedHashMap<>();
    private final String runId;

    MemoryContext(String runId) {
        this.runId = runId;
    }

    @Override
    public String stepId(String name) {
        return runId() + "/" + name;
    }

    @Override
    public String runId() {
        return runId;
    }

    @Override
    public JsonNode step(String name, Supplier<JsonNode> work) {
        String known = recorded.get(name);
        if (known == null) {
            known = Json.write(work.get());
            recorded.put(name, known);
        }
        return Json.parse(known);
    }
}
