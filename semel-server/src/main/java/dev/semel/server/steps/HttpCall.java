package dev.semel.server.steps;

import dev.semel.json.Json;
import dev.semel.server.language.Expression;
import dev.semel.server.language.Failure;
import dev.semel.server.language.ResultSize;
import dev.semel.server.language.Scope;
import dev.semel.server.language.Template;
import dev.semel.server.outbound.Answer;
import dev.semel.server.outbound.Form;
import dev.semel.server.outbound.Header;
import dev.semel.server.outbound.Request;
import dev.semel.server.outbound.Target;
import dev.semel.workflow.Failures;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * The HTTP request of a step, with its expressions compiled.
 *
 * <p>All parts except credentials are evaluated before anything is sent or reserved, so that invalid data fails the
 * step instead of leaving an unknown outcome. Credentials are evaluated during the send.
 *
 * @param headers their names come from the file, never from data
 */
record HttpCall(
        String method,
        Address address,
        Map<String, Template> query,
        Map<String, Template> headers,
        Content content,
        Credential credential,
        Request.Manner manner) {
    private static final String DEPTH = "Semel-Depth";

    /** The request body. */
    sealed interface Content {
        /** No body. */
        record None() implements Content {}

        /** @param type content type of a text that is sent unchanged; null for JSON */
        record Whole(Template value, @Nullable String type) implements Content {}

        /** A URL-encoded form. */
        record Fields(Map<String, Template> form) implements Content {}
    }

    /**
     * An evaluated request without its late parts.
     *
     * @param late headers that read a secret or the attempt number
     * @param sent what a window compares: target and content
     */
    record Prepared(Request request, Map<String, Template> late, Credential credential, JsonNode sent) {
        Answer send(Scope scope, Outside services, @Nullable Header key) throws IOException {
            Scope all = scope.withSecrets(services::secret);
            Request complete = key == null ? request : request.with(key);
            for (var header : late.entrySet()) {
                String value = text(header.getValue(), all);
                complete = complete.with(
                        reads(header.getValue(), "secret")
                                ? Header.secret(header.getKey(), value)
                                : Header.of(header.getKey(), value));
            }
            return services.send(complete, credential.auth(template -> text(template, all)));
        }

        private static String text(Template template, Scope scope) {
            try {
                JsonNode value = template.fill(scope, new ResultSize());
                if (value.isString() || value.isNumber()) {
                    return value.asString();
                }
                throw new Failure("it is not text");
            } catch (Failure failure) {
                throw new Failures.NotSent(
                        "a credential could not be evaluated, because " + failure.because() + ". Nothing was sent.", null);
            }
        }
    }

    HttpCall with(Credential other) {
        return new HttpCall(method, address, query, headers, content, other, manner);
    }

    HttpCall with(Request.Manner other) {
        return new HttpCall(method, address, query, headers, content, credential, other);
    }

    Prepared prepare(Play context) {
        try {
            String url = url(context);
            List<Header> open = new ArrayList<>();
            Map<String, Template> late = new LinkedHashMap<>();
            for (var header : headers.entrySet()) {
                if (reads(header.getValue(), "secret") || reads(header.getValue(), "attempt")) {
                    late.put(header.getKey(), header.getValue());
                } else {
                    open.add(Header.of(
                            header.getKey(),
                            Address.text(context, context.fill(header.getValue()), "Header " + header.getKey())));
                }
            }
            // Not compared by the window: it identifies the caller, not the content.
            open.add(Header.of(DEPTH, Integer.toString(context.durable().depth() + 1)));
            ObjectNode sent = JsonNodeFactory.instance.objectNode().put("url", method + " " + url);
            byte[] body = body(context, open, sent);
            return new Prepared(new Request(method, Target.of(url), open, body, manner), late, credential, sent);
        } catch (Failures.NotSent e) {
            String why = String.valueOf(e.getMessage()).replaceFirst("\\. Nothing was sent\\.$", "");
            throw context.failed("The request of step '" + context.id() + "'", why);
        }
    }

    private static boolean reads(Template template, String name) {
        return template.expressions()
                .map(Expression::reads)
                .flatMap(List::stream)
                .anyMatch(path -> path.root().equals(name));
    }

    private String url(Play context) {
        var url = new StringBuilder(address.fill(context));
        query.forEach((name, template) -> {
            JsonNode value = context.fill(template);
            // omits null: an optional input field is an optional query parameter
            for (JsonNode item : value.isArray() ? value : value.isNull() ? List.<JsonNode>of() : List.of(value)) {
                url.append(url.indexOf("?") < 0 ? '?' : '&')
                        .append(Form.percent(name))
                        .append('=')
                        .append(Form.percent(Address.text(context, item, "The query")));
            }
        });
        return url.toString();
    }

    private byte[] body(Play context, List<Header> open, ObjectNode sent) {
        return switch (content) {
            case Content.None _ -> Request.NO_BODY;
            case Content.Whole(Template value, String type) -> {
                JsonNode filled = context.fill(value);
                sent.set("body", filled);
                if (type != null) {
                    yield Address.text(context, filled, "The body").getBytes(StandardCharsets.UTF_8);
                }
                if (headers.keySet().stream().noneMatch("Content-Type"::equalsIgnoreCase)) {
                    open.add(Header.of("Content-Type", "application/json"));
                }
                yield Json.write(filled).getBytes(StandardCharsets.UTF_8);
            }
            case Content.Fields(Map<String, Template> form) -> {
                Map<String, String> fields = new LinkedHashMap<>();
                ObjectNode shown = sent.putObject("form");
                form.forEach((name, template) -> {
                    JsonNode value = context.fill(template);
                    if (!value.isNull()) {
                        fields.put(name, Address.text(context, value, "The form"));
                        shown.set(name, value);
                    }
                });
                open.add(Header.of("Content-Type", Form.TYPE));
                yield Form.encoded(fields).getBytes(StandardCharsets.UTF_8);
            }
        };
    }

    /** The templates that a window compares: target and content. */
    Stream<Template> compared() {
        Stream<Template> inside = switch (content) {
            case Content.None _ -> Stream.empty();
            case Content.Whole(Template value, String _) -> Stream.of(value);
            case Content.Fields(Map<String, Template> form) -> form.values().stream();
        };
        return Stream.of(address.templates(), query.values().stream(), inside).flatMap(templates -> templates);
    }

    Stream<Template> templates() {
        return Stream.of(compared(), headers.values().stream(), credential.templates())
                .flatMap(templates -> templates);
    }
}
