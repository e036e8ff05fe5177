package dev.semel.server.language;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** A workflow file as read: JSON's three shapes, each of which knows where it stands in the text. */
public sealed interface Tree {
    Spot spot();

    JsonNode toJson();

    /** What a message calls this shape. */
    String kind();

    /** @param value what the scalar means in YAML's core schema; text stays text */
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

    /** @param members in the order of the file */
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

    /** @param name where the member's name stands; its pointer is that of the value */
    public record Member(Spot name, Tree value) {}
}
