package dev.semel.server.steps;

import dev.semel.effect.Protection;
import dev.semel.server.language.Fields;
import dev.semel.server.language.Site;
import dev.semel.server.language.Template;
import dev.semel.server.outbound.Header;
import dev.semel.server.outbound.Request;
import dev.semel.workflow.EffectPlan;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Step kind `http: {method, url, …}`: sends one HTTP request. All methods but GET and HEAD need a protection. */
final class HttpKind implements Kind {
    private static final String KEY = "Idempotency-Key";
    private static final Set<String> HONOURED =
            Set.of("provider_key", "lookup", "ask", "at_most_once", "repeatable", "none");

    @Override
    public String word() {
        return "http";
    }

    @Override
    public Set<String> fields() {
        Set<String> fields = new TreeSet<>(EffectReader.FIELDS);
        fields.add("lookup");
        return fields;
    }

    @Override
    public @Nullable Act read(Draft draft) {
        Fields section = draft.section("http");
        if (section == null) {
            return null;
        }
        Set<String> known = new TreeSet<>(HttpCallReader.FIELDS);
        known.addAll(Set.of("result", "idempotency_header"));
        section.allow(known, Set.of());
        HttpCallReader reader = new HttpCallReader(draft, section);
        String method = reader.method();
        String keyHeader = keyHeader(draft, section);
        EffectTerms terms = terms(draft, method);
        HttpCall call = reader.read(keyHeader, draft.fields().duration("timeout"));
        Template result = draft.template(section, "result", Site.Kind.RESPONSE);
        HttpStep.Lookup lookup = lookup(draft, call, terms);
        if (terms == null || call == null) {
            return null;
        }
        boolean keyed = !Request.onlyLooks(method) && !keyHeader.isEmpty();
        if (!keyed && terms.protection() instanceof Protection.ProviderKey) {
            draft.problems()
                    .add(
                            draft.fields().spotOfValue("protect"),
                            "protect: provider_key needs the key in the request, but idempotency_header: none"
                                    + " removes it.",
                            "sends no key",
                            "Remove idempotency_header: none, or choose another protection.");
            return null;
        }
        boolean again = keyed && terms.protection() instanceof Protection.ProviderKey
                || terms.protection() instanceof Protection.Repeatable;
        return new HttpStep(
                call.with(call.manner().repeatable(again)), terms.untimed(), result, keyed ? keyHeader : null, lookup);
    }

    private static @Nullable EffectTerms terms(Draft draft, String method) {
        EffectPlan.Does does = method.equals("POST") ? EffectPlan.Does.CREATE : EffectPlan.Does.UPDATE;
        String harmless = Request.onlyLooks(method) ? method + " only reads" : null;
        return new EffectReader(method, does, HONOURED, harmless).read(draft);
    }

    /** The name of the key header; empty for none. */
    private static String keyHeader(Draft draft, Fields section) {
        String name = section.text("idempotency_header");
        if (name == null) {
            return KEY;
        }
        if (name.equals("none")) {
            return "";
        }
        if (!Header.isName(name) || Header.isFraming(name) || name.equalsIgnoreCase("Authorization")) {
            draft.wrong(section.spotOfValue("idempotency_header"), "this header cannot carry the effect key; use another name, e.g. Idempotency-Key.");
            return KEY;
        }
        return name;
    }

    /** Reads `lookup: {http, found, result}`: the request that queries the provider for the outcome. */
    private static HttpStep.@Nullable Lookup lookup(Draft draft, @Nullable HttpCall call, @Nullable EffectTerms terms) {
        boolean wanted = terms != null && terms.protection() instanceof Protection.Lookup;
        Fields lookup = draft.section("lookup");
        if (lookup == null) {
            if (wanted && draft.fields().get("lookup") == null) {
                draft.problems()
                        .add(
                                draft.fields().spotOfValue("protect"),
                                "protect: lookup needs a lookup section, which queries the provider for the outcome.",
                                "no lookup",
                                "Add lookup: {http: {url: …}, found: ${ … }, result: ${ … }}.");
            }
            return null;
        }
        if (terms != null && !wanted) {
            draft.wrong(draft.fields().spotOf("lookup"), "lookup needs protect: lookup; add it or remove lookup.");
        }
        lookup.allow(Set.of("http", "found", "result"), Set.of());
        Template found = StepReader.condition(
                draft.tools(), lookup, "found", draft.site().as(Site.Kind.RESPONSE));
        Template result = draft.template(lookup, "result", Site.Kind.RESPONSE);
        Fields section = Fields.of(lookup.get("http"), "lookup.http", draft.problems());
        if (section == null) {
            draft.wrong(lookup.spotOf("http"), "lookup.http is missing; set the request that queries the provider.");
            return null;
        }
        section.allow(HttpCallReader.FIELDS, Set.of());
        HttpCallReader reader = new HttpCallReader(draft, section);
        if (!Request.onlyLooks(reader.method())) {
            draft.wrong(section.spotOfValue("method"), "lookup.http.method must be GET or HEAD, because a lookup only reads.");
            return null;
        }
        HttpCall asked = reader.read("", draft.fields().duration("timeout"));
        return asked == null ? null : new HttpStep.Lookup(borrowing(asked, section, call), found, result);
    }

    /** A lookup on the same server uses the credential of the request. Default; the file can set another. */
    private static HttpCall borrowing(HttpCall asked, Fields section, @Nullable HttpCall call) {
        return section.get("auth") == null
                        && call != null
                        && call.address().origin().sameOrigin(asked.address().origin())
                ? asked.with(call.credential())
                : asked;
    }
}
