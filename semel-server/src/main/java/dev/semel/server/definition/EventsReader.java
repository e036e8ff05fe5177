package dev.semel.server.definition;

import dev.cel.common.types.CelKind;
import dev.semel.server.language.Failure;
import dev.semel.server.language.Fields;
import dev.semel.server.language.Problems;
import dev.semel.server.language.ResultSize;
import dev.semel.server.language.Scope;
import dev.semel.server.language.Site;
import dev.semel.server.language.Template;
import dev.semel.server.language.TemplateCompiler;
import dev.semel.server.language.Tree;
import dev.semel.workflow.Doors;
import dev.semel.workflow.Doors.Read;
import dev.semel.workflow.Doors.Subscription;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** Reads `trigger.events`: which events start a run, and with which input. */
final class EventsReader {
    private static final int MOST = 50;
    private static final Pattern TYPE = Pattern.compile("[\\x21-\\x7E&&[^*]]{0,254}\\*?");

    private final Problems problems;
    private final TemplateCompiler templates;

    EventsReader(Problems problems, TemplateCompiler templates) {
        this.problems = problems;
        this.templates = templates;
    }

    List<Subscription> read(Fields trigger) {
        Tree tree = trigger.get("events");
        if (tree == null) {
            return List.of();
        }
        if (!(tree instanceof Tree.Items items)) {
            problems.add(tree.spot(), "trigger.events must be a list of events, not %s.".formatted(tree.kind()));
            return List.of();
        }
        if (items.items().isEmpty() || items.items().size() > MOST) {
            problems.add(tree.spot(), "trigger.events must have 1 to %d entries.".formatted(MOST));
        }
        List<Subscription> all = new ArrayList<>();
        for (Tree item : items.items()) {
            Fields fields = Fields.of(item, "trigger.events[]", problems);
            Subscription one = fields == null ? null : one(fields);
            if (one != null) {
                all.add(one);
            }
        }
        return all;
    }

    private @Nullable Subscription one(Fields fields) {
        fields.allow(Set.of("type", "source", "when", "data"), Set.of());
        String type = fields.text("type");
        if (fields.get("type") == null) {
            problems.add(fields.spotOf("type"), "type is missing in an entry of trigger.events, e.g. type: payment.succeeded.");
        } else if (type != null && (type.isEmpty() || !TYPE.matcher(type).matches())) {
            problems.add(
                    fields.spotOfValue("type"),
                    "type must have 1 to 255 visible ASCII characters; * is allowed only at the end, as a wildcard.");
        }
        String source = fields.text("source");
        if (source != null && source.isBlank()) {
            problems.add(fields.spotOfValue("source"), "source is empty; remove it to accept events of any source.");
        }
        int before = problems.count();
        Template when = when(fields.get("when"));
        Tree mapping = fields.get("data");
        Template data = mapping == null ? null : templates.compile(mapping, Site.of(Site.Kind.EVENT));
        if (mapping instanceof Tree.Items) {
            problems.add(mapping.spot(), "data must be a map, because it is the input of the run.");
        }
        return problems.count() > before || type == null ? null : new Subscription(type, source, reading(when, data));
    }

    private @Nullable Template when(@Nullable Tree tree) {
        if (tree == null) {
            return null;
        }
        int before = problems.count();
        Template when = templates.compile(tree, Site.of(Site.Kind.EVENT), Set.of(CelKind.BOOL));
        boolean condition = when instanceof Template.Whole
                || (when instanceof Template.Literal(JsonNode value) && value.isBoolean());
        if (problems.count() == before && !condition) {
            problems.add(tree.spot(), "when must be true or false, e.g. ${ event.data.amount > 0 }.");
        }
        return when;
    }

    private static Doors.Reading reading(@Nullable Template when, @Nullable Template data) {
        return event -> {
            Scope scope = Scope.ofInput(JsonNodeFactory.instance.objectNode()).with("event", event);
            try {
                if (when != null) {
                    JsonNode fits = when.fill(scope, new ResultSize());
                    if (!fits.isBoolean()) {
                        return new Read.Failed("when returned neither true nor false");
                    }
                    if (!fits.booleanValue()) {
                        return new Read.Unfit();
                    }
                }
                return new Read.Input(data == null ? event.path("data") : data.fill(scope, new ResultSize()));
            } catch (Failure failure) {
                return new Read.Failed("its expressions could not be evaluated, because " + failure.because());
            }
        };
    }
}
