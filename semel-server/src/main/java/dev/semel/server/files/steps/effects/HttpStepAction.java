package dev.semel.server.files.steps.effects;

import dev.semel.definition.DurableWorkflowOperations;
import dev.semel.definition.EffectSpec;
import dev.semel.definition.ResultNotRecordable;
import dev.semel.effect.EffectDuplicateProtection;
import dev.semel.error.HttpStatusException;
import dev.semel.error.JsonConversionFailed;
import dev.semel.server.connectors.outbound.OutboundRequest;
import dev.semel.server.connectors.outbound.OutboundRequestHeader;
import dev.semel.server.connectors.outbound.OutboundResponse;
import dev.semel.server.files.expressions.ExpressionEvaluationException;
import dev.semel.server.files.expressions.ExpressionScope;
import dev.semel.server.files.expressions.StepResultSizeLimit;
import dev.semel.server.files.expressions.YamlValueTemplate;
import dev.semel.server.files.steps.CompiledYamlStepAction;
import dev.semel.server.files.steps.DeclaredEffect;
import dev.semel.server.files.steps.SentSecret;
import dev.semel.server.files.steps.YamlEffectOptions;
import dev.semel.server.files.steps.YamlStepDependencies;
import dev.semel.server.files.steps.YamlStepExecutionContext;
import dev.semel.workflow.EffectOutcome;
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
record HttpStepAction(
        HttpRequestTemplate call,
        YamlEffectOptions terms,
        @Nullable YamlValueTemplate result,
        @Nullable String keyHeader,
        @Nullable LookupRequest lookup)
        implements CompiledYamlStepAction {
    /**
     * The request that queries the provider for the outcome of an effect.
     *
     * @param found whether the response shows that it happened; null: 2xx means yes, 404 and 410 mean no
     * @param result computed from that response; null for its body
     */
    record LookupRequest(
            HttpRequestTemplate call,
            @Nullable YamlValueTemplate found,
            @Nullable YamlValueTemplate result) {}

    @Override
    public JsonNode run(YamlStepExecutionContext context) {
        ExpressionScope scope = context.scope();
        HttpRequestTemplate.PreparedRequest request = call.prepare(context);
        YamlStepDependencies services = context.services();
        if (onlyLooks()) {
            return context.durable()
                    .step(
                            terms.step(context.id()).asExternal(),
                            step -> taken(step, request, during(step, scope), services));
        }
        HttpRequestTemplate.PreparedRequest question =
                lookup == null ? null : lookup.call().prepare(context);
        EffectSpec plan =
                terms.spec(context, new YamlEffectOptions.EffectSend(context.id(), null, null, request.comparedData()));
        EffectOutcome<JsonNode> outcome = context.durable()
                .effect(keyHeader == null ? plan.withoutSentKey() : plan, new DurableWorkflowOperations.EffectSender() {
                    @Override
                    public JsonNode send(Step step) throws Exception {
                        return taken(step, request, during(step, scope), services);
                    }

                    @Override
                    public @Nullable JsonNode lookup(Step step) throws Exception {
                        return question == null ? null : found(question, during(step, scope), services);
                    }
                });
        return switch (outcome) {
            case EffectOutcome.Done<JsonNode>(JsonNode value) -> value;
            case EffectOutcome.Indeterminate<JsonNode> _ ->
                JsonNodeFactory.instance.objectNode().put("indeterminate", true);
        };
    }

    @Override
    public List<SentSecret> sentSecrets() {
        Stream<SentSecret> asked =
                lookup == null ? Stream.empty() : lookup.call().sentSecrets();
        return Stream.concat(call.sentSecrets(), asked).toList();
    }

    private static ExpressionScope during(Step step, ExpressionScope scope) {
        return scope.with("attempt", JsonNodeFactory.instance.numberNode(step.attempt()));
    }

    private boolean onlyLooks() {
        return OutboundRequest.isReadOnly(call.method())
                && terms.protection() instanceof EffectDuplicateProtection.Repeatable
                && terms.idempotent() == null
                && terms.alreadyDoneStatuses().isEmpty();
    }

    /** Sends the request and computes the result from the response. */
    private JsonNode taken(
            Step step,
            HttpRequestTemplate.PreparedRequest request,
            ExpressionScope scope,
            YamlStepDependencies services)
            throws IOException {
        OutboundRequestHeader key = keyHeader == null ? null : OutboundRequestHeader.of(keyHeader, step.key());
        OutboundResponse answer = request.send(scope, services, key);
        JsonNode response = response(answer, services);
        if (answer.isSuccess()) {
            return result(result, response, scope);
        }
        HttpStatusException failure = answer.toFailure();
        JsonNode body = terms.alreadyDoneStatuses().contains(answer.status())
                ? doneBefore(response, scope)
                : response.path("body");
        throw new HttpStatusException(failure.status(), body, failure.retryAfter(), failure.replayed());
    }

    /**
     * An error response seldom has the shape of a success; if the result cannot be computed from it, the whole response
     * is the result.
     */
    private JsonNode doneBefore(JsonNode response, ExpressionScope scope) {
        try {
            return result(result, response, scope);
        } catch (ResultNotRecordable _) {
            return response.path("body");
        }
    }

    /** The request succeeded, so a result that cannot be computed is no reason to send it again. */
    private static JsonNode result(@Nullable YamlValueTemplate template, JsonNode response, ExpressionScope scope) {
        if (template == null) {
            return response.path("body");
        }
        try {
            return template.evaluate(scope.with("response", response), new StepResultSizeLimit());
        } catch (ExpressionEvaluationException failure) {
            throw new ResultNotRecordable(new JsonConversionFailed(
                    "The request succeeded, but its result could not be computed from the response, because "
                            + failure.reason()
                            + ". The engine does not send the request again; no result was recorded.",
                    "Change `result` to handle the provider's response, with default(value, other) or has(value)."));
        }
    }

    private @Nullable JsonNode found(
            HttpRequestTemplate.PreparedRequest question, ExpressionScope scope, YamlStepDependencies services)
            throws IOException {
        LookupRequest lookupRequest = lookup;
        if (lookupRequest == null) {
            return null;
        }
        OutboundResponse answer = question.send(scope, services, null);
        boolean absent = answer.status() == 404 || answer.status() == 410;
        if (!answer.isSuccess() && !absent) {
            throw answer.toFailure();
        }
        JsonNode response = response(answer, services);
        YamlValueTemplate shown = lookupRequest.found();
        boolean found = shown == null ? answer.isSuccess() : isTrue(shown, scope.with("response", response));
        return found ? result(lookupRequest.result(), response, scope) : null;
    }

    /** The engine never guesses: if the response is unclear, it queries again. */
    private static boolean isTrue(YamlValueTemplate template, ExpressionScope scope) throws IOException {
        try {
            JsonNode value = template.evaluate(scope, new StepResultSizeLimit());
            if (value.isBoolean()) {
                return value.booleanValue();
            }
            throw new ExpressionEvaluationException("it returned neither true nor false");
        } catch (ExpressionEvaluationException failure) {
            throw new IOException("lookup.found could not be evaluated, because " + failure.reason());
        }
    }

    /** `response: {status, headers, body}`, without secrets that the receiver echoed. */
    private static JsonNode response(OutboundResponse answer, YamlStepDependencies services) {
        ObjectNode response = JsonNodeFactory.instance.objectNode().put("status", answer.status());
        ObjectNode headers = response.putObject("headers");
        for (Map.Entry<String, List<String>> header : answer.headers().map().entrySet()) {
            String name = header.getKey().toLowerCase(Locale.ROOT);
            if (!name.equals("set-cookie")) {
                headers.put(name, services.redact(String.join(", ", header.getValue())));
            }
        }
        response.set("body", redacted(answer.json(), services));
        return response;
    }

    private static JsonNode redacted(JsonNode value, YamlStepDependencies services) {
        JsonNodeFactory json = JsonNodeFactory.instance;
        if (value.isString()) {
            return json.stringNode(services.redact(value.stringValue()));
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
                            members.set(services.redact(member.getKey()), redacted(member.getValue(), services)));
            return members;
        }
        return value;
    }

    @Override
    public Stream<YamlValueTemplate> templates() {
        Stream<YamlValueTemplate> asked = lookup == null
                ? Stream.empty()
                : Stream.concat(
                        lookup.call().templates(),
                        Stream.of(lookup.found(), lookup.result()).flatMap(Stream::ofNullable));
        return Stream.of(call.templates(), terms.templates(), Stream.ofNullable(result), asked)
                .flatMap(templates -> templates);
    }

    @Override
    public @Nullable YamlValueTemplate effectKey() {
        return terms.effectKey();
    }

    @Override
    public Stream<YamlValueTemplate> comparedTemplates() {
        return terms.sendsChanges() ? call.comparedTemplates() : Stream.empty();
    }

    @Override
    public @Nullable DeclaredEffect declaredEffect() {
        return onlyLooks()
                ? null
                : terms.declaredEffect(call.method() + " " + call.address().sourceText());
    }
}
