package dev.semel.server.connectors.template;

import java.util.List;
import tools.jackson.databind.JsonNode;

sealed interface NotificationTemplateOperand {
    /** Member names from the root; the first is a data member or a loop item. */
    record Path(List<String> names) implements NotificationTemplateOperand {
        public Path {
            names = List.copyOf(names);
        }

        @Override
        public String toString() {
            return String.join(".", names);
        }
    }

    record Literal(JsonNode value) implements NotificationTemplateOperand {}
}
