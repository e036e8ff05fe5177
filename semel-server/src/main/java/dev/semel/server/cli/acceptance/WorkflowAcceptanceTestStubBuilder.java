package dev.semel.server.cli.acceptance;

import dev.semel.server.cli.command.TerminalJsonFormatter;
import dev.semel.server.demo.ExternalApiSimulator.SimulatedProvider;
import dev.semel.server.files.definition.WorkflowDefinition;
import dev.semel.server.files.expressions.ExpressionFieldPath;
import dev.semel.server.files.steps.DeclaredEffect;
import dev.semel.server.files.steps.NotificationChannelRequirement;
import dev.semel.server.files.steps.YamlStep;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Builds the stub responses of `semel qa` for every HTTP call and message channel of a workflow. */
final class WorkflowAcceptanceTestStubBuilder {
    /** Base URL of message channels in a scratch workspace; a .invalid host never resolves. */
    static final String CHANNEL_BASE_URL = "http://channel.invalid/";

    private static final Pattern CALL = Pattern.compile("([A-Z]+) https?://(.+)", Pattern.DOTALL);
    private static final Pattern EXPRESSION = Pattern.compile("\\$\\{[^}]*}");
    private static final int OK = 200;

    private final WorkflowUnderTest subject;

    private WorkflowAcceptanceTestStubBuilder(WorkflowUnderTest subject) {
        this.subject = subject;
    }

    static List<SimulatedProvider> forWorkflow(WorkflowUnderTest subject) {
        WorkflowAcceptanceTestStubBuilder cast = new WorkflowAcceptanceTestStubBuilder(subject);
        List<SimulatedProvider> roles = new ArrayList<>();
        ObjectNode lookups = TerminalJsonFormatter.newObject();
        for (WorkflowDefinition definition : subject.definitions()) {
            definition.steps().forEach(step -> cast.add(definition, step, roles, lookups));
        }
        subject.channels().forEach((channel, needs) -> roles.add(cast.channel(channel, needs)));
        roles.add(new SimulatedProvider("a lookup", "GET", Pattern.compile(".*"), false, OK, lookups));
        return roles;
    }

    private void add(WorkflowDefinition definition, YamlStep step, List<SimulatedProvider> roles, ObjectNode lookups) {
        DeclaredEffect effect = step.action().declaredEffect();
        Matcher call = CALL.matcher(effect == null ? "" : effect.target());
        JsonNode given = subject.answers().path(step.id());
        ObjectNode result = members(definition, "steps", step.id(), WorkflowAcceptanceTestStubBuilder::scratch);
        if (effect != null && call.matches()) {
            result.setAll(members(definition, "response", step.id(), WorkflowAcceptanceTestStubBuilder::scratch));
            boolean remembers = effect.protection().equals("provider_key");
            int status = given.path("status").asInt(OK);
            roles.add(new SimulatedProvider(
                    step.id(), call.group(1), urlPattern(call.group(2)), remembers, status, with(result, given)));
            // A lookup follows an effect whose response was lost, so it returns what that response contained.
            ObjectNode found = members(definition, "steps", step.id(), WorkflowAcceptanceTestStubBuilder::scratch);
            lookups.setAll(members(definition, "response", step.id(), () -> with(found, given)));
        } else if (step.kind().equals("http")) {
            result.setAll(members(definition, "response", step.id(), WorkflowAcceptanceTestStubBuilder::scratch));
            lookups.setAll(with(result, given));
        }
    }

    private static ObjectNode with(ObjectNode made, JsonNode given) {
        ObjectNode out = made.deepCopy();
        if (given.path("body") instanceof ObjectNode body) {
            out.setAll(body);
        }
        return out;
    }

    private SimulatedProvider channel(String channel, List<NotificationChannelRequirement> needs) {
        String steps = needs.stream()
                .map(NotificationChannelRequirement::step)
                .distinct()
                .collect(Collectors.joining(", "));
        boolean remembers = needs.stream().allMatch(need -> need.protection().equals("provider_key"));
        JsonNode given = subject.answers().path(needs.getFirst().step());
        String url = (CHANNEL_BASE_URL + channel).substring("http://".length());
        return new SimulatedProvider(
                steps,
                "POST",
                Pattern.compile(Pattern.quote(url)),
                remembers,
                given.path("status").asInt(OK),
                with(TerminalJsonFormatter.newObject(), given));
    }

    /** Matches `host/path` with any text in place of an expression, and any query. */
    static Pattern urlPattern(String written) {
        String path = written.replaceAll("[?#].*", "");
        StringBuilder out = new StringBuilder("(?i)");
        Matcher expression = EXPRESSION.matcher(path);
        int from = 0;
        while (expression.find()) {
            out.append(Pattern.quote(path.substring(from, expression.start()))).append("[^/?]*");
            from = expression.end();
        }
        out.append(Pattern.quote(path.substring(from)));
        return Pattern.compile(out + (path.contains("/") ? "" : "/?") + "([?].*)?", Pattern.DOTALL);
    }

    /**
     * Builds an object with every member that the file reads from it.
     *
     * @param root `steps`: the result of the step; `response`: the body of a response, read by the step itself
     */
    private static ObjectNode members(
            WorkflowDefinition definition, String root, String step, Supplier<JsonNode> leaf) {
        ObjectNode out = TerminalJsonFormatter.newObject();
        definition
                .readPaths()
                .filter(read -> read.getValue().root().equals(root))
                .filter(read -> root.equals("steps") || read.getKey().equals(step))
                .map(Map.Entry::getValue)
                .map(ExpressionFieldPath::parts)
                .filter(parts -> parts.size() > 1
                        && parts.getFirst().equals(root.equals("steps") ? step : "body")
                        && parts.get(1) instanceof String)
                .forEach(parts -> grow(out, parts.subList(1, parts.size()), leaf));
        return out;
    }

    private static void grow(ObjectNode at, List<Object> path, Supplier<JsonNode> leaf) {
        String name = path.getFirst().toString();
        JsonNode there = at.path(name);
        if (path.size() == 1) {
            if (there.isMissingNode()) {
                at.set(name, leaf.get());
            }
        } else if (path.get(1) instanceof Long) {
            // One item is enough; --answers can provide items at other positions.
            ArrayNode items = there instanceof ArrayNode known ? known : at.putArray(name);
            ObjectNode item = items.get(0) instanceof ObjectNode known ? known : TerminalJsonFormatter.newObject();
            if (items.isEmpty()) {
                items.add(path.size() == 2 ? leaf.get() : item);
            }
            if (path.size() > 2) {
                grow(item, path.subList(2, path.size()), leaf);
            }
        } else {
            ObjectNode inner = there instanceof ObjectNode known ? known : at.putObject(name);
            grow(inner, path.subList(1, path.size()), leaf);
        }
    }

    private static JsonNode scratch() {
        return TerminalJsonFormatter.newObject().stringNode("scratch");
    }
}
