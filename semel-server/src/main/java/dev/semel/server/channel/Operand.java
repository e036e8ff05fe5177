package dev.semel.server.channel;

import java.util.List;
import tools.jackson.databind.JsonNode;

/** What a tag names: a value of the data, or one that stands in the template itself. */
sealed interface Operand {
    /** Names from the outside in; the first is a member of the data or the item of a loop. */
    record Path(List<String> names) implements Operand {
        public Path {
            names = List.copyOf(names);
        }

        @Override
        public String toString() {
            return String.join(".", names);
        }
    }

    record Literal(JsonNode value) implements Operand {}
}
