package dev.semel.server.files.steps.flow;

import dev.semel.server.files.expressions.ExpressionCompileContext;
import dev.semel.server.files.expressions.ExpressionCompileContext.ContextKind;
import dev.semel.server.files.expressions.YamlValueTemplate;
import dev.semel.server.files.expressions.YamlValueTemplateCompiler;
import dev.semel.server.files.steps.CompiledYamlStepAction;
import dev.semel.server.files.steps.RetryOptions;
import dev.semel.server.files.steps.YamlEffectOptionsReader;
import dev.semel.server.files.steps.YamlStep;
import dev.semel.server.files.steps.YamlStepKind;
import dev.semel.server.files.steps.YamlStepReadContext;
import dev.semel.server.files.steps.effects.DigestStepAction;
import dev.semel.server.files.steps.effects.HttpStepReader;
import dev.semel.server.files.steps.effects.JavaStepAction;
import dev.semel.server.files.steps.effects.RecordedStepAction;
import dev.semel.server.files.steps.effects.TxStepAction;
import dev.semel.server.files.steps.effects.YamlNotificationStepReader;
import dev.semel.server.files.yaml.MisspelledNameSuggester;
import dev.semel.server.files.yaml.YamlFileErrorCollector;
import dev.semel.server.files.yaml.YamlMapReader;
import dev.semel.server.files.yaml.YamlNode;
import dev.semel.server.files.yaml.YamlSourceRange;
import dev.semel.server.files.yaml.YamlSourceText;
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

public final class YamlStepReader {
    static final int MOST_STEPS = 500;

    /** Limit of nested branches and loops. */
    private static final int DEEPEST = 8;

    static final Pattern ID = Pattern.compile("[a-z][a-z0-9_]{0,63}");

    /** Reserved by the expression language: `steps.in` could never be read. */
    static final Set<String> RESERVED = Set.of("in", "true", "false", "null");

    /** Kinds whose branches run concurrently. */
    private static final Set<String> AT_ONCE = Set.of("parallel", "for_each");

    private static final Set<String> KNOWN = Set.of("id", "when", "on_error", "title");

    private final YamlSourceText source;
    private final YamlFileErrorCollector problems;
    private final YamlStepReadContext.ReadTools tools;
    private Set<String> ids = Set.of();
    private int depth;

    public YamlStepReader(
            YamlSourceText source,
            YamlFileErrorCollector problems,
            YamlValueTemplateCompiler templates,
            List<String> warnings) {
        this.source = source;
        this.problems = problems;
        this.tools = new YamlStepReadContext.ReadTools(problems, templates, warnings, this::inner);
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
            List<YamlNode> all = items.stream().flatMap(YamlStepIdScanner::all).toList();
            if (all.isEmpty() || all.size() > MOST_STEPS) {
                problems.add(workflow.valueRange("steps"), "a workflow must have 1 to %d steps.".formatted(MOST_STEPS));
                return List.of();
            }
            ids = distinct(all);
        }
        return read(items, ExpressionCompileContext.of(ContextKind.STEP));
    }

    /** Reads the steps of a branch or loop. */
    private List<YamlStep> inner(YamlNode list, ExpressionCompileContext at) {
        if (!(list instanceof YamlNode.ListNode(YamlSourceRange _, List<YamlNode> items)) || items.isEmpty()) {
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

    private List<YamlStep> read(List<YamlNode> items, ExpressionCompileContext expressionContext) {
        List<YamlStep> steps = new ArrayList<>();
        Set<String> earlier = new LinkedHashSet<>(expressionContext.earlierSteps());
        for (YamlNode item : items) {
            YamlMapReader fields = YamlMapReader.of(item, "a step", problems);
            if (fields == null) {
                continue;
            }
            YamlStep step = step(
                    fields,
                    new ExpressionCompileContext(ContextKind.STEP, earlier, ids, expressionContext.loopVariables()));
            if (step != null) {
                steps.add(step);
            }
            // An invalid step counts as known, so that one error is not reported again at every use.
            YamlStepIdScanner.visibleIds(item).forEach(earlier::add);
        }
        return steps;
    }

    /** All step ids of the file; a duplicate is reported with both lines. */
    private Set<String> distinct(List<YamlNode> all) {
        Map<String, Integer> lines = new LinkedHashMap<>();
        for (YamlNode item : all) {
            if (item instanceof YamlNode.MapNode members
                    && members.get("id") instanceof YamlNode.ScalarNode(YamlSourceRange spot, var id)
                    && id.isString()) {
                int line = source.line(spot.start());
                Integer first = lines.putIfAbsent(id.stringValue(), line);
                if (first != null) {
                    problems.add(
                            spot,
                            "the step id '%s' is used in line %d and in line %d; step ids must be unique."
                                    .formatted(MisspelledNameSuggester.shorten(id.stringValue()), first, line));
                }
            }
        }
        return lines.keySet();
    }

    private @Nullable YamlStep step(YamlMapReader fields, ExpressionCompileContext site) {
        YamlStepKind kind = kind(fields);
        if (kind != null) {
            Set<String> known = new TreeSet<>(KNOWN);
            known.add(kind.name());
            known.addAll(kind.fields());
            fields.allowOnly(known);
        }
        String id = id(fields);
        YamlValueTemplate when = YamlStepReadContext.condition(tools, fields, "when", site);
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
        CompiledYamlStepAction act =
                kind.reader().apply(new YamlStepReadContext(id == null ? "" : id, fields, site, tools));
        return id == null || act == null
                ? null
                : new YamlStep(id, kind.name(), when, onError, act, Set.of()).withRecordedValues();
    }

    /** The kind of a step: exactly one field must name a kind, without fields that belong to another kind. */
    private @Nullable YamlStepKind kind(YamlMapReader fields) {
        List<YamlStepKind> named = StepKindRegistry.ALL.stream()
                .filter(kind -> fields.get(kind.name()) != null)
                .toList();
        List<YamlStepKind> own = named.stream()
                .filter(kind -> named.stream().noneMatch(other -> other.fields().contains(kind.name())))
                .toList();
        if (own.size() == 1) {
            return own.getFirst();
        }
        if (own.isEmpty()) {
            if (fields.get("event") != null) {
                problems.add(
                        fields.nameRange("event"),
                        "The step kind `event` was renamed to `notify`.",
                        "now notify",
                        "Write `notify:` instead of `event:`.");
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
                "a step must have exactly one kind; this step has %s."
                        .formatted(String.join(
                                " and ", own.stream().map(YamlStepKind::name).toList())));
        return null;
    }

    /** A misspelt kind appears as an unknown field. */
    private boolean unknown(YamlMapReader fields) {
        int before = problems.count();
        Set<String> known = new TreeSet<>(KNOWN);
        known.addAll(StepKindRegistry.words());
        StepKindRegistry.ALL.forEach(kind -> known.addAll(kind.fields()));
        List<String> unknown = fields.map().members().keySet().stream()
                .filter(name -> !known.contains(name))
                .toList();
        for (String name : unknown) {
            String meant = MisspelledNameSuggester.didYouMean(name, Set.copyOf(StepKindRegistry.words()));
            if (!meant.isEmpty() || unknown.size() == 1) {
                problems.add(
                        fields.nameRange(name),
                        "'%s' is not a step kind.%s".formatted(MisspelledNameSuggester.shorten(name), meant),
                        "unknown kind",
                        "Step kinds: %s.".formatted(String.join(", ", new TreeSet<>(StepKindRegistry.words()))));
                return true;
            }
        }
        fields.allowOnly(known);
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
                    ("a step id must begin with a lower-case letter, followed by up to 63 lower-case letters,"
                                    + " digits or _%s.")
                            .formatted(RESERVED.contains(id) ? ", and '" + id + "' is reserved" : ""));
            return null;
        }
        return id;
    }

    /** All step kinds, in the order in which messages list them. */
    private static final class StepKindRegistry {
        static final List<YamlStepKind> ALL = List.of(
                new YamlStepKind("set", RecordedStepAction::readSet),
                new YamlStepKind("choose", ChooseStepAction::read),
                new YamlStepKind("for_each", Set.of("as", "item_key", "parallel", "steps"), ForEachStepAction::read),
                new YamlStepKind("parallel", ParallelStepAction::read),
                new YamlStepKind("sleep", SleepStepAction::read),
                new YamlStepKind("wait_for", Set.of("on_timeout"), WaitForStepAction::readSignal),
                new YamlStepKind("wait_for_reply", Set.of("on_timeout"), WaitForStepAction::readReply),
                new YamlStepKind("approval", ApprovalStepAction::read),
                new YamlStepKind("workflow", Set.of("key", "input"), ChildWorkflowStepAction::read),
                new YamlStepKind("tx", RetryOptions.FIELDS, TxStepAction::read),
                new YamlStepKind("http", YamlEffectOptionsReader.fieldsWith("lookup"), HttpStepReader::read),
                new YamlStepKind(
                        "send", YamlEffectOptionsReader.fieldsWith("overrides"), YamlNotificationStepReader::readSend),
                new YamlStepKind(
                        "notify",
                        YamlEffectOptionsReader.fieldsWith("overrides", "to", "data", "emit"),
                        YamlNotificationStepReader::readNotify),
                new YamlStepKind(
                        "digest", YamlEffectOptionsReader.fieldsWith("overrides", "send"), DigestStepAction::read),
                new YamlStepKind("user_profile", RecordedStepAction::readUserProfile),
                new YamlStepKind("subscription", RecordedStepAction::readSubscription),
                new YamlStepKind("cohort", RecordedStepAction::readCohort),
                new YamlStepKind("template_search", RecordedStepAction::readTemplateSearch),
                new YamlStepKind("java", YamlEffectOptionsReader.fieldsWith("input"), JavaStepAction::read));

        static List<String> words() {
            return ALL.stream().map(YamlStepKind::name).toList();
        }
    }

    /** The step kinds, each with its further fields. */
    public static Map<String, Set<String>> kinds() {
        return StepKindRegistry.ALL.stream()
                .collect(Collectors.toUnmodifiableMap(YamlStepKind::name, YamlStepKind::fields));
    }

    public static Set<String> commonFields() {
        return KNOWN;
    }

    /** The ids of all steps that a file's output may read. */
    public static Stream<String> visibleIds(YamlMapReader workflow) {
        return workflow.get("steps") instanceof YamlNode.ListNode(YamlSourceRange _, List<YamlNode> items)
                ? items.stream().flatMap(YamlStepIdScanner::visibleIds)
                : Stream.empty();
    }
}
