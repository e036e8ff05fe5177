package dev.semel.server.channel;

import dev.semel.server.settings.SettingProblem;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * A JSON request body for a message provider whose text values are templates. Inserted values stay text, so they cannot
 * change the JSON structure.
 */
final class BodyTemplate {
    private static final int DEPTH = 20;

    private final Node root;
    private final Set<String> referencedPaths;

    private BodyTemplate(Node root, Set<String> reads) {
        this.root = root;
        this.referencedPaths = reads;
    }

    /** A node of the compiled body: a constant, a text template, an object or an array. */
    private sealed interface Node {
        record Fixed(JsonNode value) implements Node {}

        record Text(List<TemplateNode> pieces) implements Node {}

        record Members(Map<String, Node> members) implements Node {}

        record Items(List<Node> items) implements Node {}
    }

    /** @param pointer JSON pointer of the body in the channel document */
    static BodyTemplate of(JsonNode body, String pointer, List<SettingProblem> problems) {
        Set<String> reads = new TreeSet<>();
        return new BodyTemplate(compile(body, pointer, problems, reads), reads);
    }

    private static Node compile(JsonNode node, String pointer, List<SettingProblem> problems, Set<String> reads) {
        if (pointer.length() - pointer.replace("/", "").length() > DEPTH) {
            problems.add(new SettingProblem(pointer, "is nested too deeply"));
            return new Node.Fixed(node);
        }
        return switch (node.getNodeType()) {
            case STRING -> {
                List<TemplateProblem> found = new ArrayList<>();
                var pieces = TemplateParser.read(
                        TemplatePart.TEXT, node.stringValue(), new TemplateParser.Findings(found, reads));
                found.forEach(problem -> problems.add(problem.at(pointer)));
                yield new Node.Text(pieces);
            }
            case OBJECT -> {
                Map<String, Node> members = new LinkedHashMap<>();
                node.properties()
                        .forEach(member -> members.put(
                                member.getKey(),
                                compile(member.getValue(), pointer + "/" + member.getKey(), problems, reads)));
                yield new Node.Members(members);
            }
            case ARRAY -> {
                List<Node> items = new ArrayList<>();
                for (int i = 0; i < node.size(); i++) {
                    items.add(compile(node.get(i), pointer + "/" + i, problems, reads));
                }
                yield new Node.Items(items);
            }
            case NUMBER, BOOLEAN, NULL, MISSING, BINARY, POJO -> new Node.Fixed(node);
        };
    }

    Set<String> referencedPaths() {
        return referencedPaths;
    }

    /** @throws TemplateRenderer.RenderFailure where a value is missing */
    JsonNode fill(ObjectNode data) {
        return fill(root, data);
    }

    private static JsonNode fill(Node node, ObjectNode data) {
        return switch (node) {
            case Node.Fixed(JsonNode value) -> value;
            case Node.Text(List<TemplateNode> pieces) ->
                JsonNodeFactory.instance.stringNode(TemplateRenderer.render(TemplatePart.TEXT, pieces, data));
            case Node.Members(Map<String, Node> members) -> {
                ObjectNode object = JsonNodeFactory.instance.objectNode();
                members.forEach((name, member) -> object.set(name, fill(member, data)));
                yield object;
            }
            case Node.Items(List<Node> items) -> {
                var array = JsonNodeFactory.instance.arrayNode();
                items.forEach(item -> array.add(fill(item, data)));
                yield array;
            }
        };
    }
}
