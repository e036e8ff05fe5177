package dev.semel.server.language;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** A node of a parsed workflow file (scalar, list or map) with its position in the text. */
public sealed interface Tree {
    Spot spot();

    JsonNode toJson();

    /** The type of this node, for messages. */
    String kind();

    /**
     * A scalar.
     *
     * @param value the scalar's value by YAML's core schema; text stays text
     */
    public record Scalar(Spot spot, JsonNode value) implements Tree {
        @Override
        public JsonNode toJson() {
            return value;
        }

        @Override
        public String kind() {
            return Kinds.of(value);
        }
    }

    /** A list. */
    record Items(Spot spot, List<Tree> items) implements Tree {
        public Items {
            items = List.copyOf(items);
        }

        @Override
        public JsonNode toJson() {
            var array = JsonNodeFactory.instance.arrayNode();
            items.forEach(item -> array.add(item.toJson()));
            return array;
        }

        @Override
        public String kind() {
            return "a list";
        }
    }

    /**
     * A map.
     *
     * @param members in the order of the file
     */
    record Members(Spot spot, Map<String, Member> members) implements Tree {
        public Members {
            members = Collections.unmodifiableMap(new LinkedHashMap<>(members));
        }

        @Nullable
        public Tree get(String name) {
            Member member = members.get(name);
            return member == null ? null : member.value();
        }

        @Override
        public JsonNode toJson() {
            var object = JsonNodeFactory.instance.objectNode();
            members.forEach((name, member) -> object.set(name, member.value().toJson()));
            return object;
        }

        @Override
        public String kind() {
            return "a map";
        }
    }

    /**
     * A value of a map and the position of its name.
     *
     * @param name position of the name; its pointer is that of the value
     */
    public record Member(Spot name, Tree value) {}
}
