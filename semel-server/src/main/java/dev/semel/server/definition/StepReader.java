package dev.semel.server.definition;

import dev.cel.common.types.CelKind;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The `steps` section. */
final class StepReader {
    static final int MOST_STEPS = 500;
    static final Pattern ID = Pattern.compile("[a-z][a-z0-9_]{0,63}");

    /** Names that the expression language keeps for itself: `steps.in` could never be read. */
    private static final Set<String> RESERVED = Set.of("in", "true", "false", "null");

    private static final Set<String> KINDS_NOT_YET = Set.of(
            "event",
            "http",
            "workflow",
            "choose",
            "wait_for",
            "sleep",
            "wait_for_reply",
            "digest",
            "send",
            "user_profile",
            "subscription",
            "cohort",
            "tx",
            "approval",
            "for_each",
            "parallel",
            "java");

    /** Fields that go with effects; named one by one, since a protection silently ignored would be a lie. */
    private static final Set<String> FIELDS_NOT_YET = Set.of(
            "idempotent",
            "protect",
            "because",
            "provider_window",
            "retry",
            "timeout",
            "on_error",
            "already_done_status",
            "on_timeout",
            "on_doubt",
            "lookup",
            "reviewers",
            "as",
            "item_key");

    /** Fields that belong to a kind; said only where the kind itself has not been refused already. */
    private static final Set<String> PARTS_OF_A_KIND = Set.of("to", "data", "key", "input", "steps", "else", "channel");

    private static final Set<String> KNOWN = Set.of("id", "when", "set");

    private final Source source;
    private final Problems problems;
    private final TemplateCompiler templates;

    StepReader(Source source, Problems problems, TemplateCompiler templates) {
        this.source = source;
        this.problems = problems;
        this.templates = templates;
    }

    /** @param when the condition; null for a step that always runs */
    record Step(String id, @Nullable Template when, Template set) {}

    List<Step> read(Fields workflow) {
        if (workflow.get("steps") == null) {
            problems.add(
                    workflow.spotOf("workflow"),
                    "the workflow has no steps; the smallest is '- {id: note, set: {ok: true}}'.");
            return List.of();
        }
        List<Tree> items = workflow.items("steps");
        if (workflow.get("steps") instanceof Tree.Items && (items.isEmpty() || items.size() > MOST_STEPS)) {
            problems.add(workflow.spotOfValue("steps"), "a workflow must have 1 to %d steps.".formatted(MOST_STEPS));
            return List.of();
        }
        Set<String> ids = ids(items).keySet();
        List<Step> steps = new ArrayList<>();
        Set<String> earlier = new LinkedHashSet<>();
        for (Tree item : items) {
            Fields fields = Fields.of(item, "a step", problems);
            if (fields == null) {
                continue;
            }
            Set<String> later = new LinkedHashSet<>(ids);
            later.removeAll(earlier);
            Step step = step(fields, new Site(Site.Kind.STEP, earlier, later));
            if (step != null) {
                steps.add(step);
            }
            // Also a step that was refused counts as known, so that one mistake is not reported again at every use.
            if (fields.get("id") instanceof Tree.Scalar(Spot _, var id) && id.isString()) {
                earlier.add(id.stringValue());
            }
        }
        return steps;
    }

    /** Every id with the line of its first use. */
    private Map<String, Integer> ids(List<Tree> items) {
        Map<String, Integer> lines = new LinkedHashMap<>();
        for (Tree item : items) {
            if (item instanceof Tree.Members members
                    && members.get("id") instanceof Tree.Scalar(Spot spot, var id)
                    && id.isString()) {
                int line = source.line(spot.start());
                Integer first = lines.putIfAbsent(id.stringValue(), line);
                if (first != null) {
                    problems.add(
                            spot,
                            "the step id '%s' stands in line %d and in line %d; ids must differ."
                                    .formatted(Texts.shortened(id.stringValue()), first, line));
                }
            }
        }
        return lines;
    }

    private @Nullable Step step(Fields fields, Site site) {
        boolean kindRefused = refuseKinds(fields);
        Set<String> ignored = new LinkedHashSet<>(KNOWN);
        ignored.addAll(KINDS_NOT_YET);
        Set<String> notYet = new LinkedHashSet<>(FIELDS_NOT_YET);
        (kindRefused ? ignored : notYet).addAll(PARTS_OF_A_KIND);
        fields.allow(ignored, notYet);
        String id = id(fields);
        Template when = when(fields, site);
        Tree set = fields.get("set");
        if (set == null) {
            if (!kindRefused) {
                problems.add(fields.spotOf("id"), "the step says nothing to do; this version has the kind 'set'.");
            }
            return null;
        }
        Template template = templates.compile(set, site);
        return id == null ? null : new Step(id, when, template);
    }

    private boolean refuseKinds(Fields fields) {
        boolean refused = false;
        for (var member : fields.map().members().entrySet()) {
            if (KINDS_NOT_YET.contains(member.getKey())) {
                problems.add(
                        member.getValue().name(),
                        "step kind %s is not available yet in this version.".formatted(member.getKey()),
                        "not yet",
                        "This version has the step kind 'set'.");
                refused = true;
            }
        }
        return refused;
    }

    private @Nullable String id(Fields fields) {
        if (fields.get("id") == null) {
            problems.add(
                    fields.spot().narrowed(fields.spot().start(), fields.spot().start()), "the step has no id.");
            return null;
        }
        String id = fields.text("id");
        if (id != null && (!ID.matcher(id).matches() || RESERVED.contains(id))) {
            problems.add(
                    fields.spotOfValue("id"),
                    "a step id is a lower-case letter and up to 63 letters, digits or _%s."
                            .formatted(RESERVED.contains(id) ? ", and '" + id + "' is reserved" : ""));
            return null;
        }
        return id;
    }

    private @Nullable Template when(Fields fields, Site site) {
        Tree tree = fields.get("when");
        if (tree == null) {
            return null;
        }
        Template when = templates.compile(tree, site, Set.of(CelKind.BOOL));
        boolean whole = when instanceof Template.Whole;
        boolean constant = when instanceof Template.Literal(var value) && value.isBoolean();
        boolean refused = tree instanceof Tree.Scalar(Spot _, var value)
                && value.asString().startsWith("${");
        if (!whole && !constant && !refused) {
            problems.add(tree.spot(), "when must be one expression that gives true or false: ${ … }.");
        }
        return when;
    }
}
