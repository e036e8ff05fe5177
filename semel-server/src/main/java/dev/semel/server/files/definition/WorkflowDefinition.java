package dev.semel.server.files.definition;

import dev.semel.definition.WorkflowBody;
import dev.semel.definition.WorkflowVersion;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.idempotency.IdempotencyKey;
import dev.semel.idempotency.KeyPolicy;
import dev.semel.server.files.expressions.ExpressionEvaluationException;
import dev.semel.server.files.expressions.ExpressionFieldPath;
import dev.semel.server.files.expressions.ExpressionScope;
import dev.semel.server.files.expressions.StepResultSizeLimit;
import dev.semel.server.files.expressions.YamlValueTemplate;
import dev.semel.server.files.steps.NotificationChannelRequirement;
import dev.semel.server.files.steps.YamlStep;
import dev.semel.server.files.steps.YamlStepDependencies;
import dev.semel.server.files.steps.flow.YamlWorkflowBody;
import dev.semel.server.files.yaml.JsonValueTypeNames;
import dev.semel.server.files.yaml.YamlFileErrorCollector;
import dev.semel.server.files.yaml.YamlNode;
import dev.semel.server.files.yaml.YamlReader;
import dev.semel.server.files.yaml.YamlSourceRange;
import dev.semel.server.files.yaml.YamlSourceText;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** A workflow file that was parsed, validated and compiled, ready to run. Thread-safe. */
public final class WorkflowDefinition {
    private final String text;
    private final YamlWorkflowReader.DefinitionParts parts;

    private final List<String> warnings;
    private final Set<String> keyHeaders;
    private final boolean timed;

    private WorkflowDefinition(String text, YamlWorkflowReader.DefinitionParts parts, List<String> warnings) {
        this.text = text;
        this.parts = parts;
        this.warnings = List.copyOf(warnings);
        this.keyHeaders = Stream.ofNullable(parts.key())
                .flatMap(YamlValueTemplate::readPaths)
                .filter(path -> path.root().equals("header") && !path.parts().isEmpty())
                .map(path -> path.parts().getFirst().toString())
                .collect(Collectors.toUnmodifiableSet());
        this.timed = Stream.concat(
                        Stream.ofNullable(parts.output()),
                        parts.steps().stream().flatMap(YamlStep::templates))
                .flatMap(YamlValueTemplate::readPaths)
                .anyMatch(path -> path.root().equals("run") && path.parts().contains("started_at"));
    }

    /**
     * @param text YAML 1.2 or JSON, at most 256 KiB
     * @throws SemelException `invalid-definition`, with every error and its position in the member `errors`
     */
    public static WorkflowDefinition compile(String text) {
        YamlWorkflowReader.DefinitionParts parts = new YamlWorkflowReader(withoutMark(text)).read();
        return new WorkflowDefinition(text, parts, parts.warnings());
    }

    /** Removes a byte order mark, which would move every column of the first line. */
    private static String withoutMark(String text) {
        return text.startsWith("\uFEFF") ? text.substring(1) : text;
    }

    public String name() {
        return parts.name();
    }

    public @Nullable String title() {
        return parts.title();
    }

    public @Nullable String owner() {
        return parts.owner();
    }

    public @Nullable String description() {
        return parts.description();
    }

    public KeyPolicy policy() {
        return parts.rules().policy();
    }

    /** Whether the workflow derives a key from the input if the caller sent none. */
    public boolean derivesKey() {
        return parts.key() != null;
    }

    /** `trigger.http.key` as written; null if the caller's header is the key. */
    public @Nullable String keyText() {
        return parts.key() == null ? null : parts.keyText();
    }

    /** The headers that `trigger.http.key` reads, as written there. */
    public Set<String> keyHeaders() {
        return keyHeaders;
    }

    /**
     * Derives the key of a trigger that has none, by `trigger.http.key`.
     *
     * @param headers of the request; names are case-insensitive
     * @throws SemelException `idempotency-key-required` if the expression gives no key, because a run without it could
     *     be a silent duplicate; `idempotency-key-invalid` if the key is malformed
     */
    public String deriveKey(JsonNode input, Map<String, String> headers) {
        YamlValueTemplate key = parts.key();
        if (key == null) {
            throw new IllegalStateException("workflow '" + name() + "' derives no key; check derivesKey() first");
        }
        Map<String, String> byName = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        byName.putAll(headers);
        JsonNode value;
        try {
            value = key.evaluateIdentifier(
                    ExpressionScope.ofInput(input).withHeader(byName), new StepResultSizeLimit());
        } catch (ExpressionEvaluationException failure) {
            throw noKey(failure.reason());
        }
        if (value.isNull() || (value.isString() && value.stringValue().isBlank())) {
            throw noKey("the expression returned null or an empty text");
        }
        if (!value.isString()) {
            throw badKey("it is " + JsonValueTypeNames.nameOf(value) + ", but a key must be text or a number");
        }
        return checked(value.stringValue().strip());
    }

    private String checked(String key) {
        try {
            return IdempotencyKey.of(key).text();
        } catch (SemelException e) {
            throw badKey(
                    "it must have 1 to 255 visible ASCII characters (key() escapes other characters, sha256() shortens"
                            + " the text)");
        }
    }

    private SemelException noKey(String because) {
        return new SemelException(
                ErrorCode.IDEMPOTENCY_KEY_REQUIRED,
                "Workflow '%s' could not derive its key (trigger.http.key), because %s. No run was started."
                        .formatted(name(), because),
                "Send the field that the key is derived from, or send an Idempotency-Key header.");
    }

    private SemelException badKey(String rule) {
        return new SemelException(
                ErrorCode.IDEMPOTENCY_KEY_INVALID,
                "The key that workflow '%s' derived (trigger.http.key) is invalid: %s. No run was started."
                        .formatted(name(), rule),
                "Correct the data or the expression, or send an Idempotency-Key header.");
    }

    /** @throws SemelException `invalid-input`, with JSON Pointers in the member `errors` and without values */
    public void checkInput(JsonNode data) {
        parts.input().validate(name(), data);
    }

    /** The next times of each schedule, by its id in the order of the file. */
    public Map<String, List<Instant>> nextTimes(Instant from, int count) {
        Map<String, List<Instant>> times = new LinkedHashMap<>();
        parts.extras()
                .triggers()
                .schedules()
                .forEach(schedule -> times.put(schedule.name(), schedule.next(from, count)));
        return times;
    }

    public WorkflowVersion.VersionOptions versionOptions() {
        return parts.extras();
    }

    /** The executable body, which uses the services of its workspace. */
    public WorkflowBody body(YamlStepDependencies services) {
        return new YamlWorkflowBody(
                parts.name(), parts.steps(), parts.output(), parts.rules().object(), timed, services);
    }

    public WorkflowDefinition withWarnings(List<String> more) {
        return new WorkflowDefinition(
                text, parts, Stream.concat(warnings.stream(), more.stream()).toList());
    }

    /** The top-level steps, without those inside branches and loops. */
    public List<YamlStep> topLevelSteps() {
        return parts.steps();
    }

    public List<NotificationChannelRequirement> channelRequirements() {
        return steps().flatMap(step -> step.action().channelRequirements().stream())
                .toList();
    }

    /** All steps, also those inside branches and loops, in the order of the file. */
    public Stream<YamlStep> steps() {
        return parts.steps().stream().flatMap(YamlStep::withNested);
    }

    /** The workflows that it starts, in the order of the file. */
    public List<String> calledWorkflows() {
        return steps().flatMap(step -> Stream.ofNullable(step.action().calledWorkflow()))
                .distinct()
                .toList();
    }

    /** An error in one field of a step that was found after the file was read, with its position. */
    SemelException errorAt(String step, String field, String message, String fix) {
        String plain = withoutMark(text);
        YamlSourceText source = new YamlSourceText(plain);
        YamlFileErrorCollector problems = new YamlFileErrorCollector(source);
        YamlSourceRange spot = spotOf(YamlReader.read(plain, source, problems), step, field);
        problems.add(spot == null ? new YamlSourceRange(0, 0, "") : spot, message, "here", fix);
        return problems.exception();
    }

    private static @Nullable YamlSourceRange spotOf(@Nullable YamlNode tree, String step, String field) {
        Stream<YamlNode> inside = switch (tree) {
            case null -> Stream.empty();
            case YamlNode.ScalarNode _ -> Stream.empty();
            case YamlNode.ListNode items -> items.items().stream();
            case YamlNode.MapNode members -> members.members().values().stream().map(YamlNode.MapEntry::value);
        };
        if (tree instanceof YamlNode.MapNode members
                && members.get("id") instanceof YamlNode.ScalarNode(YamlSourceRange _, var id)
                && id.asString().equals(step)
                && members.get(field) instanceof YamlNode found) {
            return found.range();
        }
        return inside.map(one -> spotOf(one, step, field))
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null);
    }

    /** The business object of a trigger, for users (`idempotency.object`); null if it cannot be evaluated. */
    public @Nullable String objectOf(JsonNode input) {
        return label(parts.rules().object(), input);
    }

    public boolean hasWorth() {
        return parts.rules().worth() != null;
    }

    /** The amount of a trigger, for users (`idempotency.worth`); null if it cannot be evaluated. */
    public @Nullable String worthOf(JsonNode input) {
        return label(parts.rules().worth(), input);
    }

    private static @Nullable String label(@Nullable YamlValueTemplate template, JsonNode input) {
        return template == null ? null : YamlConcurrencyControlReader.text(template, input);
    }

    /** The JSON Schema of `data`; an empty object if the file declares no input. */
    public JsonNode inputSchema() {
        return parts.input().document();
    }

    /** The paths that its expressions read, by step id; the id is empty for key and output. */
    public Stream<Map.Entry<String, ExpressionFieldPath>> readPaths() {
        Stream<Map.Entry<String, ExpressionFieldPath>> outer = Stream.of(parts.key(), parts.output())
                .flatMap(Stream::ofNullable)
                .flatMap(template -> refs("", template));
        Stream<Map.Entry<String, ExpressionFieldPath>> inside = steps().flatMap(step -> Stream.concat(
                        Stream.ofNullable(step.when()), step.action().templates())
                .flatMap(template -> refs(step.id(), template)));
        return Stream.concat(outer, inside);
    }

    private static Stream<Map.Entry<String, ExpressionFieldPath>> refs(String step, YamlValueTemplate template) {
        return template.readPaths().map(path -> Map.entry(step, path));
    }

    /** Input fields that users can search runs by (`search: true`). */
    public Set<String> searchFields() {
        return Set.copyOf(parts.input().search());
    }

    /** Input fields with personal data (`pii: true`), which must not be shown or logged. */
    public Set<String> piiFields() {
        return Set.copyOf(parts.input().pii());
    }

    /** Lint warnings, one sentence each. They depend on the file only. */
    public List<String> warnings() {
        return warnings;
    }

    /** The lint warnings, and those about changes of the clock that are still to come. */
    public List<String> warnings(Instant now) {
        Stream<String> changes = parts.extras().triggers().schedules().stream()
                .map(schedule -> YamlScheduleReader.clockChangeWarning(schedule, now))
                .flatMap(Stream::ofNullable);
        return Stream.concat(warnings.stream(), changes).toList();
    }

    public String text() {
        return text;
    }
}
