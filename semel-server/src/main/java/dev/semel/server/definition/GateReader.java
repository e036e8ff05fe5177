package dev.semel.server.definition;

import dev.cel.common.types.CelKind;
import dev.semel.server.language.Failure;
import dev.semel.server.language.FieldRef;
import dev.semel.server.language.Fields;
import dev.semel.server.language.Problems;
import dev.semel.server.language.ResultSize;
import dev.semel.server.language.Scope;
import dev.semel.server.language.Site;
import dev.semel.server.language.Spot;
import dev.semel.server.language.Template;
import dev.semel.server.language.TemplateCompiler;
import dev.semel.server.language.Tree;
import dev.semel.workflow.Gates;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Reads `serial_by`, `max_concurrent`, `debounce` and `rate_limit`: what a run may wait for before it starts. */
final class GateReader {
    static final Set<String> FIELDS = Set.of("serial_by", "max_concurrent", "debounce", "rate_limit");

    private static final int MOST_AT_ONCE = 100_000;

    private final Problems problems;
    private final TemplateCompiler templates;
    private final List<FieldRef> reads = new ArrayList<>();

    GateReader(Problems problems, TemplateCompiler templates) {
        this.problems = problems;
        this.templates = templates;
    }

    Gates read(Fields workflow) {
        return new Gates(
                key(workflow, "serial_by", "serial_by"),
                workflow.number("max_concurrent", 1, MOST_AT_ONCE),
                debounce(workflow),
                rateLimit(workflow));
    }

    List<FieldRef> reads() {
        return List.copyOf(reads);
    }

    private Gates.@Nullable Debounce debounce(Fields workflow) {
        Fields fields = Fields.of(workflow.get("debounce"), "debounce", problems);
        if (fields == null) {
            return null;
        }
        fields.allow(Set.of("key", "quiet", "at_most"), Set.of());
        Gates.GateKey key = key(fields, "key", "debounce");
        Duration quiet = needed(fields, "quiet");
        Duration longest = needed(fields, "at_most");
        if (quiet != null && longest != null && longest.compareTo(quiet) < 0) {
            problems.add(fields.spotOfValue("at_most"), "debounce.at_most must not be shorter than debounce.quiet.");
            return null;
        }
        missing(fields, "key", "debounce.key");
        return key == null || quiet == null || longest == null ? null : new Gates.Debounce(key, quiet, longest);
    }

    private Gates.@Nullable RateLimit rateLimit(Fields workflow) {
        Fields fields = Fields.of(workflow.get("rate_limit"), "rate_limit", problems);
        if (fields == null) {
            return null;
        }
        fields.allow(Set.of("key", "count", "per"), Set.of());
        Gates.GateKey key = key(fields, "key", "rate_limit");
        Integer count = fields.number("count", 1, MOST_AT_ONCE);
        Duration per = needed(fields, "per");
        missing(fields, "key", "rate_limit.key");
        missing(fields, "count", "rate_limit.count");
        return key == null || count == null || per == null ? null : new Gates.RateLimit(key, count, per);
    }

    private @Nullable Duration needed(Fields fields, String name) {
        missing(fields, name, name);
        return fields.duration(name);
    }

    private void missing(Fields fields, String name, String shown) {
        if (fields.get(name) == null) {
            problems.add(
                    fields.spot().narrowed(fields.spot().start(), fields.spot().start()), shown + " is missing.");
        }
    }

    private Gates.@Nullable GateKey key(Fields fields, String name, String gate) {
        Tree tree = fields.get(name);
        if (tree == null) {
            return null;
        }
        int before = problems.count();
        Template key = templates.compile(tree, Site.of(Site.Kind.GATE), Set.of(CelKind.STRING, CelKind.INT));
        if (problems.count() > before) {
            return null;
        }
        if (key instanceof Template.Literal) {
            problems.add(
                    tree.spot(),
                    "this key is the same for every trigger; use an id from the input, e.g. ${ input.customer_id }.");
            return null;
        }
        key.expressions().forEach(expression -> reads.addAll(expression.reads()));
        String written = tree instanceof Tree.Scalar(Spot _, var text) ? text.asString() : name;
        return new Gates.GateKey(gate, written, data -> text(key, data));
    }

    /**
     * Null if there is no key: the server then rejects the trigger, because all such triggers would share one queue.
     */
    private static @Nullable String text(Template key, JsonNode data) {
        try {
            JsonNode value = key.fill(Scope.ofInput(data), new ResultSize());
            return value.isString() || value.isNumber() ? value.asString() : null;
        } catch (Failure failure) {
            return null;
        }
    }
}
