package dev.semel.server.files.steps.effects;

import dev.semel.effect.EffectDuplicateProtection;
import dev.semel.server.connectors.outbound.OutboundRequest;
import dev.semel.server.connectors.outbound.OutboundRequestHeader;
import dev.semel.server.files.expressions.ExpressionCompileContext.ContextKind;
import dev.semel.server.files.expressions.YamlValueTemplate;
import dev.semel.server.files.steps.CompiledYamlStepAction;
import dev.semel.server.files.steps.YamlEffectOptions;
import dev.semel.server.files.steps.YamlEffectOptionsReader;
import dev.semel.server.files.steps.YamlStepReadContext;
import dev.semel.server.files.yaml.YamlMapReader;
import dev.semel.workflow.EffectOperation;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Reads step kind `http: {method, url, …}`. All methods but GET and HEAD need a protection. */
public final class HttpStepReader {
    private static final String KEY = "Idempotency-Key";
    private static final Set<String> HONOURED =
            Set.of("provider_key", "lookup", "ask", "at_most_once", "repeatable", "none");

    private HttpStepReader() {}

    public static @Nullable CompiledYamlStepAction read(YamlStepReadContext draft) {
        YamlMapReader section = draft.section("http");
        if (section == null) {
            return null;
        }
        Set<String> known = new TreeSet<>(YamlHttpRequestReader.FIELDS);
        known.addAll(Set.of("result", "idempotency_header"));
        section.allowOnly(known);
        YamlHttpRequestReader reader = new YamlHttpRequestReader(draft, section);
        String method = reader.method();
        String keyHeader = keyHeader(draft, section);
        YamlEffectOptions terms = terms(draft, method);
        HttpRequestTemplate call = reader.read(keyHeader, draft.fields().duration("timeout"));
        YamlValueTemplate result = draft.template(section, "result", ContextKind.RESPONSE);
        HttpStepAction.LookupRequest lookup = lookup(draft, call, terms);
        if (terms == null || call == null) {
            return null;
        }
        boolean keyed = !OutboundRequest.isReadOnly(method) && !keyHeader.isEmpty();
        if (!keyed && terms.protection() instanceof EffectDuplicateProtection.ProviderKey) {
            draft.addError(
                    draft.fields().valueRange("protect"),
                    "`protect: provider_key` needs the key in the request, but `idempotency_header: none` removes the"
                            + " key.",
                    "sends no key",
                    "Remove idempotency_header: none, or choose another protection.");
            return null;
        }
        boolean again = keyed && terms.protection() instanceof EffectDuplicateProtection.ProviderKey
                || terms.protection() instanceof EffectDuplicateProtection.Repeatable;
        return new HttpStepAction(
                call.with(call.sendOptions().repeatable(again)),
                terms.withoutTimeout(),
                result,
                keyed ? keyHeader : null,
                lookup);
    }

    private static @Nullable YamlEffectOptions terms(YamlStepReadContext draft, String method) {
        EffectOperation does = method.equals("POST") ? EffectOperation.CREATE : EffectOperation.UPDATE;
        String harmless = OutboundRequest.isReadOnly(method) ? method + " only reads" : null;
        return new YamlEffectOptionsReader(method, does, HONOURED, harmless).read(draft);
    }

    /** The name of the key header; empty for none. */
    private static String keyHeader(YamlStepReadContext draft, YamlMapReader section) {
        String name = section.text("idempotency_header");
        if (name == null) {
            return KEY;
        }
        if (name.equals("none")) {
            return "";
        }
        if (!OutboundRequestHeader.isName(name)
                || OutboundRequestHeader.isSetByServer(name)
                || name.equalsIgnoreCase("Authorization")) {
            draft.addError(
                    section.valueRange("idempotency_header"),
                    "this header cannot carry the effect key; use another name, e.g. Idempotency-Key.");
            return KEY;
        }
        return name;
    }

    /** Reads `lookup: {http, found, result}`: the request that queries the provider for the outcome. */
    private static HttpStepAction.@Nullable LookupRequest lookup(
            YamlStepReadContext draft, @Nullable HttpRequestTemplate call, @Nullable YamlEffectOptions terms) {
        boolean wanted = terms != null && terms.protection() instanceof EffectDuplicateProtection.Lookup;
        YamlMapReader lookup = draft.section("lookup");
        if (lookup == null) {
            if (wanted && draft.fields().get("lookup") == null) {
                draft.addError(
                        draft.fields().valueRange("protect"),
                        "protect: lookup needs a lookup section, which queries the provider for the outcome.",
                        "no lookup",
                        "Add lookup: {http: {url: …}, found: ${ … }, result: ${ … }}.");
            }
            return null;
        }
        if (terms != null && !wanted) {
            draft.addError(
                    draft.fields().nameRange("lookup"),
                    "`lookup` needs `protect: lookup`; add that protection, or remove `lookup`.");
        }
        lookup.allowOnly(Set.of("http", "found", "result"));
        YamlValueTemplate found = YamlStepReadContext.condition(
                draft.tools(), lookup, "found", draft.context().withKind(ContextKind.RESPONSE));
        YamlValueTemplate result = draft.template(lookup, "result", ContextKind.RESPONSE);
        YamlMapReader section = YamlMapReader.of(lookup.get("http"), "lookup.http", draft.problems());
        if (section == null) {
            draft.addError(
                    lookup.nameRange("http"), "lookup.http is missing; set the request that queries the provider.");
            return null;
        }
        section.allowOnly(YamlHttpRequestReader.FIELDS);
        YamlHttpRequestReader reader = new YamlHttpRequestReader(draft, section);
        if (!OutboundRequest.isReadOnly(reader.method())) {
            draft.addError(
                    section.valueRange("method"),
                    "lookup.http.method must be GET or HEAD, because a lookup only reads.");
            return null;
        }
        HttpRequestTemplate httpRequestTemplate = reader.read("", draft.fields().duration("timeout"));
        return httpRequestTemplate == null
                ? null
                : new HttpStepAction.LookupRequest(borrowing(httpRequestTemplate, section, call), found, result);
    }

    /** A lookup on the same server uses the credential of the request. Default; the file can set another. */
    private static HttpRequestTemplate borrowing(
            HttpRequestTemplate httpRequestTemplate, YamlMapReader section, @Nullable HttpRequestTemplate call) {
        return section.get("auth") == null
                        && call != null
                        && call.address()
                                .origin()
                                .sameOrigin(httpRequestTemplate.address().origin())
                ? httpRequestTemplate.with(call.credential())
                : httpRequestTemplate;
    }
}
