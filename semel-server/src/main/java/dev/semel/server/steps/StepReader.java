package dev.semel.server.steps;

import dev.cel.common.types.CelKind;
import dev.semel.server.language.Fields;
import dev.semel.server.language.Problems;
import dev.semel.server.language.Site;
import dev.semel.server.language.Source;
import dev.semel.server.language.Spot;
import dev.semel.server.language.Template;
import dev.semel.server.language.TemplateCompiler;
import dev.semel.server.language.Texts;
import dev.semel.server.language.Tree;
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

    private final Source source;
    private final Problems problems;
    private final Draft.Tools tools;
    private Set<String> ids = Set.of();
    private int depth;

    public StepReader(Source source, Problems problems, TemplateCompiler templates, List<String> warnings) {
        this.source = source;
        this.problems = problems;
        this.tools = new Draft.Tools(problems, templates, warnings, this::inner);
    }

    public List<FileStep> read(Fields workflow) {
        Tree steps = workflow.get("steps");
        if (steps == null) {
            problems.add(
                    workflow.spotOf("workflow"),
                    "the workflow has no steps; the smallest step is '- {id: note, set: {ok: true}}'.");
            return List.of();
        }
        List<Tree> items = workflow.items("steps");
        if (steps instanceof Tree.Items) {
            List<Tree> all = items.stream().flatMap(StepIds::all).toList();
            if (all.isEmpty() || all.size() > MOST_STEPS) {
                problems.add(
                        workflow.spotOfValue("steps"), "a workflow must have 1 to %d steps.".formatted(MOST_STEPS));
                return List.of();
            }
            ids = distinct(all);
        }
        return read(items, Site.of(Site.Kind.STEP));
    }

    /** Reads the steps of a branch or loop. */
    private List<FileStep> inner(Tree list, Site at) {
        if (!(list instanceof Tree.Items(Spot _, List<Tree> items)) || items.isEmpty()) {
            problems.add(list.spot(), "steps must be a list of at least one step.");
            return List.of();
        }
        if (depth >= DEEPEST) {
            problems.add(list.spot(), "steps may have at most %d nested levels.".formatted(DEEPEST));
            return List.of();
        }
        depth++;
        try {
            return read(items, at);
        } finally {
            depth--;
        }
    }

    private List<FileStep> read(List<Tree> items, Site around) {
        List<FileStep> steps = new ArrayList<>();
        Set<String> earlier = new LinkedHashSet<>(around.earlier());
        for (Tree item : items) {
            Fields fields = Fields.of(item, "a step", problems);
            if (fields == null) {
                continue;
            }
            FileStep step = step(fields, new Site(Site.Kind.STEP, earlier, ids, around.items()));
            if (step != null) {
                steps.add(step);
            }
            // An invalid step counts as known, so that one error is not reported again at every use.
            StepIds.visible(item).forEach(earlier::add);
        }
        return steps;
    }

    /** All step ids of the file; a duplicate is reported with both lines. */
    private Set<String> distinct(List<Tree> all) {
        Map<String, Integer> lines = new LinkedHashMap<>();
        for (Tree item : all) {
            if (item instanceof Tree.Members members
                    && members.get("id") instanceof Tree.Scalar(Spot spot, var id)
                    && id.isString()) {
                int line = source.line(spot.start());
                Integer first = lines.putIfAbsent(id.stringValue(), line);
                if (first != null) {
                    problems.add(
                            spot,
                            "the step id '%s' is used in line %d and in line %d; step ids must be unique."
                                    .formatted(Texts.shortened(id.stringValue()), first, line));
                }
            }
        }
        return lines.keySet();
    }

    private @Nullable FileStep step(Fields fields, Site site) {
        Kind kind = kind(fields);
        if (kind != null) {
            Set<String> known = new TreeSet<>(KNOWN);
            known.add(kind.word());
            known.addAll(kind.fields());
            fields.allow(known, Set.of());
        }
        String id = id(fields);
        Template when = when(fields, site);
        FileStep.OnError onError =
                fields.choice("on_error", FileStep.OnError.class).orElse(FileStep.OnError.FAIL);
        if (kind == null) {
            return null;
        }
        if (onError == FileStep.OnError.CONTINUE && AT_ONCE.contains(kind.word())) {
            problems.add(
                    fields.spotOf("on_error"),
                    "on_error is not allowed here: if several nested steps fail at once, the reported error would be"
                            + " random.",
                    "not allowed here",
                    "Set on_error: continue on the nested steps that may fail.");
        }
        Act act = kind.read(new Draft(id == null ? "" : id, fields, site, tools));
        return id == null || act == null ? null : new FileStep(id, kind.word(), when, onError, act, Set.of()).checked();
    }

    /** The kind of a step: exactly one field must name a kind, without fields that belong to another kind. */
    private @Nullable Kind kind(Fields fields) {
        List<Kind> named = Kinds.ALL.stream()
                .filter(kind -> fields.get(kind.word()) != null)
                .toList();
        List<Kind> own = named.stream()
                .filter(kind -> named.stream().noneMatch(other -> other.fields().contains(kind.word())))
                .toList();
        if (own.size() == 1) {
            return own.getFirst();
        }
        if (own.isEmpty()) {
            if (unknown(fields)) {
                return null;
            }
            problems.add(
                    fields.spotOf("id"),
                    "the step has no kind.",
                    "no kind",
                    "Add one of: %s.".formatted(String.join(", ", Kinds.words())));
            return null;
        }
        problems.add(
                fields.spotOf(own.get(1).word()),
                "a step must have exactly one kind; this one has %s."
                        .formatted(String.join(
                                " and ", own.stream().map(Kind::word).toList())));
        return null;
    }

    /** A misspelt kind appears as an unknown field. */
    private boolean unknown(Fields fields) {
        int before = problems.count();
        Set<String> known = new TreeSet<>(KNOWN);
        known.addAll(Kinds.words());
        Kinds.ALL.forEach(kind -> known.addAll(kind.fields()));
        fields.allow(known, Set.of());
        return problems.count() > before;
    }

    private @Nullable String id(Fields fields) {
        if (fields.get("id") == null) {
            problems.add(
                    fields.spot().narrowed(fields.spot().start(), fields.spot().start()), "the step has no id; add id: name.");
            return null;
        }
        String id = fields.text("id");
        if (id != null && (!ID.matcher(id).matches() || RESERVED.contains(id))) {
            problems.add(
                    fields.spotOfValue("id"),
                    "a step id must be a lower-case letter and up to 63 lower-case letters, digits or _%s."
                            .formatted(RESERVED.contains(id) ? ", and '" + id + "' is reserved" : ""));
            return null;
        }
        return id;
    }

    private @Nullable Template when(Fields fields, Site site) {
        return condition(tools, fields, "when", site);
    }

    /** A condition: one boolean expression, or true or false. */
    static @Nullable Template condition(Draft.Tools tools, Fields fields, String name, Site site) {
        Tree tree = fields.get(name);
        if (tree == null) {
            return null;
        }
        Template when = tools.templates().compile(tree, site, Set.of(CelKind.BOOL));
        boolean whole = when instanceof Template.Whole;
        boolean constant = when instanceof Template.Literal(var value) && value.isBoolean();
        boolean refused = tree instanceof Tree.Scalar(Spot _, var value)
                && value.asString().startsWith("${");
        if (!whole && !constant && !refused) {
            tools.problems()
                    .add(tree.spot(), "%s must be one expression that returns true or false: ${ … }.".formatted(name));
        }
        return when;
    }

    /** All step kinds, in the order in which messages list them. */
    private static final class Kinds {
        static final List<Kind> ALL = List.of(
                new SetKind(),
                new ChooseKind(),
                new ForEachKind(),
                new ParallelKind(),
                new SleepKind(),
                new WaitForKind(false),
                new WaitForKind(true),
                new ApprovalKind(),
                new WorkflowKind(),
                new TxKind(),
                new HttpKind(),
                new SendKind(),
                new EventKind(),
                new DigestKind(),
                new PeopleKind.Profile(),
                new PeopleKind.Subscription(),
                new PeopleKind.Cohort(),
                new PeopleKind.TemplateSearch(),
                new JavaKind());

        static List<String> words() {
            return ALL.stream().map(Kind::word).toList();
        }
    }

    /** The step kinds, each with its further fields. */
    public static Map<String, Set<String>> kinds() {
        return Kinds.ALL.stream().collect(Collectors.toUnmodifiableMap(Kind::word, Kind::fields));
    }

    /** The fields that every step may have. */
    public static Set<String> common() {
        return KNOWN;
    }

    /** The ids of all steps that a file's output may read. */
    public static Stream<String> visible(Fields workflow) {
        return workflow.get("steps") instanceof Tree.Items(Spot _, List<Tree> items)
                ? items.stream().flatMap(StepIds::visible)
                : Stream.empty();
    }
}
