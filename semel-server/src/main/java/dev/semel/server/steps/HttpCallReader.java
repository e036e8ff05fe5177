package dev.semel.server.steps;

import dev.semel.server.language.Fields;
import dev.semel.server.language.Site;
import dev.semel.server.language.Spot;
import dev.semel.server.language.Template;
import dev.semel.server.language.Tree;
import dev.semel.server.outbound.Header;
import dev.semel.server.outbound.Request;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reads the `http:` section of a step: method, url, headers, query, body, auth and limits. */
record HttpCallReader(Draft draft, Fields section) {
    static final Set<String> FIELDS =
            Set.of("method", "url", "headers", "query", "body", "form", "auth", "max_response", "redirects");

    private static final Pattern SIZE = Pattern.compile("([1-9][0-9]{0,8})(KiB|MiB)?");

    /** The method of the request. Default: GET. */
    String method() {
        String method = section.text("method");
        if (method == null) {
            return "GET";
        }
        if (!Request.METHODS.contains(method)) {
            draft.wrong(
                    section.spotOfValue("method"),
                    "http.method must be one of %s.".formatted(String.join(", ", new TreeSet<>(Request.METHODS))));
            return "GET";
        }
        return method;
    }

    /**
     * @param keyHeader header of the idempotency key, which the file cannot set itself
     * @param timeout null for the default
     */
    @Nullable
    HttpCall read(String keyHeader, @Nullable Duration timeout) {
        int before = draft.problems().count();
        String method = method();
        Address address = Address.read(draft, section);
        Map<String, Template> headers = headers(keyHeader);
        Map<String, Template> query = map("query", Site.Kind.STEP);
        HttpCall.Content content = content(method, headers);
        Credential credential = Credential.read(draft, section);
        Request.Manner manner = manner(method, timeout);
        return draft.problems().count() > before || address == null
                ? null
                : new HttpCall(
                        method,
                        address,
                        query,
                        headers,
                        content,
                        credential == null ? Credential.NONE : credential,
                        manner);
    }

    private Map<String, Template> map(String name, Site.Kind kind) {
        Map<String, Template> templates = new LinkedHashMap<>();
        Fields fields = Fields.of(section.get(name), "http." + name, draft.problems());
        if (fields != null) {
            Site site = draft.site().as(kind);
            fields.map()
                    .members()
                    .forEach((key, member) ->
                            templates.put(key, draft.tools().templates().compile(member.value(), site)));
        }
        return templates;
    }

    /** Header names come only from the file, so that data cannot add or replace a header. */
    private Map<String, Template> headers(String keyHeader) {
        Map<String, Template> headers = map("headers", Site.Kind.CREDENTIAL);
        if (section.get("headers") instanceof Tree.Members members) {
            Set<String> seen = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
            members.members().forEach((name, member) -> {
                String refusal = !Header.isName(name)
                        ? "this is not a valid header name."
                        : Header.isFraming(name)
                                ? "remove this header: the server sets it itself."
                                : name.equalsIgnoreCase("Authorization")
                                        ? "move credentials to auth; for a custom scheme use auth: {header:"
                                                + " {name: Authorization, value: …}}."
                                        : name.equalsIgnoreCase(keyHeader)
                                                ? "this header carries the effect key; set idempotency_header"
                                                        + " to another name or to none."
                                                : seen.add(name) ? null : "this header appears twice; remove one.";
                if (refusal != null) {
                    draft.wrong(member.name(), refusal);
                }
            });
        }
        return headers;
    }

    private HttpCall.Content content(String method, Map<String, Template> headers) {
        boolean both = section.get("body") != null && section.get("form") != null;
        boolean any = section.get("body") != null || section.get("form") != null;
        if (both) {
            draft.wrong(section.spotOf("form"), "set either body or form, not both.");
        } else if (any && Request.onlyLooks(method)) {
            draft.wrong(
                    section.spotOf(section.get("body") != null ? "body" : "form"),
                    "%s has no body; set method: POST, or use query.".formatted(method));
        }
        if (section.get("form") != null) {
            return new HttpCall.Content.Fields(map("form", Site.Kind.STEP));
        }
        Template body = draft.template(section, "body");
        return body == null ? new HttpCall.Content.None() : new HttpCall.Content.Whole(body, otherType(headers));
    }

    /** A Content-Type in the file other than JSON: the body is then text and sent unchanged. */
    private static @Nullable String otherType(Map<String, Template> headers) {
        for (var header : headers.entrySet()) {
            if (header.getKey().equalsIgnoreCase("Content-Type")) {
                return header.getValue() instanceof Template.Literal(var value)
                                && value.asString().toLowerCase(Locale.ROOT).contains("json")
                        ? null
                        : header.getKey();
            }
        }
        return null;
    }

    private Request.Manner manner(String method, @Nullable Duration timeout) {
        Request.Manner manner = Request.Manner.USUAL.repeatable(Request.onlyLooks(method));
        Integer redirects = section.number("redirects", 0, Request.Manner.MOST_REDIRECTS);
        if (redirects != null && redirects > 0 && !Request.onlyLooks(method)) {
            draft.wrong(
                    section.spotOfValue("redirects"),
                    "only GET and HEAD can follow redirects; %s might take effect twice.".formatted(method));
        } else if (redirects != null) {
            manner = manner.redirects(redirects);
        }
        Integer bytes = size();
        if (bytes != null) {
            manner = manner.longestAnswer(bytes);
        }
        if (timeout != null && timeout.compareTo(Request.Manner.LONGEST_TIMEOUT) > 0) {
            draft.wrong(draft.fields().spotOfValue("timeout"), "timeout of an http step must be at most 10m.");
        } else if (timeout != null) {
            manner = manner.timeout(timeout);
        }
        return manner;
    }

    private @Nullable Integer size() {
        Tree tree = section.get("max_response");
        if (tree == null) {
            return null;
        }
        Matcher size = SIZE.matcher(tree instanceof Tree.Scalar(Spot _, var value) ? value.asString() : "");
        if (size.matches()) {
            long unit = size.group(2) == null ? 1 : size.group(2).equals("KiB") ? 1024 : 1024 * 1024;
            long bytes = Long.parseLong(size.group(1)) * unit;
            if (bytes <= Request.Manner.MOST_BYTES) {
                return (int) bytes;
            }
        }
        draft.wrong(tree.spot(), "max_response must be a number of bytes or a size such as 64KiB or 5MiB; at most 10MiB.");
        return null;
    }
}
