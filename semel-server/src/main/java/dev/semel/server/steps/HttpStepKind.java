package dev.semel.server.steps;

import dev.semel.effect.Protection;
import dev.semel.server.expressions.YamlMapReader;
import dev.semel.server.expressions.ExpressionContext;
import dev.semel.server.expressions.ValueTemplate;
import dev.semel.server.outbound.RequestHeader;
import dev.semel.server.outbound.OutboundRequest;
import dev.semel.workflow.EffectAction;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Step kind `http: {method, url, …}`: sends one HTTP request. All methods but GET and HEAD need a protection. */
final class HttpStepKind implements StepKind {
    private static final String KEY = "Idempotency-Key";
    private static final Set<String> HONOURED =
            Set.of("provider_key", "lookup", "ask", "at_most_once", "repeatable", "none");

    @Override
    public String name() {
        return "http";
    }

    @Override
    public Set<String> fields() {
        Set<String> fields = new TreeSet<>(EffectOptionsReader.FIELDS);
        fields.add("lookup");
        return fields;
    }

    @Override
    public @Nullable YamlStepAction read(StepReadContext draft) {
        YamlMapReader section = draft.section("http");
        if (section == null) {
            return null;
        }
        Set<String> known = new TreeSet<>(HttpRequestTemplateReader.FIELDS);
        known.addAll(Set.of("result", "idempotency_header"));
        section.allowOnly(known, Set.of());
        HttpRequestTemplateReader reader = new HttpRequestTemplateReader(draft, section);
        String method = reader.method();
        String keyHeader = keyHeader(draft, section);
        EffectOptions terms = terms(draft, method);
        HttpRequestTemplate call = reader.read(keyHeader, draft.fields().duration("timeout"));
        ValueTemplate result = draft.template(section, "result", ExpressionContext.ContextKind.RESPONSE);
        HttpStepAction.LookupRequest lookup = lookup(draft, call, terms);
        if (terms == null || call == null) {
            return null;
        }
        boolean keyed = !OutboundRequest.isReadOnly(method) && !keyHeader.isEmpty();
        if (!keyed && terms.protection() instanceof Protection.ProviderKey) {
            draft.problems()
                    .add(
                            draft.fields().valueRange("protect"),
                            "protect: provider_key needs the key in the request, but idempotency_header: none"
                                    + " removes it.",
                            "sends no key",
                            "Remove idempotency_header: none, or choose another protection.");
            return null;
        }
        boolean again = keyed && terms.protection() instanceof Protection.ProviderKey
                || terms.protection() instanceof Protection.Repeatable;
        return new HttpStepAction(
                call.with(call.sendOptions().repeatable(again)), terms.withoutTimeout(), result, keyed ? keyHeader : null, lookup);
    }

    private static @Nullable EffectOptions terms(StepReadContext draft, String method) {
        EffectAction does = method.equals("POST") ? EffectAction.CREATE : EffectAction.UPDATE;
        String harmless = OutboundRequest.isReadOnly(method) ? method + " only reads" : null;
        return new EffectOptionsReader(method, does, HONOURED, harmless).read(draft);
    }

    /** The name of the key header; empty for none. */
    private static String keyHeader(StepReadContext draft, YamlMapReader section) {
        String name = section.text("idempotency_header");
        if (name == null) {
            return KEY;
        }
        if (name.equals("none")) {
            return "";
        }
        if (!RequestHeader.isName(name) || RequestHeader.isFraming(name) || name.equalsIgnoreCase("Authorization")) {
            draft.addError(section.valueRange("idempotency_header"), "this header cannot carry the effect key; use another name, e.g. Idempotency-Key.");
            return KEY;
        }
        return name;
    }

    /** Reads `lookup: {http, found, result}`: the request that queries the provider for the outcome. */
    private static HttpStepAction.@Nullable LookupRequest lookup(StepReadContext draft, @Nullable HttpRequestTemplate call, @Nullable EffectOptions terms) {
        boolean wanted = terms != null && terms.protection() instanceof Protection.Lookup;
        YamlMapReader lookup = draft.section("lookup");
        if (lookup == null) {
            if (wanted && draft.fields().get("lookup") == null) {
                draft.problems()
                        .add(
                                draft.fields().valueRange("protect"),
                                "protect: lookup needs a lookup section, which queries the provider for the outcome.",
                                "no lookup",
                                "Add lookup: {http: {url: …}, found: ${ … }, result: ${ … }}.");
            }
            return null;
        }
        if (terms != null && !wanted) {
            draft.addError(draft.fields().nameRange("lookup"), "lookup needs protect: lookup; add it or remove lookup.");
        }
        lookup.allowOnly(Set.of("http", "found", "result"), Set.of());
        ValueTemplate found = StepReader.condition(
                draft.tools(), lookup, "found", draft.context().withKind(ExpressionContext.ContextKind.RESPONSE));
        ValueTemplate result = draft.template(lookup, "result", ExpressionContext.ContextKind.RESPONSE);
        YamlMapReader section = YamlMapReader.of(lookup.get("http"), "lookup.http", draft.problems());
        if (section == null) {
            draft.addError(lookup.nameRange("http"), "lookup.http is missing; set the request that queries the provider.");
            return null;
        }
        section.allowOnly(HttpRequestTemplateReader.FIELDS, Set.of());
        HttpRequestTemplateReader reader = new HttpRequestTemplateReader(draft, section);
        if (!OutboundRequest.isReadOnly(reader.method())) {
            draft.addError(section.valueRange("method"), "lookup.http.method must be GET or HEAD, because a lookup only reads.");
            return null;
        }
        HttpRequestTemplate asked = reader.read("", draft.fields().duration("timeout"));
        return asked == null ? null : new HttpStepAction.LookupRequest(borrowing(asked, section, call), found, result);
    }

    /** A lookup on the same server uses the credential of the request. Default; the file can set another. */
    private static HttpRequestTemplate borrowing(HttpRequestTemplate asked, YamlMapReader section, @Nullable HttpRequestTemplate call) {
        return section.get("auth") == null
                        && call != null
                        && call.address().origin().sameOrigin(asked.address().origin())
                ? asked.with(call.credential())
                : asked;
    }
}
