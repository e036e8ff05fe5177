package dev.semel.workflow;

import dev.semel.key.FieldPath;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** What a workflow does: a function of its input that reaches the world only through what it is handed. */
@FunctionalInterface
public interface Body {
    JsonNode run(Durable durable, JsonNode input) throws Exception;

    /** Every effect that it may have, in order; null where nobody knows beforehand, because it is code. */
    default @Nullable List<Expected> expected() {
        return null;
    }

    /** Where its input names a person: what stands there is shown only to whoever asks for it with a reason. */
    default List<FieldPath> pii() {
        return List.of();
    }
}
