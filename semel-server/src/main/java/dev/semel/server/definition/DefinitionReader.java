package dev.semel.server.definition;

import dev.cel.common.types.CelKind;
import dev.semel.admission.KeyPolicy;
import dev.semel.server.expressions.Expression;
import dev.semel.server.expressions.ValuePath;
import dev.semel.server.expressions.YamlMapReader;
import dev.semel.server.expressions.FileErrorCollector;
import dev.semel.server.expressions.ExpressionContext;
import dev.semel.server.expressions.SourceText;
import dev.semel.server.expressions.SourceRange;
import dev.semel.server.expressions.ValueTemplate;
import dev.semel.server.expressions.ValueTemplateCompiler;
import dev.semel.server.expressions.NameSuggestions;
import dev.semel.server.expressions.YamlNode;
import dev.semel.server.expressions.YamlReader;
import dev.semel.server.steps.YamlStep;
import dev.semel.server.steps.StepReader;
import dev.semel.definition.WorkflowTriggers;
import dev.semel.definition.WorkflowVersion;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Reads a workflow file into its parts and collects all errors, so that the author sees them at once. */
final class DefinitionReader {
    private static final Pattern NAME = Pattern.compile("[a-z][a-z0-9_-]{0,63}");
    private static final Set<String> KNOWN = Set.of(
            "semel",
            "workflow",
            "title",
            "owner",
            "description",
            "trigger",
            "input",
            "idempotency",
            "serial_by",
            "max_concurrent",
            "debounce",
            "rate_limit",
            "timeout",
            "steps",
            "output");

    /** Providers commonly retry for about an hour after an outage. */
    private static final Duration RETRY_HORIZON = Duration.ofHours(1);

    private final String text;
    private final SourceText source;
    private final FileErrorCollector problems;
    private final ValueTemplateCompiler templates;
    private final List<String> warnings = new ArrayList<>();

    DefinitionReader(String text) {
        this.text = text;
        this.source = new SourceText(text.length() > YamlReader.LARGEST_FILE ? "" : text);
        this.problems = new FileErrorCollector(source);
        this.templates = new ValueTemplateCompiler(source, problems);
    }

    /** The validated parts of a workflow file. */
    record DefinitionParts(
            String name,
            @Nullable String title,
            @Nullable String owner,
            @Nullable String description,
            KeyPolicyReader.IdempotencySection rules,
            @Nullable ValueTemplate key,
            @Nullable String keyText,
            InputSchema input,
            WorkflowVersion.VersionOptions extras,
            List<YamlStep> steps,
            @Nullable ValueTemplate output,
            List<String> warnings) {
        DefinitionParts withWarnings(List<String> more) {
            List<String> all = new ArrayList<>(warnings);
            all.addAll(more);
            return new DefinitionParts(
                    name,
                    title,
                    owner,
                    description,
                    rules,
                    key,
                    keyText,
                    input,
                    extras,
                    steps,
                    output,
                    List.copyOf(all));
        }
    }

    DefinitionParts read() {
        YamlMapReader file = YamlMapReader.of(YamlReader.read(text, source, problems), "the file", problems);
        if (file == null) {
            throw problems.exception();
        }
        YamlMapReader workflow = new YamlMapReader(file.map(), "a workflow", problems).allowOnly(KNOWN, Set.of());
        version(workflow);
        String name = name(workflow);
        YamlMapReader trigger = trigger(workflow);
        YamlMapReader http = http(trigger);
        boolean requireKey = http != null && http.flag("require_key", false);
        ValueTemplate key = http == null ? null : key(http);
        InputSchema input = new InputSchemaReader(problems).read(workflow.get("input"));
        KeyPolicyReader.IdempotencySection rules = new KeyPolicyReader(problems, templates).read(workflow.get("idempotency"), requireKey);
        ConcurrencyControlReader gates = new ConcurrencyControlReader(problems, templates);
        WorkflowTriggers doors = trigger == null
                ? WorkflowTriggers.NONE
                : new WorkflowTriggers(
                        new EventTriggerReader(problems, templates).read(trigger),
                        new ScheduleReader(problems, warnings, input).read(trigger));
        WorkflowVersion.VersionOptions extras = new WorkflowVersion.VersionOptions(gates.read(workflow), workflow.duration("timeout"), doors);
        List<YamlStep> steps = new StepReader(source, problems, templates, warnings).read(workflow);
        ValueTemplate output = output(workflow);
        String title = workflow.text("title");
        String owner = workflow.text("owner");
        String description = workflow.text("description");
        problems.throwIfAny();
        warnings.addAll(IneffectiveWindowCheck.warnings(steps));
        String keyText = http == null ? null : written(http);
        warnOfPersonalKey(key, keyText, input);
        lint(owner, rules, input, Stream.concat(reads(key, steps, output), gates.reads().stream()));
        return new DefinitionParts(
                name,
                title,
                owner,
                description,
                rules,
                key,
                keyText,
                input,
                extras,
                steps,
                output,
                List.copyOf(warnings));
    }

    private @Nullable YamlMapReader trigger(YamlMapReader workflow) {
        YamlMapReader trigger = YamlMapReader.of(workflow.get("trigger"), "trigger", problems);
        return trigger == null ? null : trigger.allowOnly(Set.of("http", "events", "schedules"), Set.of("webhook"));
    }

    private @Nullable YamlMapReader http(@Nullable YamlMapReader trigger) {
        if (trigger == null) {
            return null;
        }
        YamlMapReader http = YamlMapReader.of(trigger.get("http"), "trigger.http", problems);
        return http == null ? null : http.allowOnly(Set.of("key", "require_key"), Set.of());
    }

    private void version(YamlMapReader workflow) {
        YamlNode version = workflow.get("semel");
        if (version == null) {
            problems.add(workflow.nameRange("semel"), "the format version is missing; add 'semel: 1'.");
        } else if (!(version instanceof YamlNode.ScalarNode(SourceRange _, var value)) || !value.isInt() || value.intValue() != 1) {
            problems.add(version.range(), "semel must be 1; this server supports no other format version.");
        }
    }

    private String name(YamlMapReader workflow) {
        YamlNode tree = workflow.get("workflow");
        String name = workflow.text("workflow");
        if (tree == null) {
            problems.add(workflow.nameRange("workflow"), "the name of the workflow is missing; add 'workflow: name'.");
        } else if (name != null && !NAME.matcher(name).matches()) {
            problems.add(tree.range(), "a workflow name must be a lower-case letter and up to 63 lower-case letters, digits, _ or -.");
        } else if (name != null && name.startsWith("wf_")) {
            problems.add(tree.range(), "a workflow name must not begin with wf_, which is the prefix of workflow ids.");
        }
        return name == null ? "" : name;
    }

    /** Semel stores and shows keys without masks, because users search by them. */
    private void warnOfPersonalKey(@Nullable ValueTemplate key, @Nullable String written, InputSchema input) {
        if (key == null || written == null || written.contains("sha256(") || written.contains("short_hash(")) {
            return;
        }
        key.expressions()
                .flatMap(expression -> expression.readPaths().stream())
                .filter(path -> path.root().equals("input") && !path.parts().isEmpty())
                .filter(path -> input.pii().contains(path.parts().getFirst().toString()))
                .map(ValuePath::toString)
                .distinct()
                .forEach(path ->
                        warnings.add(("trigger.http.key: SEM-P01: it reads %s, which is personal data, and Semel stores and"
                                        + " shows keys unmasked. Use an id, or write sha256(%s).")
                                .formatted(path, path)));
    }

    /** Null if the caller's header is the key, which is also the default. */
    private @Nullable ValueTemplate key(YamlMapReader http) {
        YamlNode tree = http.get("key");
        if (tree == null) {
            return null;
        }
        int before = problems.count();
        ValueTemplate key = templates.compile(tree, ExpressionContext.of(ExpressionContext.ContextKind.KEY), Set.of(CelKind.STRING, CelKind.INT));
        if (problems.count() > before) {
            return null;
        }
        List<ValuePath> reads = key.expressions()
                .flatMap(expression -> expression.readPaths().stream())
                .toList();
        if (!(key instanceof ValueTemplate.SingleExpression) && !(key instanceof ValueTemplate.InterpolatedText)) {
            problems.add(
                    tree.range(),
                    "trigger.http.key must be an expression, e.g. ${ input.event_id }; with a constant all triggers"
                            + " would have the same key.");
        } else if (reads.isEmpty()) {
            problems.add(
                    tree.range(),
                    "this key is the same for every trigger, so only the first would start a run; use an id from the"
                            + " input.");
        }
        return isDefault(key) ? null : key;
    }

    private static @Nullable String written(YamlMapReader http) {
        return http.get("key") instanceof YamlNode.ScalarNode(SourceRange _, var value) ? value.asString() : null;
    }

    private static boolean isDefault(ValueTemplate key) {
        return key instanceof ValueTemplate.SingleExpression(Expression.PathExpression(ValuePath(String root, List<Object> parts)))
                && root.equals("header")
                && parts.size() == 1
                && parts.getFirst().toString().equalsIgnoreCase("Idempotency-Key");
    }

    private @Nullable ValueTemplate output(YamlMapReader workflow) {
        YamlNode tree = workflow.get("output");
        if (tree == null) {
            return null;
        }
        // Invalid steps also count as known, so that each error is reported once.
        Set<String> ids = StepReader.visibleIds(workflow).collect(Collectors.toSet());
        return templates.compile(tree, new ExpressionContext(ExpressionContext.ContextKind.OUTPUT, ids, Set.of(), Set.of()));
    }

    private static Stream<ValuePath> reads(@Nullable ValueTemplate key, List<YamlStep> steps, @Nullable ValueTemplate output) {
        Stream<@Nullable ValueTemplate> all =
                Stream.concat(Stream.of(key, output), steps.stream().flatMap(YamlStep::templates));
        return all.flatMap(template -> template == null ? Stream.<Expression>empty() : template.expressions())
                .flatMap(expression -> expression.readPaths().stream());
    }

    private void lint(@Nullable String owner, KeyPolicyReader.IdempotencySection rules, InputSchema input, Stream<ValuePath> reads) {
        if (owner == null || owner.isBlank()) {
            warnings.add("The workflow has no owner; the dashboard, alerts and reviews cannot show one. Add owner: team.");
        }
        KeyPolicy policy = rules.policy();
        if (policy.window().compareTo(RETRY_HORIZON) < 0) {
            warnings.add("idempotency.window is shorter than one hour; a later retry starts a new run.");
        }
        if (input.declared().isEmpty()) {
            return;
        }
        Set<String> unknown = new LinkedHashSet<>();
        Stream.concat(reads, rules.reads().stream())
                .filter(path -> path.root().equals("input") && !path.parts().isEmpty())
                .map(path -> path.parts().getFirst().toString())
                .filter(name -> !input.declared().contains(name))
                .forEach(unknown::add);
        unknown.forEach(name -> warnings.add("input.%s is read but not declared under input.%s"
                .formatted(NameSuggestions.shorten(name), NameSuggestions.didYouMean(name, input.declared()))));
    }
}
