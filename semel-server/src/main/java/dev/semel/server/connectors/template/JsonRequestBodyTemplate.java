package dev.semel.server.connectors.template;

import dev.semel.server.settings.WorkspaceSettingValidationProblem;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** A JSON body whose text values are templates. Inserted values stay text, so they cannot change its structure. */
public record JsonRequestBodyTemplate(Node root, Set<String> referencedPaths) {
    private static final int DEPTH = 20;

    sealed interface Node {
        record Fixed(JsonNode value) implements Node {}

        record Text(List<NotificationTemplateNode> pieces) implements Node {}

        record Members(Map<String, Node> members) implements Node {}

        record Items(List<Node> items) implements Node {}
    }

    /** @param pointer JSON pointer of the body in the channel document */
    public static JsonRequestBodyTemplate of(
            JsonNode body, String pointer, List<WorkspaceSettingValidationProblem> problems) {
        Set<String> reads = new TreeSet<>();
        return new JsonRequestBodyTemplate(compile(body, pointer, problems, reads), reads);
    }

    private static Node compile(
            JsonNode node, String pointer, List<WorkspaceSettingValidationProblem> problems, Set<String> reads) {
        if (pointer.length() - pointer.replace("/", "").length() > DEPTH) {
            problems.add(new WorkspaceSettingValidationProblem(pointer, "is nested too deeply"));
            return new Node.Fixed(node);
        }
        return switch (node.getNodeType()) {
            case STRING -> {
                List<NotificationTemplateProblem> found = new ArrayList<>();
                var pieces = NotificationTemplateParser.read(
                        NotificationTemplatePart.TEXT,
                        node.stringValue(),
                        new NotificationTemplateParser.Findings(found, reads));
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

    /** @throws NotificationTemplateRenderer.RenderFailure where a value is missing */
    public JsonNode fill(ObjectNode data) {
        return fill(root, data);
    }

    private static JsonNode fill(Node node, ObjectNode data) {
        return switch (node) {
            case Node.Fixed(JsonNode value) -> value;
            case Node.Text(List<NotificationTemplateNode> pieces) ->
                JsonNodeFactory.instance.stringNode(
                        NotificationTemplateRenderer.render(NotificationTemplatePart.TEXT, pieces, data));
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
