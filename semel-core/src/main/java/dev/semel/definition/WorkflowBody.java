package dev.semel.definition;

import dev.semel.idempotency.JsonFieldPath;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** The executable body of a workflow: a function of its input that performs all side effects through the engine. */
@FunctionalInterface
public interface WorkflowBody {
    JsonNode run(DurableWorkflowOperations durable, JsonNode input) throws Exception;

    /** Every effect, call and wait of the body in order; null if it is Java code and not known in advance. */
    default @Nullable List<DeclaredStep> declaredSteps() {
        return null;
    }

    /** Paths of personal data (PII) in the input. Users see these values only after they give a reason. */
    default List<JsonFieldPath> piiPaths() {
        return List.of();
    }
}
