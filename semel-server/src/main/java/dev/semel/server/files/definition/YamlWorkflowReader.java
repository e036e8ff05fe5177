package dev.semel.server.files.definition;

import dev.semel.definition.WorkflowTriggers;
import dev.semel.definition.WorkflowVersion;
import dev.semel.idempotency.KeyPolicy;
import dev.semel.server.files.expressions.ExpressionCompileContext;
import dev.semel.server.files.expressions.ExpressionFieldPath;
import dev.semel.server.files.expressions.WorkflowExpression;
import dev.semel.server.files.expressions.YamlValueTemplate;
import dev.semel.server.files.expressions.YamlValueTemplateCompiler;
import dev.semel.server.files.steps.YamlStep;
import dev.semel.server.files.steps.flow.YamlStepReader;
import dev.semel.server.files.yaml.MisspelledNameSuggester;
import dev.semel.server.files.yaml.YamlFileErrorCollector;
import dev.semel.server.files.yaml.YamlMapReader;
import dev.semel.server.files.yaml.YamlNode;
import dev.semel.server.files.yaml.YamlReader;
import dev.semel.server.files.yaml.YamlSourceRange;
import dev.semel.server.files.yaml.YamlSourceText;
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
final class YamlWorkflowReader {
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
    private final YamlSourceText source;
    private final YamlFileErrorCollector problems;
    private final YamlValueTemplateCompiler templates;
    private final List<String> warnings = new ArrayList<>();

    YamlWorkflowReader(String text) {
        this.text = text;
        this.source = new YamlSourceText(text.length() > YamlReader.LARGEST_FILE ? "" : text);
        this.problems = new YamlFileErrorCollector(source);
        this.templates = new YamlValueTemplateCompiler(source, problems);
    }

    record DefinitionParts(
            String name,
            @Nullable String title,
            @Nullable String owner,
            @Nullable String description,
            YamlIdempotencyPolicyReader.IdempotencySection rules,
            @Nullable YamlValueTemplate key,
            @Nullable String keyText,
            WorkflowInputSchema input,
            WorkflowVersion.VersionOptions extras,
            List<YamlStep> steps,
            @Nullable YamlValueTemplate output,
            List<String> warnings) {}

    DefinitionParts read() {
        YamlMapReader file = YamlMapReader.of(YamlReader.read(text, source, problems), "the file", problems);
        if (file == null) {
            throw problems.exception();
        }
        YamlMapReader workflow = new YamlMapReader(file.map(), "a workflow", problems).allowOnly(KNOWN);
        version(workflow);
        String name = name(workflow);
        YamlMapReader trigger = trigger(workflow);
        YamlMapReader http = http(trigger);
        boolean requireKey = http != null && http.flag("require_key", false);
        YamlValueTemplate key = http == null ? null : key(http);
        WorkflowInputSchema input = new YamlInputSchemaReader(problems).read(workflow.get("input"));
        YamlIdempotencyPolicyReader.IdempotencySection rules =
                new YamlIdempotencyPolicyReader(problems, templates).read(workflow.get("idempotency"), requireKey);
        YamlConcurrencyControlReader concurrencyControlReader = new YamlConcurrencyControlReader(problems, templates);
        WorkflowTriggers workflowTriggers = trigger == null
                ? WorkflowTriggers.NONE
                : new WorkflowTriggers(
                        new YamlEventTriggerReader(problems, templates).read(trigger),
                        new YamlScheduleReader(problems, input).read(trigger));
        WorkflowVersion.VersionOptions extras = new WorkflowVersion.VersionOptions(
                concurrencyControlReader.read(workflow), workflow.duration("timeout"), workflowTriggers);
        List<YamlStep> steps = new YamlStepReader(source, problems, templates, warnings).read(workflow);
        YamlValueTemplate output = output(workflow);
        String title = workflow.text("title");
        String owner = workflow.text("owner");
        String description = workflow.text("description");
        problems.throwIfAny();
        warnings.addAll(IdempotencyWindowLintRule.warnings(steps));
        String keyText = http == null ? null : written(http);
        warnOfPersonalKey(key, keyText, input);
        warnings.addAll(NoisyKeyFieldLintRule.warnings(key, rules, steps));
        lint(owner, rules, input, Stream.concat(reads(key, steps, output), concurrencyControlReader.reads().stream()));
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
        if (trigger == null) {
            return null;
        }
        for (String name : List.of("webhook", "webhooks")) {
            if (trigger.get(name) != null) {
                problems.add(
                        trigger.nameRange(name),
                        "A webhook triggers a workflow through `trigger.events`.",
                        "use events",
                        "Write `trigger: { events: [{ type: order.paid, source: shop }] }`, where `source` is the name"
                                + " of the webhook source.");
                return null;
            }
        }
        return trigger.allowOnly(Set.of("http", "events", "schedules"));
    }

    private @Nullable YamlMapReader http(@Nullable YamlMapReader trigger) {
        if (trigger == null) {
            return null;
        }
        YamlMapReader http = YamlMapReader.of(trigger.get("http"), "trigger.http", problems);
        return http == null ? null : http.allowOnly(Set.of("key", "require_key"));
    }

    private void version(YamlMapReader workflow) {
        YamlNode version = workflow.get("semel");
        if (version == null) {
            problems.add(workflow.nameRange("semel"), "the format version is missing; add 'semel: 1'.");
        } else if (!(version instanceof YamlNode.ScalarNode(YamlSourceRange _, var value))
                || !value.isInt()
                || value.intValue() != 1) {
            problems.add(version.range(), "semel must be 1; this server supports no other format version.");
        }
    }

    private String name(YamlMapReader workflow) {
        YamlNode tree = workflow.get("workflow");
        String name = workflow.text("workflow");
        if (tree == null) {
            problems.add(workflow.nameRange("workflow"), "the name of the workflow is missing; add 'workflow: name'.");
        } else if (name != null && !NAME.matcher(name).matches()) {
            problems.add(
                    tree.range(),
                    "a workflow name must begin with a lower-case letter, followed by up to 63 lower-case letters,"
                            + " digits, _ or -.");
        } else if (name != null && name.startsWith("wf_")) {
            problems.add(tree.range(), "a workflow name must not begin with wf_, which is the prefix of workflow ids.");
        }
        return name == null ? "" : name;
    }

    /** Semel stores and shows keys without masks, because users search by them. */
    private void warnOfPersonalKey(
            @Nullable YamlValueTemplate key, @Nullable String written, WorkflowInputSchema input) {
        if (key == null || written == null || written.contains("sha256(") || written.contains("short_hash(")) {
            return;
        }
        key.readPaths()
                .filter(path -> path.root().equals("input") && !path.parts().isEmpty())
                .filter(path -> input.pii().contains(path.parts().getFirst().toString()))
                .map(ExpressionFieldPath::toString)
                .distinct()
                .forEach(path -> warnings.add(
                        ("trigger.http.key: SEM-K09: the key reads %s, which is personal data, and Semel stores and"
                                        + " shows keys unmasked. Use an id, or write sha256(%s).")
                                .formatted(path, path)));
    }

    /** Null if the caller's header is the key, which is also the default. */
    private @Nullable YamlValueTemplate key(YamlMapReader http) {
        YamlNode tree = http.get("key");
        if (tree == null) {
            return null;
        }
        int before = problems.count();
        YamlValueTemplate key = templates.compile(
                tree,
                ExpressionCompileContext.of(ExpressionCompileContext.ContextKind.KEY),
                YamlValueTemplateCompiler.IDENTIFIER);
        if (problems.count() > before) {
            return null;
        }
        List<ExpressionFieldPath> reads = key.readPaths().toList();
        if (!(key instanceof YamlValueTemplate.SingleExpression)
                && !(key instanceof YamlValueTemplate.InterpolatedText)) {
            problems.add(
                    tree.range(),
                    "trigger.http.key must be an expression, e.g. ${ input.event_id }; with a constant all triggers"
                            + " would have the same key.");
        } else if (reads.isEmpty()) {
            problems.add(
                    tree.range(),
                    "this key is the same for every trigger, so only the first trigger would start a run; use an id"
                            + " from the input.");
        }
        return isDefault(key) ? null : key;
    }

    private static @Nullable String written(YamlMapReader http) {
        return http.get("key") instanceof YamlNode.ScalarNode(YamlSourceRange _, var value) ? value.asString() : null;
    }

    private static boolean isDefault(YamlValueTemplate key) {
        return key
                        instanceof
                        YamlValueTemplate.SingleExpression(
                                WorkflowExpression.PathExpression(ExpressionFieldPath(String root, List<Object> parts)))
                && root.equals("header")
                && parts.size() == 1
                && parts.getFirst().toString().equalsIgnoreCase("Idempotency-Key");
    }

    private @Nullable YamlValueTemplate output(YamlMapReader workflow) {
        YamlNode tree = workflow.get("output");
        if (tree == null) {
            return null;
        }
        // Invalid steps also count as known, so that each error is reported once.
        Set<String> ids = YamlStepReader.visibleIds(workflow).collect(Collectors.toSet());
        return templates.compile(
                tree,
                new ExpressionCompileContext(ExpressionCompileContext.ContextKind.OUTPUT, ids, Set.of(), Set.of()));
    }

    private static Stream<ExpressionFieldPath> reads(
            @Nullable YamlValueTemplate key, List<YamlStep> steps, @Nullable YamlValueTemplate output) {
        Stream<@Nullable YamlValueTemplate> all =
                Stream.concat(Stream.of(key, output), steps.stream().flatMap(YamlStep::templates));
        return all.flatMap(template -> template == null ? Stream.<WorkflowExpression>empty() : template.expressions())
                .flatMap(expression -> expression.readPaths().stream());
    }

    private void lint(
            @Nullable String owner,
            YamlIdempotencyPolicyReader.IdempotencySection rules,
            WorkflowInputSchema input,
            Stream<ExpressionFieldPath> reads) {
        if (owner == null || owner.isBlank()) {
            warnings.add("The workflow has no owner; the dashboard, alerts and reviews cannot show one. Add one, e.g."
                    + " owner: payments-team.");
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
                .formatted(
                        MisspelledNameSuggester.shorten(name),
                        MisspelledNameSuggester.didYouMean(name, input.declared()))));
    }
}
