package dev.semel.server.files.yaml;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

public sealed interface YamlNode {
    YamlSourceRange range();

    JsonNode toJson();

    String typeName();

    /** @param value the scalar's value by YAML's core schema; text stays text */
    public record ScalarNode(YamlSourceRange range, JsonNode value) implements YamlNode {
        @Override
        public JsonNode toJson() {
            return value;
        }

        @Override
        public String typeName() {
            return JsonValueTypeNames.nameOf(value);
        }
    }

    record ListNode(YamlSourceRange range, List<YamlNode> items) implements YamlNode {
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

    /** @param members in the order of the file */
    record MapNode(YamlSourceRange range, Map<String, MapEntry> members) implements YamlNode {
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

    /** @param nameRange position of the name; its pointer is that of the value */
    public record MapEntry(YamlSourceRange nameRange, YamlNode value) {}
}
