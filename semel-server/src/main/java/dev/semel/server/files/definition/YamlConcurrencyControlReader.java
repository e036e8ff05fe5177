package dev.semel.server.files.definition;

import dev.semel.definition.ConcurrencyControl;
import dev.semel.server.files.expressions.ExpressionCompileContext;
import dev.semel.server.files.expressions.ExpressionEvaluationException;
import dev.semel.server.files.expressions.ExpressionFieldPath;
import dev.semel.server.files.expressions.ExpressionScope;
import dev.semel.server.files.expressions.StepResultSizeLimit;
import dev.semel.server.files.expressions.YamlValueTemplate;
import dev.semel.server.files.expressions.YamlValueTemplateCompiler;
import dev.semel.server.files.yaml.YamlFileErrorCollector;
import dev.semel.server.files.yaml.YamlMapReader;
import dev.semel.server.files.yaml.YamlNode;
import dev.semel.server.files.yaml.YamlSourceRange;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Reads `serial_by`, `max_concurrent`, `debounce` and `rate_limit`: what a run may wait for before it starts. */
final class YamlConcurrencyControlReader {
    static final Set<String> FIELDS = Set.of("serial_by", "max_concurrent", "debounce", "rate_limit");

    private static final int MOST_AT_ONCE = 100_000;

    private final YamlFileErrorCollector problems;
    private final YamlValueTemplateCompiler templates;
    private final List<ExpressionFieldPath> reads = new ArrayList<>();

    YamlConcurrencyControlReader(YamlFileErrorCollector problems, YamlValueTemplateCompiler templates) {
        this.problems = problems;
        this.templates = templates;
    }

    ConcurrencyControl read(YamlMapReader workflow) {
        return new ConcurrencyControl(
                key(workflow, "serial_by", "serial_by"),
                workflow.number("max_concurrent", 1, MOST_AT_ONCE),
                debounce(workflow),
                rateLimit(workflow));
    }

    List<ExpressionFieldPath> reads() {
        return List.copyOf(reads);
    }

    private ConcurrencyControl.@Nullable Debounce debounce(YamlMapReader workflow) {
        YamlMapReader fields = YamlMapReader.of(workflow.get("debounce"), "debounce", problems);
        if (fields == null) {
            return null;
        }
        fields.allowOnly(Set.of("key", "quiet", "at_most"));
        ConcurrencyControl.ConcurrencyKey key = key(fields, "key", "debounce");
        Duration quiet = needed(fields, "quiet");
        Duration longest = needed(fields, "at_most");
        if (quiet != null && longest != null && longest.compareTo(quiet) < 0) {
            problems.add(fields.valueRange("at_most"), "debounce.at_most must not be shorter than debounce.quiet.");
            return null;
        }
        missing(fields, "key", "debounce.key");
        return key == null || quiet == null || longest == null
                ? null
                : new ConcurrencyControl.Debounce(key, quiet, longest);
    }

    private ConcurrencyControl.@Nullable RateLimit rateLimit(YamlMapReader workflow) {
        YamlMapReader fields = YamlMapReader.of(workflow.get("rate_limit"), "rate_limit", problems);
        if (fields == null) {
            return null;
        }
        fields.allowOnly(Set.of("key", "count", "per"));
        ConcurrencyControl.ConcurrencyKey key = key(fields, "key", "rate_limit");
        Integer count = fields.number("count", 1, MOST_AT_ONCE);
        Duration per = needed(fields, "per");
        missing(fields, "key", "rate_limit.key");
        missing(fields, "count", "rate_limit.count");
        return key == null || count == null || per == null ? null : new ConcurrencyControl.RateLimit(key, count, per);
    }

    private @Nullable Duration needed(YamlMapReader fields, String name) {
        missing(fields, name, name);
        return fields.duration(name);
    }

    private void missing(YamlMapReader fields, String name, String shown) {
        if (fields.get(name) == null) {
            problems.add(
                    fields.range().narrow(fields.range().start(), fields.range().start()), shown + " is missing.");
        }
    }

    private ConcurrencyControl.@Nullable ConcurrencyKey key(YamlMapReader fields, String name, String gate) {
        YamlNode tree = fields.get(name);
        if (tree == null) {
            return null;
        }
        int before = problems.count();
        YamlValueTemplate key = templates.compile(
                tree,
                ExpressionCompileContext.of(ExpressionCompileContext.ContextKind.GATE),
                YamlValueTemplateCompiler.IDENTIFIER);
        if (problems.count() > before) {
            return null;
        }
        if (key instanceof YamlValueTemplate.Literal) {
            problems.add(
                    tree.range(),
                    "this key is the same for every trigger; use an id from the input, e.g. ${ input.customer_id }.");
            return null;
        }
        key.readPaths().forEach(reads::add);
        String written = tree instanceof YamlNode.ScalarNode(YamlSourceRange _, var text) ? text.asString() : name;
        return new ConcurrencyControl.ConcurrencyKey(gate, written, data -> text(key, data));
    }

    /**
     * A text or number that is computed from the input, as text; null if there is none. The server rejects a trigger
     * without the key of a concurrency rule, because all such triggers would share one queue.
     */
    static @Nullable String text(YamlValueTemplate key, JsonNode data) {
        try {
            JsonNode value = key.evaluateIdentifier(ExpressionScope.ofInput(data), new StepResultSizeLimit());
            return value.isString() ? value.stringValue() : null;
        } catch (ExpressionEvaluationException failure) {
            return null;
        }
    }
}
