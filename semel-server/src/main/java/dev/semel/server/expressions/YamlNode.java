package dev.semel.server.expressions;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** A node of a parsed workflow file (scalar, list or map) with its position in the text. */
public sealed interface YamlNode {
    SourceRange range();

    JsonNode toJson();

    /** The type of this node, for messages. */
    String typeName();

    /**
     * A scalar.
     *
     * @param value the scalar's value by YAML's core schema; text stays text
     */
    public record ScalarNode(SourceRange range, JsonNode value) implements YamlNode {
        @Override
        public JsonNode toJson() {
            return value;
        }

        @Override
        public String typeName() {
            return JsonTypeNames.nameOf(value);
        }
    }

    /** A list. */
    record ListNode(SourceRange range, List<YamlNode> items) implements YamlNode {
        public ListNode {
            items = List.copyOf(items);
        }

        @Override
        public JsonNode toJson() {
            var array = JsonNodeFactory.instance.arrayNode();
            items.forEach(item -> array.add(item.toJson()));
            return array;
        }

        @Override
        public String typeName() {
            return "a list";
        }
    }

    /**
     * A map.
     *
     * @param members in the order of the file
     */
    record MapNode(SourceRange range, Map<String, MapEntry> members) implements YamlNode {
        public MapNode {
            members = Collections.unmodifiableMap(new LinkedHashMap<>(members));
        }

        @Nullable
        public YamlNode get(String name) {
            MapEntry member = members.get(name);
            return member == null ? null : member.value();
        }

        @Override
        public JsonNode toJson() {
            var object = JsonNodeFactory.instance.objectNode();
            members.forEach((name, member) -> object.set(name, member.value().toJson()));
            return object;
        }

        @Override
        public String typeName() {
            return "a map";
        }
    }

    /**
     * A value of a map and the position of its name.
     *
     * @param nameRange position of the name; its pointer is that of the value
     */
    public record MapEntry(SourceRange nameRange, YamlNode value) {}
}
