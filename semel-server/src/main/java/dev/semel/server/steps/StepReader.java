package dev.semel.server.steps;

import dev.cel.common.types.CelKind;
import dev.semel.server.expressions.ExpressionContext;
import dev.semel.server.expressions.FileErrorCollector;
import dev.semel.server.expressions.NameSuggestions;
import dev.semel.server.expressions.SourceRange;
import dev.semel.server.expressions.SourceText;
import dev.semel.server.expressions.ValueTemplate;
import dev.semel.server.expressions.ValueTemplateCompiler;
import dev.semel.server.expressions.YamlMapReader;
import dev.semel.server.expressions.YamlNode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Reads the `steps` section of a workflow file and validates ids, kinds and nesting. */
public final class StepReader {
    static final int MOST_STEPS = 500;

    /** Limit of nested branches and loops. */
    private static final int DEEPEST = 8;

    static final Pattern ID = Pattern.compile("[a-z][a-z0-9_]{0,63}");

    /** Reserved by the expression language: `steps.in` could never be read. */
    static final Set<String> RESERVED = Set.of("in", "true", "false", "null");

    /** Kinds whose branches run concurrently. */
    private static final Set<String> AT_ONCE = Set.of("parallel", "for_each");

    private static final Set<String> KNOWN = Set.of("id", "when", "on_error", "title");

    private final SourceText source;
    private final FileErrorCollector problems;
    private final StepReadContext.ReadTools tools;
    private Set<String> ids = Set.of();
    private int depth;

    public StepReader(
            SourceText source, FileErrorCollector problems, ValueTemplateCompiler templates, List<String> warnings) {
        this.source = source;
        this.problems = problems;
        this.tools = new StepReadContext.ReadTools(problems, templates, warnings, this::inner);
    }

    public List<YamlStep> read(YamlMapReader workflow) {
        YamlNode steps = workflow.get("steps");
        if (steps == null) {
            problems.add(
                    workflow.nameRange("workflow"),
                    "the workflow has no steps; the smallest step is '- {id: note, set: {ok: true}}'.");
            return List.of();
        }
        List<YamlNode> items = workflow.items("steps");
        if (steps instanceof YamlNode.ListNode) {
            List<YamlNode> all = items.stream().flatMap(StepIdScanner::all).toList();
            if (all.isEmpty() || all.size() > MOST_STEPS) {
                problems.add(workflow.valueRange("steps"), "a workflow must have 1 to %d steps.".formatted(MOST_STEPS));
                return List.of();
            }
            ids = distinct(all);
        }
        return read(items, ExpressionContext.of(ExpressionContext.ContextKind.STEP));
    }

    /** Reads the steps of a branch or loop. */
    private List<YamlStep> inner(YamlNode list, ExpressionContext at) {
        if (!(list instanceof YamlNode.ListNode(SourceRange _, List<YamlNode> items)) || items.isEmpty()) {
            problems.add(list.range(), "steps must be a list of at least one step.");
            return List.of();
        }
        if (depth >= DEEPEST) {
            problems.add(list.range(), "steps may have at most %d nested levels.".formatted(DEEPEST));
            return List.of();
        }
        depth++;
        try {
            return read(items, at);
        } finally {
            depth--;
        }
    }

    private List<YamlStep> read(List<YamlNode> items, ExpressionContext around) {
        List<YamlStep> steps = new ArrayList<>();
        Set<String> earlier = new LinkedHashSet<>(around.earlierSteps());
        for (YamlNode item : items) {
            YamlMapReader fields = YamlMapReader.of(item, "a step", problems);
            if (fields == null) {
                continue;
            }
            YamlStep step = step(
                    fields,
                    new ExpressionContext(ExpressionContext.ContextKind.STEP, earlier, ids, around.loopVariables()));
            if (step != null) {
                steps.add(step);
            }
            // An invalid step counts as known, so that one error is not reported again at every use.
            StepIdScanner.visibleIds(item).forEach(earlier::add);
        }
        return steps;
    }

    /** All step ids of the file; a duplicate is reported with both lines. */
    private Set<String> distinct(List<YamlNode> all) {
        Map<String, Integer> lines = new LinkedHashMap<>();
        for (YamlNode item : all) {
            if (item instanceof YamlNode.MapNode members
                    && members.get("id") instanceof YamlNode.ScalarNode(SourceRange spot, var id)
                    && id.isString()) {
                int line = source.line(spot.start());
                Integer first = lines.putIfAbsent(id.stringValue(), line);
                if (first != null) {
                    problems.add(
                            spot,
                            "the step id '%s' is used in line %d and in line %d; step ids must be unique."
                                    .formatted(NameSuggestions.shorten(id.stringValue()), first, line));
                }
            }
        }
        return lines.keySet();
    }

    private @Nullable YamlStep step(YamlMapReader fields, ExpressionContext site) {
        StepKind kind = kind(fields);
        if (kind != null) {
            Set<String> known = new TreeSet<>(KNOWN);
            known.add(kind.name());
            known.addAll(kind.fields());
            fields.allowOnly(known, Set.of());
        }
        String id = id(fields);
        ValueTemplate when = when(fields, site);
        YamlStep.ErrorPolicy onError =
                fields.choice("on_error", YamlStep.ErrorPolicy.class).orElse(YamlStep.ErrorPolicy.FAIL);
        if (kind == null) {
            return null;
        }
        if (onError == YamlStep.ErrorPolicy.CONTINUE && AT_ONCE.contains(kind.name())) {
            problems.add(
                    fields.nameRange("on_error"),
                    "on_error is not allowed here: if several nested steps fail at once, the reported error would be"
                            + " random.",
                    "not allowed here",
                    "Set on_error: continue on the nested steps that may fail.");
        }
        YamlStepAction act = kind.read(new StepReadContext(id == null ? "" : id, fields, site, tools));
        return id == null || act == null
                ? null
                : new YamlStep(id, kind.name(), when, onError, act, Set.of()).withRecordedValues();
    }

    /** The kind of a step: exactly one field must name a kind, without fields that belong to another kind. */
    private @Nullable StepKind kind(YamlMapReader fields) {
        List<StepKind> named = StepKindRegistry.ALL.stream()
                .filter(kind -> fields.get(kind.name()) != null)
                .toList();
        List<StepKind> own = named.stream()
                .filter(kind -> named.stream().noneMatch(other -> other.fields().contains(kind.name())))
                .toList();
        if (own.size() == 1) {
            return own.getFirst();
        }
        if (own.isEmpty()) {
            if (fields.get("event") != null) {
                problems.add(
                        fields.nameRange("event"),
                        "The step kind event is now notify.",
                        "now notify",
                        "Write notify: instead of event:.");
                return null;
            }
            if (unknown(fields)) {
                return null;
            }
            problems.add(
                    fields.nameRange("id"),
                    "the step has no kind.",
                    "no kind",
                    "Add one of: %s.".formatted(String.join(", ", StepKindRegistry.words())));
            return null;
        }
        problems.add(
                fields.nameRange(own.get(1).name()),
                "a step must have exactly one kind; this one has %s."
                        .formatted(String.join(
                                " and ", own.stream().map(StepKind::name).toList())));
        return null;
    }

    /** A misspelt kind appears as an unknown field. */
    private boolean unknown(YamlMapReader fields) {
        int before = problems.count();
        Set<String> known = new TreeSet<>(KNOWN);
        known.addAll(StepKindRegistry.words());
        StepKindRegistry.ALL.forEach(kind -> known.addAll(kind.fields()));
        fields.allowOnly(known, Set.of());
        return problems.count() > before;
    }

    private @Nullable String id(YamlMapReader fields) {
        if (fields.get("id") == null) {
            problems.add(
                    fields.range().narrow(fields.range().start(), fields.range().start()),
                    "the step has no id; add id: name.");
            return null;
        }
        String id = fields.text("id");
        if (id != null && (!ID.matcher(id).matches() || RESERVED.contains(id))) {
            problems.add(
                    fields.valueRange("id"),
                    "a step id must be a lower-case letter and up to 63 lower-case letters, digits or _%s."
                            .formatted(RESERVED.contains(id) ? ", and '" + id + "' is reserved" : ""));
            return null;
        }
        return id;
    }

    private @Nullable ValueTemplate when(YamlMapReader fields, ExpressionContext site) {
        return condition(tools, fields, "when", site);
    }

    /** A condition: one boolean expression, or true or false. */
    static @Nullable ValueTemplate condition(
            StepReadContext.ReadTools tools, YamlMapReader fields, String name, ExpressionContext site) {
        YamlNode tree = fields.get(name);
        if (tree == null) {
            return null;
        }
        ValueTemplate when = tools.templates().compile(tree, site, Set.of(CelKind.BOOL));
        boolean whole = when instanceof ValueTemplate.SingleExpression;
        boolean constant = when instanceof ValueTemplate.Literal(var value) && value.isBoolean();
        boolean refused = tree instanceof YamlNode.ScalarNode(SourceRange _, var value)
                && value.asString().startsWith("${");
        if (!whole && !constant && !refused) {
            tools.problems()
                    .add(tree.range(), "%s must be one expression that returns true or false: ${ … }.".formatted(name));
        }
        return when;
    }

    /** All step kinds, in the order in which messages list them. */
    private static final class StepKindRegistry {
        static final List<StepKind> ALL = List.of(
                new SetStepKind(),
                new ChooseStepKind(),
                new ForEachStepKind(),
                new ParallelStepKind(),
                new SleepStepKind(),
                new WaitForStepKind(false),
                new WaitForStepKind(true),
                new ApprovalStepKind(),
                new ChildWorkflowStepKind(),
                new TxStepKind(),
                new HttpStepKind(),
                new SendStepKind(),
                new NotifyStepKind(),
                new DigestStepKind(),
                new ProfileStepKinds.UserProfileStepKind(),
                new ProfileStepKinds.SubscriptionStepKind(),
                new ProfileStepKinds.CohortStepKind(),
                new ProfileStepKinds.TemplateSearchStepKind(),
                new JavaStepKind());

        static List<String> words() {
            return ALL.stream().map(StepKind::name).toList();
        }
    }

    /** The step kinds, each with its further fields. */
    public static Map<String, Set<String>> kinds() {
        return StepKindRegistry.ALL.stream().collect(Collectors.toUnmodifiableMap(StepKind::name, StepKind::fields));
    }

    /** The fields that every step may have. */
    public static Set<String> commonFields() {
        return KNOWN;
    }

    /** The ids of all steps that a file's output may read. */
    public static Stream<String> visibleIds(YamlMapReader workflow) {
        return workflow.get("steps") instanceof YamlNode.ListNode(SourceRange _, List<YamlNode> items)
                ? items.stream().flatMap(StepIdScanner::visibleIds)
                : Stream.empty();
    }
}
