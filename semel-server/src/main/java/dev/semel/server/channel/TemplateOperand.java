package dev.semel.server.channel;

import java.util.List;
import tools.jackson.databind.JsonNode;

/** A value that a template tag refers to: a data path or a literal. */
sealed interface TemplateOperand {
    /** Member names from the root; the first is a data member or a loop item. */
    record Path(List<String> names) implements TemplateOperand {
        public Path {
            names = List.copyOf(names);
        }

        @Override
        public String toString() {
            return String.join(".", names);
        }
    }

    record Literal(JsonNode value) implements TemplateOperand {}
}
