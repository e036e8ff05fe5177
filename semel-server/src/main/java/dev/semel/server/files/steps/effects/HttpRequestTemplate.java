package dev.semel.server.files.steps.effects;

import dev.semel.error.RequestNotSent;
import dev.semel.json.StrictJsonCodec;
import dev.semel.server.connectors.outbound.FormUrlEncoder;
import dev.semel.server.connectors.outbound.OutboundRequest;
import dev.semel.server.connectors.outbound.OutboundRequestHeader;
import dev.semel.server.connectors.outbound.OutboundRequestUrl;
import dev.semel.server.connectors.outbound.OutboundResponse;
import dev.semel.server.files.expressions.ExpressionEvaluationException;
import dev.semel.server.files.expressions.ExpressionScope;
import dev.semel.server.files.expressions.StepResultSizeLimit;
import dev.semel.server.files.expressions.YamlValueTemplate;
import dev.semel.server.files.steps.SentSecret;
import dev.semel.server.files.steps.YamlStepDependencies;
import dev.semel.server.files.steps.YamlStepExecutionContext;
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
record HttpRequestTemplate(
        String method,
        UrlTemplate address,
        Map<String, YamlValueTemplate> query,
        Map<String, YamlValueTemplate> headers,
        RequestBody content,
        HttpCredentialTemplate credential,
        OutboundRequest.SendOptions sendOptions) {
    sealed interface RequestBody {
        record None() implements RequestBody {}

        /** @param type content type of a text that is sent unchanged; null for JSON */
        record SingleValue(
                YamlValueTemplate value, @Nullable String type) implements RequestBody {}

        record FormFields(Map<String, YamlValueTemplate> form) implements RequestBody {}
    }

    /**
     * An evaluated request without its late parts.
     *
     * @param lateHeaders headers that read a secret or the attempt number
     * @param comparedData what a window compares: target and content
     */
    record PreparedRequest(
            OutboundRequest request,
            Map<String, YamlValueTemplate> lateHeaders,
            HttpCredentialTemplate credential,
            JsonNode comparedData) {
        OutboundResponse send(ExpressionScope scope, YamlStepDependencies services, @Nullable OutboundRequestHeader key)
                throws IOException {
            ExpressionScope all = scope.withSecrets(name -> services.secret(name, request.target()));
            OutboundRequestUrl other = credential.receiver();
            ExpressionScope credentials = other == null ? all : scope.withSecrets(name -> services.secret(name, other));
            OutboundRequest complete = key == null ? request : request.with(key);
            for (var header : lateHeaders.entrySet()) {
                String value = text(header.getValue(), all);
                complete = complete.with(
                        reads(header.getValue(), "secret")
                                ? OutboundRequestHeader.secret(header.getKey(), value)
                                : OutboundRequestHeader.of(header.getKey(), value));
            }
            return services.send(complete, credential.auth().create(template -> text(template, credentials)));
        }

        private static String text(YamlValueTemplate template, ExpressionScope scope) {
            try {
                JsonNode value = template.evaluate(scope, new StepResultSizeLimit());
                if (value.isString() || value.isNumber()) {
                    return value.asString();
                }
                throw new ExpressionEvaluationException("it is not text");
            } catch (ExpressionEvaluationException failure) {
                throw new RequestNotSent(
                        "a credential could not be evaluated, because " + failure.reason() + ". Nothing was sent.",
                        null);
            }
        }
    }

    HttpRequestTemplate with(HttpCredentialTemplate other) {
        return new HttpRequestTemplate(method, address, query, headers, content, other, sendOptions);
    }

    HttpRequestTemplate with(OutboundRequest.SendOptions other) {
        return new HttpRequestTemplate(method, address, query, headers, content, credential, other);
    }

    PreparedRequest prepare(YamlStepExecutionContext context) {
        try {
            String url = url(context);
            List<OutboundRequestHeader> open = new ArrayList<>();
            Map<String, YamlValueTemplate> late = new LinkedHashMap<>();
            for (var header : headers.entrySet()) {
                if (reads(header.getValue(), "secret") || reads(header.getValue(), "attempt")) {
                    late.put(header.getKey(), header.getValue());
                } else {
                    open.add(OutboundRequestHeader.of(
                            header.getKey(),
                            UrlTemplate.text(
                                    context, context.evaluate(header.getValue()), "Header " + header.getKey())));
                }
            }
            // Not compared by the window: it identifies the caller, not the content.
            open.add(OutboundRequestHeader.of(
                    OutboundRequestHeader.DEPTH,
                    Integer.toString(context.durable().depth() + 1)));
            ObjectNode sent = JsonNodeFactory.instance.objectNode().put("url", method + " " + url);
            byte[] body = body(context, open, sent);
            return new PreparedRequest(
                    new OutboundRequest(method, OutboundRequestUrl.parse(url), open, body, sendOptions),
                    late,
                    credential,
                    sent);
        } catch (RequestNotSent e) {
            String why = String.valueOf(e.getMessage()).replaceFirst("\\. Nothing was sent\\.$", "");
            throw context.evaluationFailed("The request of step '" + context.id() + "'", why);
        }
    }

    private static boolean reads(YamlValueTemplate template, String name) {
        return template.readPaths().anyMatch(path -> path.root().equals(name));
    }

    private String url(YamlStepExecutionContext context) {
        var url = new StringBuilder(address.evaluate(context));
        query.forEach((name, template) -> {
            JsonNode value = context.evaluate(template);
            // omits null: an optional input field is an optional query parameter
            for (JsonNode item : value.isArray() ? value : value.isNull() ? List.<JsonNode>of() : List.of(value)) {
                url.append(url.indexOf("?") < 0 ? '?' : '&')
                        .append(FormUrlEncoder.percentEncode(name))
                        .append('=')
                        .append(FormUrlEncoder.percentEncode(UrlTemplate.text(context, item, "The query")));
            }
        });
        return url.toString();
    }

    private byte[] body(YamlStepExecutionContext context, List<OutboundRequestHeader> open, ObjectNode sent) {
        return switch (content) {
            case RequestBody.None _ -> OutboundRequest.NO_BODY;
            case RequestBody.SingleValue(YamlValueTemplate value, String type) -> {
                JsonNode filled = context.evaluate(value);
                sent.set("body", filled);
                if (type != null) {
                    yield UrlTemplate.text(context, filled, "The body").getBytes(StandardCharsets.UTF_8);
                }
                if (headers.keySet().stream().noneMatch("Content-Type"::equalsIgnoreCase)) {
                    open.add(OutboundRequestHeader.of("Content-Type", "application/json"));
                }
                yield StrictJsonCodec.write(filled).getBytes(StandardCharsets.UTF_8);
            }
            case RequestBody.FormFields(Map<String, YamlValueTemplate> form) -> {
                Map<String, String> fields = new LinkedHashMap<>();
                ObjectNode shown = sent.putObject("form");
                form.forEach((name, template) -> {
                    JsonNode value = context.evaluate(template);
                    if (!value.isNull()) {
                        fields.put(name, UrlTemplate.text(context, value, "The form"));
                        shown.set(name, value);
                    }
                });
                open.add(OutboundRequestHeader.of("Content-Type", FormUrlEncoder.TYPE));
                yield FormUrlEncoder.encode(fields).getBytes(StandardCharsets.UTF_8);
            }
        };
    }

    /** The templates that a window compares: target and content. */
    Stream<YamlValueTemplate> comparedTemplates() {
        Stream<YamlValueTemplate> inside = switch (content) {
            case RequestBody.None _ -> Stream.empty();
            case RequestBody.SingleValue(YamlValueTemplate value, String _) -> Stream.of(value);
            case RequestBody.FormFields(Map<String, YamlValueTemplate> form) -> form.values().stream();
        };
        return Stream.of(address.templates(), query.values().stream(), inside).flatMap(templates -> templates);
    }

    Stream<SentSecret> sentSecrets() {
        OutboundRequestUrl other = credential.receiver();
        return Stream.concat(
                SentSecret.in(headers.values().stream(), address.origin()),
                SentSecret.in(credential.templates().stream(), other == null ? address.origin() : other));
    }

    Stream<YamlValueTemplate> templates() {
        return Stream.of(comparedTemplates(), headers.values().stream(), credential.templates().stream())
                .flatMap(templates -> templates);
    }
}
