package dev.semel.server.files.steps.effects;

import dev.semel.server.connectors.outbound.OutboundRequest;
import dev.semel.server.connectors.outbound.OutboundRequestHeader;
import dev.semel.server.files.expressions.ExpressionCompileContext.ContextKind;
import dev.semel.server.files.expressions.YamlValueTemplate;
import dev.semel.server.files.steps.YamlStepReadContext;
import dev.semel.server.files.yaml.YamlMapReader;
import dev.semel.server.files.yaml.YamlNode;
import dev.semel.server.files.yaml.YamlSourceRange;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

record YamlHttpRequestReader(YamlStepReadContext draft, YamlMapReader section) {
    static final Set<String> FIELDS =
            Set.of("method", "url", "headers", "query", "body", "form", "auth", "max_response", "redirects");

    private static final Pattern SIZE = Pattern.compile("([1-9][0-9]{0,8})(KiB|MiB)?");

    /** The method of the request. Default: GET. */
    String method() {
        String method = section.text("method");
        if (method == null) {
            return "GET";
        }
        if (!OutboundRequest.METHODS.contains(method)) {
            draft.addError(
                    section.valueRange("method"),
                    "http.method must be one of %s."
                            .formatted(String.join(", ", new TreeSet<>(OutboundRequest.METHODS))));
            return "GET";
        }
        return method;
    }

    /**
     * @param keyHeader header of the idempotency key, which the file cannot set itself
     * @param timeout null for the default
     */
    @Nullable
    HttpRequestTemplate read(String keyHeader, @Nullable Duration timeout) {
        int before = draft.problems().count();
        String method = method();
        UrlTemplate address = UrlTemplate.read(draft, section);
        Map<String, YamlValueTemplate> headers = headers(keyHeader);
        Map<String, YamlValueTemplate> query = draft.templates(section, "query", "http.query", ContextKind.STEP);
        HttpRequestTemplate.RequestBody content = content(method, headers);
        HttpCredentialTemplate credential = HttpCredentialTemplate.read(draft, section);
        OutboundRequest.SendOptions sendOptions = manner(method, timeout);
        return draft.problems().count() > before || address == null
                ? null
                : new HttpRequestTemplate(
                        method,
                        address,
                        query,
                        headers,
                        content,
                        credential == null ? HttpCredentialTemplate.NONE : credential,
                        sendOptions);
    }

    /** Header names come only from the file, so that data cannot add or replace a header. */
    private Map<String, YamlValueTemplate> headers(String keyHeader) {
        Map<String, YamlValueTemplate> headers =
                draft.templates(section, "headers", "http.headers", ContextKind.CREDENTIAL);
        if (section.get("headers") instanceof YamlNode.MapNode members) {
            Set<String> seen = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
            members.members().forEach((name, member) -> {
                String rejection = !OutboundRequestHeader.isName(name)
                        ? "this is not a valid header name."
                        : OutboundRequestHeader.isSetByServer(name)
                                ? "remove this header: the server sets it itself."
                                : name.equalsIgnoreCase("Authorization")
                                        ? "move credentials to auth; for a custom scheme use auth: {header:"
                                                + " {name: Authorization, value: …}}."
                                        : name.equalsIgnoreCase(keyHeader)
                                                ? "this header carries the effect key; set `idempotency_header` to"
                                                        + " another name or to `none`."
                                                : seen.add(name) ? null : "this header appears twice; remove one.";
                if (rejection != null) {
                    draft.addError(member.nameRange(), rejection);
                }
            });
        }
        return headers;
    }

    private HttpRequestTemplate.RequestBody content(String method, Map<String, YamlValueTemplate> headers) {
        boolean both = section.get("body") != null && section.get("form") != null;
        boolean any = section.get("body") != null || section.get("form") != null;
        if (both) {
            draft.addError(section.nameRange("form"), "set either `body` or `form`, not both.");
        } else if (any && OutboundRequest.isReadOnly(method)) {
            draft.addError(
                    section.nameRange(section.get("body") != null ? "body" : "form"),
                    "%s has no body; set `method: POST`, or use `query`.".formatted(method));
        }
        if (section.get("form") != null) {
            return new HttpRequestTemplate.RequestBody.FormFields(
                    draft.templates(section, "form", "http.form", ContextKind.STEP));
        }
        YamlValueTemplate body = draft.template(section, "body");
        return body == null
                ? new HttpRequestTemplate.RequestBody.None()
                : new HttpRequestTemplate.RequestBody.SingleValue(body, otherType(headers));
    }

    /** A Content-Type in the file other than JSON: the body is then text and sent unchanged. */
    private static @Nullable String otherType(Map<String, YamlValueTemplate> headers) {
        for (var header : headers.entrySet()) {
            if (header.getKey().equalsIgnoreCase("Content-Type")) {
                return header.getValue() instanceof YamlValueTemplate.Literal(var value)
                                && value.asString().toLowerCase(Locale.ROOT).contains("json")
                        ? null
                        : header.getKey();
            }
        }
        return null;
    }

    private OutboundRequest.SendOptions manner(String method, @Nullable Duration timeout) {
        OutboundRequest.SendOptions sendOptions =
                OutboundRequest.SendOptions.USUAL.repeatable(OutboundRequest.isReadOnly(method));
        Integer redirects = section.number("redirects", 0, OutboundRequest.SendOptions.MOST_REDIRECTS);
        if (redirects != null && redirects > 0 && !OutboundRequest.isReadOnly(method)) {
            draft.addError(
                    section.valueRange("redirects"),
                    "only GET and HEAD can follow redirects; %s could have its effect twice.".formatted(method));
        } else if (redirects != null) {
            sendOptions = sendOptions.maxRedirects(redirects);
        }
        Integer bytes = size();
        if (bytes != null) {
            sendOptions = sendOptions.maxResponseBytes(bytes);
        }
        if (timeout != null && timeout.compareTo(OutboundRequest.SendOptions.LONGEST_TIMEOUT) > 0) {
            draft.addError(draft.fields().valueRange("timeout"), "timeout of an http step must be at most 10m.");
        } else if (timeout != null) {
            sendOptions = sendOptions.timeout(timeout);
        }
        return sendOptions;
    }

    private @Nullable Integer size() {
        YamlNode tree = section.get("max_response");
        if (tree == null) {
            return null;
        }
        Matcher size =
                SIZE.matcher(tree instanceof YamlNode.ScalarNode(YamlSourceRange _, var value) ? value.asString() : "");
        if (size.matches()) {
            long unit = size.group(2) == null ? 1 : size.group(2).equals("KiB") ? 1024 : 1024 * 1024;
            long bytes = Long.parseLong(size.group(1)) * unit;
            if (bytes <= OutboundRequest.SendOptions.MOST_BYTES) {
                return (int) bytes;
            }
        }
        draft.addError(
                tree.range(), "max_response must be a number of bytes or a size such as 64KiB or 5MiB; at most 10MiB.");
        return null;
    }
}
