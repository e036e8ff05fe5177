package dev.semel.server.cli.acceptance;

import dev.semel.error.SemelException;
import dev.semel.server.cli.command.TerminalJsonFormatter;
import dev.semel.server.files.definition.WorkflowDefinition;
import dev.semel.server.files.steps.NotificationChannelRequirement;
import dev.semel.server.files.steps.YamlStep;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The workflow under test in `semel qa`: its definitions, trigger data and stub responses.
 *
 * @param definitions child workflows before their callers; the workflow itself is the last
 * @param data the trigger data
 * @param answers stub responses by step; an empty object if none were given
 */
record WorkflowUnderTest(List<WorkflowDefinition> definitions, ObjectNode data, JsonNode answers) {
    /** A value in the payload that no log line may contain. */
    static final String MARKER = "qa-marker-5f1c9e27";

    private static final Pattern COHORT = Pattern.compile("in_cohort\\([^,]+,\\s*[\"']([^\"']+)[\"']");
    private static final Pattern POLICY = Pattern.compile("(?m)^idempotency:.*\\R(?:[ \\t]+.*\\R?|\\s*\\R)*");
    private static final Pattern WINDOW = Pattern.compile("(?<![A-Za-z_])window\\s*:");

    WorkflowDefinition workflow() {
        return definitions.getLast();
    }

    /** The same with the marker in every text field, except where it would change the key or make the input invalid. */
    WorkflowUnderTest withMarkers() {
        WorkflowDefinition definition = workflow();
        String key = String.valueOf(definition.keyText());
        ObjectNode marked = data.deepCopy();
        for (String name : List.copyOf(data.propertyNames())) {
            JsonNode value = data.get(name);
            if (value.isString() && !key.contains(name)) {
                String text = value.stringValue();
                marked.put(name, text.contains("@") ? MARKER + "." + text : text + "-" + MARKER);
                if (!fits(definition, marked)) {
                    marked.set(name, value);
                }
            }
        }
        return new WorkflowUnderTest(definitions, marked.put("qa_note", MARKER), answers);
    }

    private static boolean fits(WorkflowDefinition definition, JsonNode data) {
        try {
            definition.checkInput(data);
            return true;
        } catch (SemelException unfit) {
            return false;
        }
    }

    /** A valid sample value for each input field that the file declares. */
    static ObjectNode sampleData(WorkflowDefinition definition) {
        ObjectNode out = TerminalJsonFormatter.newObject();
        definition.inputSchema().path("properties").forEachEntry((name, rule) -> {
            if (!rule.path("enum").isEmpty()) {
                out.set(name, rule.path("enum").get(0));
                return;
            }
            switch (rule.path("type").asString("string")) {
                case "integer", "number" -> out.put(name, 1);
                case "boolean" -> out.put(name, true);
                case "array" -> out.putArray(name);
                case "object" -> out.putObject(name);
                default -> out.put(name, name.contains("mail") ? "qa@example.com" : "qa_" + name);
            }
        });
        return out;
    }

    private Stream<NotificationChannelRequirement> channelNeeds() {
        return definitions.stream().flatMap(one -> one.channelRequirements().stream());
    }

    /** The channels with the steps that use them; notifications have a channel of their own. */
    Map<String, List<NotificationChannelRequirement>> channels() {
        return channelNeeds()
                .collect(Collectors.groupingBy(WorkflowUnderTest::channel, LinkedHashMap::new, Collectors.toList()));
    }

    static String channel(NotificationChannelRequirement need) {
        if (need.notification() != null) {
            return "qa-notifications";
        }
        return need.channel() == null ? "qa" : need.channel();
    }

    Set<String> templates() {
        return sorted(Stream.concat(
                channelNeeds().map(NotificationChannelRequirement::template), Stream.of("qa-notifications")));
    }

    Set<String> notifications() {
        return sorted(channelNeeds().map(NotificationChannelRequirement::notification));
    }

    private static Set<String> sorted(Stream<@Nullable String> names) {
        return names.filter(Objects::nonNull).collect(Collectors.toCollection(TreeSet::new));
    }

    /** The steps that call an external service and change something there, also in child workflows. */
    Set<String> effectSteps() {
        return sorted(definitions.stream()
                .flatMap(WorkflowDefinition::steps)
                .filter(step ->
                        step.action().declaredEffect() != null && !step.kind().equals("tx"))
                .map(YamlStep::id));
    }

    Set<String> secrets() {
        return sorted(definitions.stream()
                .flatMap(WorkflowDefinition::readPaths)
                .map(Map.Entry::getValue)
                .filter(path -> path.root().equals("secret") && !path.parts().isEmpty())
                .map(path -> path.parts().getFirst().toString()));
    }

    Set<String> cohorts() {
        return sorted(definitions.stream()
                .flatMap(one -> COHORT.matcher(one.text()).results())
                .map(found -> found.group(1)));
    }

    /** Whether the file itself declares a key window. */
    boolean declaresWindow() {
        return POLICY.matcher(workflow().text() + "\n")
                .results()
                .anyMatch(found -> WINDOW.matcher(found.group()).find());
    }
}
