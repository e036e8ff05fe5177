package dev.semel.server.files.definition;

import dev.semel.idempotency.FailedRunDuplicateRequestPolicy;
import dev.semel.idempotency.FingerprintField;
import dev.semel.idempotency.IdempotencyKeyScope;
import dev.semel.idempotency.JsonFieldPath;
import dev.semel.idempotency.KeyPolicy;
import dev.semel.idempotency.RequestFingerprint;
import dev.semel.policy.SameKeyDifferentPayloadPolicy;
import dev.semel.policy.SamePayloadDifferentKeyPolicy;
import dev.semel.server.files.expressions.ExpressionCompileContext;
import dev.semel.server.files.expressions.ExpressionEvaluationException;
import dev.semel.server.files.expressions.ExpressionFieldPath;
import dev.semel.server.files.expressions.ExpressionScope;
import dev.semel.server.files.expressions.StepResultSizeLimit;
import dev.semel.server.files.expressions.WorkflowExpression;
import dev.semel.server.files.expressions.YamlValueTemplate;
import dev.semel.server.files.expressions.YamlValueTemplateCompiler;
import dev.semel.server.files.yaml.DurationFormat;
import dev.semel.server.files.yaml.MisspelledNameSuggester;
import dev.semel.server.files.yaml.YamlFileErrorCollector;
import dev.semel.server.files.yaml.YamlMapReader;
import dev.semel.server.files.yaml.YamlNode;
import dev.semel.server.files.yaml.YamlSourceRange;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

final class YamlIdempotencyPolicyReader {
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

    private final YamlFileErrorCollector problems;
    private final YamlValueTemplateCompiler templates;
    private final List<ExpressionFieldPath> reads = new ArrayList<>();
    private final List<ExpressionFieldPath> fingerprintReads = new ArrayList<>();

    YamlIdempotencyPolicyReader(YamlFileErrorCollector problems, YamlValueTemplateCompiler templates) {
        this.problems = problems;
        this.templates = templates;
    }

    /**
     * @param object template of the trigger's business object, for users; `worth` is that of its amount
     * @param fingerprintReads the paths that expressions of the fingerprint read
     */
    record IdempotencySection(
            KeyPolicy policy,
            @Nullable YamlValueTemplate object,
            @Nullable YamlValueTemplate worth,
            List<ExpressionFieldPath> reads,
            List<ExpressionFieldPath> fingerprintReads) {}

    IdempotencySection read(@Nullable YamlNode section, boolean requireKey) {
        YamlMapReader declared = YamlMapReader.of(section, "idempotency", problems);
        YamlMapReader fields = declared == null ? YamlMapReader.empty("idempotency", problems) : declared;
        fields.allowOnly(KNOWN);
        List<FingerprintField> fingerprint = fingerprint(fields);
        List<String> ignore = ignore(fields);
        if (fields.get("fingerprint") != null && fields.get("fingerprint_ignore") != null) {
            problems.add(
                    fields.nameRange("fingerprint_ignore"), "set either fingerprint or fingerprint_ignore, not both.");
            ignore = List.of();
        }
        KeyPolicy base = KeyPolicy.DEFAULT;
        KeyPolicy policy = new KeyPolicy(
                window(fields),
                fields.choice("scope", IdempotencyKeyScope.class).orElse(base.scope()),
                fingerprint,
                ignore,
                onMismatch(fields, !fingerprint.isEmpty() || !ignore.isEmpty()),
                fields.choice("duplicate_payload", SamePayloadDifferentKeyPolicy.class)
                        .orElse(base.duplicatePayload()),
                fields.choice("on_failed", FailedRunDuplicateRequestPolicy.class)
                        .orElse(base.onFailed()),
                fields.flag("hold_while_running", base.holdWhileRunning()),
                requireKey);
        return new IdempotencySection(
                policy,
                label(fields, "object"),
                label(fields, "worth"),
                List.copyOf(reads),
                List.copyOf(fingerprintReads));
    }

    /** With a declared fingerprint the default is to reject a changed payload; without one the key alone decides. */
    private SameKeyDifferentPayloadPolicy onMismatch(YamlMapReader fields, boolean declared) {
        YamlNode written = fields.get("on_mismatch");
        if (written instanceof YamlNode.ScalarNode(YamlSourceRange _, var value)
                && value.isString()
                && value.stringValue().equals("return_original")) {
            problems.add(
                    written.range(), "on_mismatch must be one of reject, replay, distinct. Did you mean 'replay'?");
            return SameKeyDifferentPayloadPolicy.REPLAY;
        }
        return fields.choice("on_mismatch", SameKeyDifferentPayloadPolicy.class)
                .orElse(declared ? SameKeyDifferentPayloadPolicy.REJECT : SameKeyDifferentPayloadPolicy.REPLAY);
    }

    private Duration window(YamlMapReader fields) {
        String text = fields.text("window");
        if (text == null) {
            return KeyPolicy.DEFAULT.window();
        }
        YamlSourceRange spot = fields.valueRange("window");
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
                problems.add(
                        entry.range(),
                        "'%s' appears twice in fingerprint; remove one."
                                .formatted(MisspelledNameSuggester.shorten(field.name())));
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
        if (entry instanceof YamlNode.MapNode(YamlSourceRange _, var members) && members.size() == 1) {
            var member = members.entrySet().iterator().next();
            return computed(member.getKey(), member.getValue());
        }
        if (entry instanceof YamlNode.ScalarNode(YamlSourceRange spot, JsonNode value) && value.isString()) {
            JsonFieldPath path = path(spot, value.stringValue());
            return path == null ? null : path.toField();
        }
        problems.add(
                entry.range(),
                "a fingerprint entry must be a path such as payment_id or lines[].sku, or 'name: ${ expression }'.");
        return null;
    }

    private @Nullable JsonFieldPath path(YamlSourceRange spot, String text) {
        if (text.contains("${")) {
            problems.add(spot, "an expression in fingerprint needs a name; write 'name: ${ expression }'.");
            return null;
        }
        try {
            JsonFieldPath path = JsonFieldPath.parse(text);
            reads.add(new ExpressionFieldPath("input", List.of(text.split("[.\\[]", 2)[0])));
            return path;
        } catch (IllegalArgumentException e) {
            problems.add(spot, e.getMessage() + ".");
            return null;
        }
    }

    private @Nullable FingerprintField computed(String name, YamlNode.MapEntry member) {
        YamlValueTemplate template = templates.compile(
                member.value(), ExpressionCompileContext.of(ExpressionCompileContext.ContextKind.FINGERPRINT));
        if (name.isBlank()) {
            problems.add(member.nameRange(), "a fingerprint entry must have a name.");
            return null;
        }
        List<ExpressionFieldPath> read = template.readPaths().distinct().toList();
        reads.addAll(read);
        fingerprintReads.addAll(read);
        if (!(template instanceof YamlValueTemplate.SingleExpression)
                && !(template instanceof YamlValueTemplate.InterpolatedText)) {
            boolean hasInvalidExpression = member.value() instanceof YamlNode.ScalarNode(YamlSourceRange _, var value)
                    && value.asString().contains("${");
            if (!hasInvalidExpression) {
                problems.add(
                        member.value().range(),
                        "the fingerprint entry '%s' must be an expression: ${ … }."
                                .formatted(MisspelledNameSuggester.shorten(name)));
            }
            return null;
        }
        return new FingerprintField(name, data -> RequestFingerprint.normalise(value(template, read, data)));
    }

    /**
     * Admission needs a value for every payload, also if the expression fails. Then the raw values of the paths that it
     * reads are used: equal payloads stay equal, and different invalid ones stay different.
     */
    private static JsonNode value(YamlValueTemplate template, List<ExpressionFieldPath> reads, JsonNode data) {
        try {
            return template.evaluateIdentifier(ExpressionScope.ofInput(data), new StepResultSizeLimit());
        } catch (ExpressionEvaluationException failure) {
            var raw = JsonNodeFactory.instance.arrayNode();
            for (ExpressionFieldPath path : reads) {
                JsonNode found = WorkflowExpression.valueAt(data, path.parts());
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
            if (entry instanceof YamlNode.ScalarNode(YamlSourceRange spot, JsonNode value) && value.isString()) {
                JsonFieldPath path = path(spot, value.stringValue());
                if (path != null) {
                    paths.add(path.toString());
                }
            } else {
                problems.add(
                        entry.range(),
                        "an entry of fingerprint_ignore must be a path such as sent_at or lines[].note.");
            }
        }
        return paths;
    }

    private @Nullable YamlValueTemplate label(YamlMapReader fields, String name) {
        YamlNode tree = fields.get(name);
        if (tree == null) {
            return null;
        }
        YamlValueTemplate template = templates.compile(
                tree,
                ExpressionCompileContext.of(ExpressionCompileContext.ContextKind.LABEL),
                YamlValueTemplateCompiler.IDENTIFIER);
        if (!(tree instanceof YamlNode.ScalarNode)) {
            problems.add(
                    tree.range(),
                    "idempotency.%s must be text or an expression, not %s.".formatted(name, tree.typeName()));
        }
        template.readPaths().forEach(reads::add);
        return template;
    }
}
