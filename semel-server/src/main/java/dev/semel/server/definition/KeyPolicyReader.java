package dev.semel.server.definition;

import dev.cel.common.types.CelKind;
import dev.semel.admission.FieldPath;
import dev.semel.admission.Fingerprint;
import dev.semel.admission.FingerprintField;
import dev.semel.admission.KeyPolicy;
import dev.semel.workflow.DuplicatePayload;
import dev.semel.admission.OnFailed;
import dev.semel.workflow.OnMismatch;
import dev.semel.server.expressions.DurationFormat;
import dev.semel.server.expressions.Expression;
import dev.semel.server.expressions.EvaluationException;
import dev.semel.server.expressions.ValuePath;
import dev.semel.server.expressions.YamlMapReader;
import dev.semel.server.expressions.FileErrorCollector;
import dev.semel.server.expressions.ResultSizeLimit;
import dev.semel.server.expressions.ExpressionScope;
import dev.semel.server.expressions.ExpressionContext;
import dev.semel.server.expressions.SourceRange;
import dev.semel.server.expressions.ValueTemplate;
import dev.semel.server.expressions.ValueTemplateCompiler;
import dev.semel.server.expressions.NameSuggestions;
import dev.semel.server.expressions.YamlNode;
import dev.semel.admission.KeyScope;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** Reads the `idempotency` section of a workflow file. */
final class KeyPolicyReader {
    private static final Set<String> KNOWN = Set.of(
            "window",
            "scope",
            "fingerprint",
            "fingerprint_ignore",
            "on_mismatch",
            "duplicate_payload",
            "on_failed",
            "hold_while_running",
            "object",
            "worth");
    static final int MOST_FIELDS = 64;

    private final FileErrorCollector problems;
    private final ValueTemplateCompiler templates;
    private final List<ValuePath> reads = new ArrayList<>();

    KeyPolicyReader(FileErrorCollector problems, ValueTemplateCompiler templates) {
        this.problems = problems;
        this.templates = templates;
    }

    /**
     * The parsed `idempotency` section.
     *
     * @param object template of the trigger's business object, for users; `worth` is that of its amount
     */
    record IdempotencySection(
            KeyPolicy policy,
            @Nullable ValueTemplate object,
            @Nullable ValueTemplate worth,
            List<ValuePath> reads) {}

    IdempotencySection read(@Nullable YamlNode section, boolean requireKey) {
        YamlMapReader fields = YamlMapReader.of(section, "idempotency", problems);
        if (fields == null) {
            return new IdempotencySection(
                    policy(KeyPolicy.DEFAULT.window(), List.of(), List.of(), requireKey), null, null, List.of());
        }
        fields.allowOnly(KNOWN, Set.of());
        List<FingerprintField> fingerprint = fingerprint(fields);
        List<String> ignore = ignore(fields);
        boolean both = fields.get("fingerprint") != null && fields.get("fingerprint_ignore") != null;
        if (both) {
            problems.add(fields.nameRange("fingerprint_ignore"), "set either fingerprint or fingerprint_ignore, not both.");
        }
        KeyPolicy base = policy(window(fields), fingerprint, both ? List.of() : ignore, requireKey);
        KeyPolicy policy = new KeyPolicy(
                base.window(),
                fields.choice("scope", KeyScope.class).orElse(base.scope()),
                base.fingerprint(),
                base.fingerprintIgnore(),
                onMismatch(fields, base),
                fields.choice("duplicate_payload", DuplicatePayload.class).orElse(base.duplicatePayload()),
                fields.choice("on_failed", OnFailed.class).orElse(base.onFailed()),
                fields.flag("hold_while_running", base.holdWhileRunning()),
                requireKey);
        return new IdempotencySection(policy, label(fields, "object"), label(fields, "worth"), List.copyOf(reads));
    }

    private static KeyPolicy policy(
            Duration window, List<FingerprintField> fingerprint, List<String> ignore, boolean requireKey) {
        KeyPolicy base = KeyPolicy.DEFAULT;
        return new KeyPolicy(
                window,
                base.scope(),
                fingerprint,
                ignore,
                base.onMismatch(),
                base.duplicatePayload(),
                base.onFailed(),
                base.holdWhileRunning(),
                requireKey);
    }

    /** With a declared fingerprint the default is to reject a changed payload; without one the key alone decides. */
    private OnMismatch onMismatch(YamlMapReader fields, KeyPolicy base) {
        YamlNode written = fields.get("on_mismatch");
        if (written instanceof YamlNode.ScalarNode(SourceRange _, var value)
                && value.isString()
                && value.stringValue().equals("return_original")) {
            problems.add(written.range(), "on_mismatch must be one of reject, replay, distinct. Did you mean 'replay'?");
            return OnMismatch.REPLAY;
        }
        return fields.choice("on_mismatch", OnMismatch.class)
                .orElse(base.declaresFingerprint() ? OnMismatch.REJECT : OnMismatch.REPLAY);
    }

    private Duration window(YamlMapReader fields) {
        String text = fields.text("window");
        if (text == null) {
            return KeyPolicy.DEFAULT.window();
        }
        SourceRange spot = fields.valueRange("window");
        Optional<Duration> window = DurationFormat.parse(text);
        if (window.isEmpty()) {
            problems.add(spot, "idempotency.window must be a duration such as 30s, 15m, 24h or 7d.");
        } else if (window.get().compareTo(KeyPolicy.SHORTEST_WINDOW) < 0
                || window.get().compareTo(KeyPolicy.LONGEST_WINDOW) > 0) {
            problems.add(spot, "idempotency.window must be between 1s and 365d.");
            return KeyPolicy.DEFAULT.window();
        }
        return window.orElse(KeyPolicy.DEFAULT.window());
    }

    private List<FingerprintField> fingerprint(YamlMapReader fields) {
        List<FingerprintField> found = new ArrayList<>();
        Set<String> names = new HashSet<>();
        for (YamlNode entry : limited(fields, "fingerprint")) {
            FingerprintField field = field(entry);
            if (field != null && !names.add(field.name())) {
                problems.add(entry.range(), "'%s' appears twice in fingerprint; remove one.".formatted(NameSuggestions.shorten(field.name())));
            } else if (field != null) {
                found.add(field);
            }
        }
        return found;
    }

    /** An empty list would silently mean "all of data", which is the default. */
    private List<YamlNode> limited(YamlMapReader fields, String name) {
        List<YamlNode> items = fields.items(name);
        YamlNode list = fields.get(name);
        if (list instanceof YamlNode.ListNode && (items.isEmpty() || items.size() > MOST_FIELDS)) {
            problems.add(list.range(), "%s must have 1 to %d entries.".formatted(name, MOST_FIELDS));
        }
        return items.stream().limit(MOST_FIELDS).toList();
    }

    private @Nullable FingerprintField field(YamlNode entry) {
        if (entry instanceof YamlNode.MapNode(SourceRange _, var members) && members.size() == 1) {
            var member = members.entrySet().iterator().next();
            return computed(member.getKey(), member.getValue());
        }
        if (entry instanceof YamlNode.ScalarNode(SourceRange spot, JsonNode value) && value.isString()) {
            FieldPath path = path(spot, value.stringValue());
            return path == null ? null : path.toField();
        }
        problems.add(
                entry.range(),
                "a fingerprint entry must be a path such as payment_id or lines[].sku, or 'name: ${ expression }'.");
        return null;
    }

    private @Nullable FieldPath path(SourceRange spot, String text) {
        if (text.contains("${")) {
            problems.add(spot, "an expression in fingerprint needs a name; write 'name: ${ expression }'.");
            return null;
        }
        try {
            FieldPath path = FieldPath.parse(text);
            reads.add(new ValuePath("input", List.of(text.split("[.\\[]", 2)[0])));
            return path;
        } catch (IllegalArgumentException e) {
            problems.add(spot, e.getMessage() + ".");
            return null;
        }
    }

    private @Nullable FingerprintField computed(String name, YamlNode.MapEntry member) {
        ValueTemplate template = templates.compile(member.value(), ExpressionContext.of(ExpressionContext.ContextKind.FINGERPRINT));
        if (name.isBlank()) {
            problems.add(member.nameRange(), "a fingerprint entry must have a name.");
            return null;
        }
        List<ValuePath> read = template.expressions()
                .flatMap(expression -> expression.readPaths().stream())
                .distinct()
                .toList();
        reads.addAll(read);
        if (!(template instanceof ValueTemplate.SingleExpression) && !(template instanceof ValueTemplate.InterpolatedText)) {
            boolean refused = member.value() instanceof YamlNode.ScalarNode(SourceRange _, var value)
                    && value.asString().contains("${");
            if (!refused) {
                problems.add(
                        member.value().range(),
                        "the fingerprint entry '%s' must be an expression: ${ … }.".formatted(NameSuggestions.shorten(name)));
            }
            return null;
        }
        return new FingerprintField(name, data -> Fingerprint.normalise(value(template, read, data)));
    }

    /**
     * Admission needs a value for every payload, also if the expression fails. Then the raw values of the paths that it
     * reads are used: equal payloads stay equal, and different invalid ones stay different.
     */
    private static JsonNode value(ValueTemplate template, List<ValuePath> reads, JsonNode data) {
        try {
            return template.evaluate(ExpressionScope.ofInput(data), new ResultSizeLimit());
        } catch (EvaluationException failure) {
            var raw = JsonNodeFactory.instance.arrayNode();
            for (ValuePath path : reads) {
                JsonNode found = Expression.valueAt(data, path.parts());
                var present = raw.addArray();
                if (found != null) {
                    present.add(found);
                }
            }
            return JsonNodeFactory.instance.objectNode().set("unevaluated", raw);
        }
    }

    private List<String> ignore(YamlMapReader fields) {
        List<String> paths = new ArrayList<>();
        for (YamlNode entry : limited(fields, "fingerprint_ignore")) {
            if (entry instanceof YamlNode.ScalarNode(SourceRange spot, JsonNode value) && value.isString()) {
                FieldPath path = path(spot, value.stringValue());
                if (path != null) {
                    paths.add(path.toString());
                }
            } else {
                problems.add(entry.range(), "an entry of fingerprint_ignore must be a path such as sent_at or lines[].note.");
            }
        }
        return paths;
    }

    private @Nullable ValueTemplate label(YamlMapReader fields, String name) {
        YamlNode tree = fields.get(name);
        if (tree == null) {
            return null;
        }
        ValueTemplate template =
                templates.compile(tree, ExpressionContext.of(ExpressionContext.ContextKind.LABEL), Set.of(CelKind.STRING, CelKind.INT, CelKind.DOUBLE));
        if (!(tree instanceof YamlNode.ScalarNode)) {
            problems.add(
                    tree.range(), "idempotency.%s must be text or an expression, not %s.".formatted(name, tree.typeName()));
        }
        template.expressions().forEach(expression -> reads.addAll(expression.readPaths()));
        return template;
    }
}
