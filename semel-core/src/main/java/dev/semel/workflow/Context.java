package dev.semel.workflow;

import java.util.function.Supplier;
import tools.jackson.databind.JsonNode;

/** What a workflow body may use. Everything that goes through it is durable; a recorded step never runs again. */
public interface Context {
    /** The id of the run that callers see. */
    String runId();

    /**
     * The id of a step of this run, deterministic and stable over retries, recovery, takeover and safe replay: fit to be
     * handed to an outside system as its idempotency key.
     */
    String stepId(String name);

    /**
     * Runs {@code work} once and records its result; after a crash the recorded result is returned instead. For
     * repeatable work only: between doing and recording a crash may make it run again.
     */
    JsonNode step(String name, Supplier<JsonNode> work);
}
