package dev.semel.server.definition;

import dev.cel.common.types.CelKind;
import dev.semel.key.KeyPolicy;
import dev.semel.server.language.Expression;
import dev.semel.server.language.FieldRef;
import dev.semel.server.language.Fields;
import dev.semel.server.language.Problems;
import dev.semel.server.language.Site;
import dev.semel.server.language.Source;
import dev.semel.server.language.Spot;
import dev.semel.server.language.Template;
import dev.semel.server.language.TemplateCompiler;
import dev.semel.server.language.Texts;
import dev.semel.server.language.Tree;
import dev.semel.server.language.YamlReader;
import dev.semel.server.steps.FileStep;
import dev.semel.server.steps.StepReader;
import dev.semel.workflow.Doors;
import dev.semel.workflow.Published;
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
    private final Source source;
    private final Problems problems;
    private final TemplateCompiler templates;
    private final List<String> warnings = new ArrayList<>();

    DefinitionReader(String text) {
        this.text = text;
        this.source = new Source(text.length() > YamlReader.LARGEST_FILE ? "" : text);
        this.problems = new Problems(source);
        this.templates = new TemplateCompiler(source, problems);
    }

    /** The validated parts of a workflow file. */
    record Parts(
            String name,
            @Nullable String title,
            @Nullable String owner,
            @Nullable String description,
            PolicyReader.Rules rules,
            @Nullable Template key,
            @Nullable String keyText,
            InputRules input,
            Published.Extras extras,
            List<FileStep> steps,
            @Nullable Template output,
            List<String> warnings) {
        Parts noting(List<String> more) {
            List<String> all = new ArrayList<>(warnings);
            all.addAll(more);
            return new Parts(
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

    Parts read() {
        Fields file = Fields.of(YamlReader.read(text, source, problems), "the file", problems);
        if (file == null) {
            throw problems.exception();
        }
        Fields workflow = new Fields(file.map(), "a workflow", problems).allow(KNOWN, Set.of());
        version(workflow);
        String name = name(workflow);
        Fields trigger = trigger(workflow);
        Fields http = http(trigger);
        boolean requireKey = http != null && http.flag("require_key", false);
        Template key = http == null ? null : key(http);
        InputRules input = new InputReader(problems).read(workflow.get("input"));
        PolicyReader.Rules rules = new PolicyReader(problems, templates).read(workflow.get("idempotency"), requireKey);
        GateReader gates = new GateReader(problems, templates);
        Doors doors = trigger == null
                ? Doors.NONE
                : new Doors(
                        new EventsReader(problems, templates).read(trigger),
                        new ScheduleReader(problems, warnings, input).read(trigger));
        Published.Extras extras = new Published.Extras(gates.read(workflow), workflow.duration("timeout"), doors);
        List<FileStep> steps = new StepReader(source, problems, templates, warnings).read(workflow);
        Template output = output(workflow);
        String title = workflow.text("title");
        String owner = workflow.text("owner");
        String description = workflow.text("description");
        problems.throwIfAny();
        warnings.addAll(IdleWindows.warnings(steps));
        String keyText = http == null ? null : written(http);
        warnOfPersonalKey(key, keyText, input);
        lint(owner, rules, input, Stream.concat(reads(key, steps, output), gates.reads().stream()));
        return new Parts(
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

    private @Nullable Fields trigger(Fields workflow) {
        Fields trigger = Fields.of(workflow.get("trigger"), "trigger", problems);
        return trigger == null ? null : trigger.allow(Set.of("http", "events", "schedules"), Set.of("webhook"));
    }

    private @Nullable Fields http(@Nullable Fields trigger) {
        if (trigger == null) {
            return null;
        }
        Fields http = Fields.of(trigger.get("http"), "trigger.http", problems);
        return http == null ? null : http.allow(Set.of("key", "require_key"), Set.of());
    }

    private void version(Fields workflow) {
        Tree version = workflow.get("semel");
        if (version == null) {
            problems.add(workflow.spotOf("semel"), "the format version is missing; add 'semel: 1'.");
        } else if (!(version instanceof Tree.Scalar(Spot _, var value)) || !value.isInt() || value.intValue() != 1) {
            problems.add(version.spot(), "semel must be 1; this server supports no other format version.");
        }
    }

    private String name(Fields workflow) {
        Tree tree = workflow.get("workflow");
        String name = workflow.text("workflow");
        if (tree == null) {
            problems.add(workflow.spotOf("workflow"), "the name of the workflow is missing; add 'workflow: name'.");
        } else if (name != null && !NAME.matcher(name).matches()) {
            problems.add(tree.spot(), "a workflow name must be a lower-case letter and up to 63 lower-case letters, digits, _ or -.");
        } else if (name != null && name.startsWith("wf_")) {
            problems.add(tree.spot(), "a workflow name must not begin with wf_, which is the prefix of workflow ids.");
        }
        return name == null ? "" : name;
    }

    /** Semel stores and shows keys without masks, because users search by them. */
    private void warnOfPersonalKey(@Nullable Template key, @Nullable String written, InputRules input) {
        if (key == null || written == null || written.contains("sha256(") || written.contains("short_hash(")) {
            return;
        }
        key.expressions()
                .flatMap(expression -> expression.reads().stream())
                .filter(path -> path.root().equals("input") && !path.parts().isEmpty())
                .filter(path -> input.pii().contains(path.parts().getFirst().toString()))
                .map(FieldRef::toString)
                .distinct()
                .forEach(path ->
                        warnings.add(("trigger.http.key: SEM-P01: it reads %s, which is personal data, and Semel stores and"
                                        + " shows keys unmasked. Use an id, or write sha256(%s).")
                                .formatted(path, path)));
    }

    /** Null if the caller's header is the key, which is also the default. */
    private @Nullable Template key(Fields http) {
        Tree tree = http.get("key");
        if (tree == null) {
            return null;
        }
        int before = problems.count();
        Template key = templates.compile(tree, Site.of(Site.Kind.KEY), Set.of(CelKind.STRING, CelKind.INT));
        if (problems.count() > before) {
            return null;
        }
        List<FieldRef> reads = key.expressions()
                .flatMap(expression -> expression.reads().stream())
                .toList();
        if (!(key instanceof Template.Whole) && !(key instanceof Template.Text)) {
            problems.add(
                    tree.spot(),
                    "trigger.http.key must be an expression, e.g. ${ input.event_id }; with a constant all triggers"
                            + " would have the same key.");
        } else if (reads.isEmpty()) {
            problems.add(
                    tree.spot(),
                    "this key is the same for every trigger, so only the first would start a run; use an id from the"
                            + " input.");
        }
        return isDefault(key) ? null : key;
    }

    private static @Nullable String written(Fields http) {
        return http.get("key") instanceof Tree.Scalar(Spot _, var value) ? value.asString() : null;
    }

    private static boolean isDefault(Template key) {
        return key instanceof Template.Whole(Expression.Plain(FieldRef(String root, List<Object> parts)))
                && root.equals("header")
                && parts.size() == 1
                && parts.getFirst().toString().equalsIgnoreCase("Idempotency-Key");
    }

    private @Nullable Template output(Fields workflow) {
        Tree tree = workflow.get("output");
        if (tree == null) {
            return null;
        }
        // Invalid steps also count as known, so that each error is reported once.
        Set<String> ids = StepReader.visible(workflow).collect(Collectors.toSet());
        return templates.compile(tree, new Site(Site.Kind.OUTPUT, ids, Set.of(), Set.of()));
    }

    private static Stream<FieldRef> reads(@Nullable Template key, List<FileStep> steps, @Nullable Template output) {
        Stream<@Nullable Template> all =
                Stream.concat(Stream.of(key, output), steps.stream().flatMap(FileStep::templates));
        return all.flatMap(template -> template == null ? Stream.<Expression>empty() : template.expressions())
                .flatMap(expression -> expression.reads().stream());
    }

    private void lint(@Nullable String owner, PolicyReader.Rules rules, InputRules input, Stream<FieldRef> reads) {
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
                .formatted(Texts.shortened(name), Texts.didYouMean(name, input.declared()))));
    }
}
