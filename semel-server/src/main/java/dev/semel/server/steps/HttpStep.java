package dev.semel.server.steps;

import dev.semel.effect.Protection;
import dev.semel.error.TypeMismatch;
import dev.semel.server.language.Failure;
import dev.semel.server.language.ResultSize;
import dev.semel.server.language.Scope;
import dev.semel.server.language.Template;
import dev.semel.server.outbound.Answer;
import dev.semel.server.outbound.Header;
import dev.semel.server.outbound.Request;
import dev.semel.workflow.Durable;
import dev.semel.workflow.Failures;
import dev.semel.workflow.Outcome;
import dev.semel.workflow.Step;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Executes an HTTP step: reads run as retryable steps, all other requests as effects with the declared protection.
 *
 * @param result computed from the response; null for its body
 * @param keyHeader header of the effect key; null for none
 */
record HttpStep(
        HttpCall call,
        EffectTerms terms,
        @Nullable Template result,
        @Nullable String keyHeader,
        @Nullable Lookup lookup)
        implements Act {
    /**
     * The request that queries the provider for the outcome of an effect.
     *
     * @param found whether the response shows that it happened; null: 2xx means yes, 404 and 410 mean no
     * @param result computed from that response; null for its body
     */
    record Lookup(
            HttpCall call,
            @Nullable Template found,
            @Nullable Template result) {}

    @Override
    public JsonNode run(Play context) {
        Scope scope = context.scope();
        HttpCall.Prepared request = call.prepare(context);
        Outside services = context.outside();
        if (onlyLooks()) {
            return context.durable()
                    .step(terms.retries().plan(context.id()), step -> taken(step, request, during(step, scope), services));
        }
        HttpCall.Prepared question = lookup == null ? null : lookup.call().prepare(context);
        Outcome<JsonNode> outcome = context.durable()
                .effect(
                        terms.plan(context, new EffectTerms.Aim(context.id(), null, null, request.sent())),
                        new Durable.Sending() {
                            @Override
                            public JsonNode send(Step step) throws Exception {
                                return taken(step, request, during(step, scope), services);
                            }

                            @Override
                            public @Nullable JsonNode find(Step step) throws Exception {
                                return question == null ? null : found(question, during(step, scope), services);
                            }
                        });
        return switch (outcome) {
            case Outcome.Done<JsonNode>(JsonNode value) -> value;
            case Outcome.Indeterminate<JsonNode> _ ->
                JsonNodeFactory.instance.objectNode().put("indeterminate", true);
        };
    }

    private static Scope during(Step step, Scope scope) {
        return scope.with("attempt", JsonNodeFactory.instance.numberNode(step.attempt()));
    }

    private boolean onlyLooks() {
        return Request.onlyLooks(call.method())
                && terms.protection() instanceof Protection.Repeatable
                && terms.once() == null
                && terms.alreadyDone().isEmpty();
    }

    /** Sends the request and computes the result from the response. */
    private JsonNode taken(Step step, HttpCall.Prepared request, Scope scope, Outside services) throws IOException {
        Header key = keyHeader == null ? null : Header.of(keyHeader, step.key());
        Answer answer = request.send(scope, services, key);
        JsonNode response = response(answer, services);
        if (answer.success()) {
            return result(result, response, scope);
        }
        Failures.Status failure = answer.failure();
        JsonNode body =
                terms.alreadyDone().contains(answer.status()) ? doneBefore(response, scope) : response.path("body");
        throw new Failures.Status(failure.status(), body, failure.retryAfter());
    }

    /**
     * An error response seldom has the shape of a success; if the result cannot be computed from it, the whole response
     * is the result.
     */
    private JsonNode doneBefore(JsonNode response, Scope scope) {
        try {
            return result(result, response, scope);
        } catch (Failures.NotKept _) {
            return response.path("body");
        }
    }

    /** The request succeeded, so a result that cannot be computed is no reason to send it again. */
    private static JsonNode result(@Nullable Template template, JsonNode response, Scope scope) {
        if (template == null) {
            return response.path("body");
        }
        try {
            return template.fill(scope.with("response", response), new ResultSize());
        } catch (Failure failure) {
            throw new Failures.NotKept(new TypeMismatch(
                    "The request succeeded, but its result could not be computed from the response, because "
                            + failure.because() + ". The engine does not send it again; no result was recorded.",
                    "Change result to handle the provider's response, with default(value, other) or has(value)."));
        }
    }

    private @Nullable JsonNode found(HttpCall.Prepared question, Scope scope, Outside services) throws IOException {
        Lookup asked = lookup;
        if (asked == null) {
            return null;
        }
        Answer answer = question.send(scope, services, null);
        boolean absent = answer.status() == 404 || answer.status() == 410;
        if (!answer.success() && !absent) {
            throw answer.failure();
        }
        JsonNode response = response(answer, services);
        Template shown = asked.found();
        boolean found = shown == null ? answer.success() : isTrue(shown, scope.with("response", response));
        return found ? result(asked.result(), response, scope) : null;
    }

    /** The engine never guesses: if the response is unclear, it queries again. */
    private static boolean isTrue(Template template, Scope scope) throws IOException {
        try {
            JsonNode value = template.fill(scope, new ResultSize());
            if (value.isBoolean()) {
                return value.booleanValue();
            }
            throw new Failure("it returned neither true nor false");
        } catch (Failure failure) {
            throw new IOException("lookup.found could not be evaluated, because " + failure.because());
        }
    }

    /** `response: {status, headers, body}`, without secrets that the receiver echoed. */
    private static JsonNode response(Answer answer, Outside services) {
        ObjectNode response = JsonNodeFactory.instance.objectNode().put("status", answer.status());
        ObjectNode headers = response.putObject("headers");
        for (Map.Entry<String, List<String>> header : answer.headers().map().entrySet()) {
            String name = header.getKey().toLowerCase(Locale.ROOT);
            if (!name.equals("set-cookie")) {
                headers.put(name, services.redacted(String.join(", ", header.getValue())));
            }
        }
        response.set("body", redacted(answer.json(), services));
        return response;
    }

    private static JsonNode redacted(JsonNode value, Outside services) {
        JsonNodeFactory json = JsonNodeFactory.instance;
        if (value.isString()) {
            return json.stringNode(services.redacted(value.stringValue()));
        }
        if (value.isArray()) {
            var items = json.arrayNode();
            value.forEach(item -> items.add(redacted(item, services)));
            return items;
        }
        if (value.isObject()) {
            ObjectNode members = json.objectNode();
            value.properties()
                    .forEach(member ->
                            members.set(services.redacted(member.getKey()), redacted(member.getValue(), services)));
            return members;
        }
        return value;
    }

    @Override
    public Stream<Template> templates() {
        Stream<Template> asked = lookup == null
                ? Stream.empty()
                : Stream.concat(
                        lookup.call().templates(),
                        Stream.of(lookup.found(), lookup.result()).flatMap(Stream::ofNullable));
        return Stream.of(call.templates(), terms.templates(), Stream.ofNullable(result), asked)
                .flatMap(templates -> templates);
    }

    @Override
    public @Nullable Template effectKey() {
        return terms.effectKey();
    }

    @Override
    public Stream<Template> compared() {
        return terms.sendsChanges() ? call.compared() : Stream.empty();
    }

    @Override
    public @Nullable Declared effect() {
        return onlyLooks()
                ? null
                : terms.declared(call.method() + " " + call.address().written());
    }
}
