package dev.semel.server.definition;

import dev.cel.common.types.CelKind;
import dev.semel.key.FieldPath;
import dev.semel.key.Fingerprint;
import dev.semel.key.FingerprintField;
import dev.semel.key.KeyPolicy;
import dev.semel.key.KeyPolicy.DuplicatePayload;
import dev.semel.key.KeyPolicy.OnFailed;
import dev.semel.key.KeyPolicy.OnMismatch;
import dev.semel.server.language.Durations;
import dev.semel.server.language.Expression;
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
import dev.semel.server.language.Texts;
import dev.semel.server.language.Tree;
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
final class PolicyReader {
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

    private final Problems problems;
    private final TemplateCompiler templates;
    private final List<FieldRef> reads = new ArrayList<>();

    PolicyReader(Problems problems, TemplateCompiler templates) {
        this.problems = problems;
        this.templates = templates;
    }

    /**
     * The parsed `idempotency` section.
     *
     * @param object template of the trigger's business object, for users; `worth` is that of its amount
     */
    record Rules(
            KeyPolicy policy,
            @Nullable Template object,
            @Nullable Template worth,
            List<FieldRef> reads) {}

    Rules read(@Nullable Tree section, boolean requireKey) {
        Fields fields = Fields.of(section, "idempotency", problems);
        if (fields == null) {
            return new Rules(
                    policy(KeyPolicy.DEFAULT.window(), List.of(), List.of(), requireKey), null, null, List.of());
        }
        fields.allow(KNOWN, Set.of());
        List<FingerprintField> fingerprint = fingerprint(fields);
        List<String> ignore = ignore(fields);
        boolean both = fields.get("fingerprint") != null && fields.get("fingerprint_ignore") != null;
        if (both) {
            problems.add(fields.spotOf("fingerprint_ignore"), "set either fingerprint or fingerprint_ignore, not both.");
        }
        KeyPolicy base = policy(window(fields), fingerprint, both ? List.of() : ignore, requireKey);
        KeyPolicy policy = new KeyPolicy(
                base.window(),
                fields.choice("scope", KeyPolicy.Scope.class).orElse(base.scope()),
                base.fingerprint(),
                base.fingerprintIgnore(),
                onMismatch(fields, base),
                fields.choice("duplicate_payload", DuplicatePayload.class).orElse(base.duplicatePayload()),
                fields.choice("on_failed", OnFailed.class).orElse(base.onFailed()),
                fields.flag("hold_while_running", base.holdWhileRunning()),
                requireKey);
        return new Rules(policy, label(fields, "object"), label(fields, "worth"), List.copyOf(reads));
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
    private OnMismatch onMismatch(Fields fields, KeyPolicy base) {
        Tree written = fields.get("on_mismatch");
        if (written instanceof Tree.Scalar(Spot _, var value)
                && value.isString()
                && value.stringValue().equals("return_original")) {
            problems.add(written.spot(), "on_mismatch must be one of reject, replay, distinct. Did you mean 'replay'?");
            return OnMismatch.REPLAY;
        }
        return fields.choice("on_mismatch", OnMismatch.class)
                .orElse(base.declared() ? OnMismatch.REJECT : OnMismatch.REPLAY);
    }

    private Duration window(Fields fields) {
        String text = fields.text("window");
        if (text == null) {
            return KeyPolicy.DEFAULT.window();
        }
        Spot spot = fields.spotOfValue("window");
        Optional<Duration> window = Durations.parse(text);
        if (window.isEmpty()) {
            problems.add(spot, "idempotency.window must be a duration such as 30s, 15m, 24h or 7d.");
        } else if (window.get().compareTo(KeyPolicy.SHORTEST_WINDOW) < 0
                || window.get().compareTo(KeyPolicy.LONGEST_WINDOW) > 0) {
            problems.add(spot, "idempotency.window must be between 1s and 365d.");
            return KeyPolicy.DEFAULT.window();
        }
        return window.orElse(KeyPolicy.DEFAULT.window());
    }

    private List<FingerprintField> fingerprint(Fields fields) {
        List<FingerprintField> found = new ArrayList<>();
        Set<String> names = new HashSet<>();
        for (Tree entry : limited(fields, "fingerprint")) {
            FingerprintField field = field(entry);
            if (field != null && !names.add(field.name())) {
                problems.add(entry.spot(), "'%s' appears twice in fingerprint; remove one.".formatted(Texts.shortened(field.name())));
            } else if (field != null) {
                found.add(field);
            }
        }
        return found;
    }

    /** An empty list would silently mean "all of data", which is the default. */
    private List<Tree> limited(Fields fields, String name) {
        List<Tree> items = fields.items(name);
        Tree list = fields.get(name);
        if (list instanceof Tree.Items && (items.isEmpty() || items.size() > MOST_FIELDS)) {
            problems.add(list.spot(), "%s must have 1 to %d entries.".formatted(name, MOST_FIELDS));
        }
        return items.stream().limit(MOST_FIELDS).toList();
    }

    private @Nullable FingerprintField field(Tree entry) {
        if (entry instanceof Tree.Members(Spot _, var members) && members.size() == 1) {
            var member = members.entrySet().iterator().next();
            return computed(member.getKey(), member.getValue());
        }
        if (entry instanceof Tree.Scalar(Spot spot, JsonNode value) && value.isString()) {
            FieldPath path = path(spot, value.stringValue());
            return path == null ? null : path.toField();
        }
        problems.add(
                entry.spot(),
                "a fingerprint entry must be a path such as payment_id or lines[].sku, or 'name: ${ expression }'.");
        return null;
    }

    private @Nullable FieldPath path(Spot spot, String text) {
        if (text.contains("${")) {
            problems.add(spot, "an expression in fingerprint needs a name; write 'name: ${ expression }'.");
            return null;
        }
        try {
            FieldPath path = FieldPath.parse(text);
            reads.add(new FieldRef("input", List.of(text.split("[.\\[]", 2)[0])));
            return path;
        } catch (IllegalArgumentException e) {
            problems.add(spot, e.getMessage() + ".");
            return null;
        }
    }

    private @Nullable FingerprintField computed(String name, Tree.Member member) {
        Template template = templates.compile(member.value(), Site.of(Site.Kind.FINGERPRINT));
        if (name.isBlank()) {
            problems.add(member.name(), "a fingerprint entry must have a name.");
            return null;
        }
        List<FieldRef> read = template.expressions()
                .flatMap(expression -> expression.reads().stream())
                .distinct()
                .toList();
        reads.addAll(read);
        if (!(template instanceof Template.Whole) && !(template instanceof Template.Text)) {
            boolean refused = member.value() instanceof Tree.Scalar(Spot _, var value)
                    && value.asString().contains("${");
            if (!refused) {
                problems.add(
                        member.value().spot(),
                        "the fingerprint entry '%s' must be an expression: ${ … }.".formatted(Texts.shortened(name)));
            }
            return null;
        }
        return new FingerprintField(name, data -> Fingerprint.normalised(value(template, read, data)));
    }

    /**
     * Admission needs a value for every payload, also if the expression fails. Then the raw values of the paths that it
     * reads are used: equal payloads stay equal, and different invalid ones stay different.
     */
    private static JsonNode value(Template template, List<FieldRef> reads, JsonNode data) {
        try {
            return template.fill(Scope.ofInput(data), new ResultSize());
        } catch (Failure failure) {
            var raw = JsonNodeFactory.instance.arrayNode();
            for (FieldRef path : reads) {
                JsonNode found = Expression.inside(data, path.parts());
                var present = raw.addArray();
                if (found != null) {
                    present.add(found);
                }
            }
            return JsonNodeFactory.instance.objectNode().set("unevaluated", raw);
        }
    }

    private List<String> ignore(Fields fields) {
        List<String> paths = new ArrayList<>();
        for (Tree entry : limited(fields, "fingerprint_ignore")) {
            if (entry instanceof Tree.Scalar(Spot spot, JsonNode value) && value.isString()) {
                FieldPath path = path(spot, value.stringValue());
                if (path != null) {
                    paths.add(path.toString());
                }
            } else {
                problems.add(entry.spot(), "an entry of fingerprint_ignore must be a path such as sent_at or lines[].note.");
            }
        }
        return paths;
    }

    private @Nullable Template label(Fields fields, String name) {
        Tree tree = fields.get(name);
        if (tree == null) {
            return null;
        }
        Template template =
                templates.compile(tree, Site.of(Site.Kind.LABEL), Set.of(CelKind.STRING, CelKind.INT, CelKind.DOUBLE));
        if (!(tree instanceof Tree.Scalar)) {
            problems.add(
                    tree.spot(), "idempotency.%s must be text or an expression, not %s.".formatted(name, tree.kind()));
        }
        template.expressions().forEach(expression -> reads.addAll(expression.reads()));
        return template;
    }
}
