package dev.semel.server.operations.trigger;

import dev.semel.idempotency.ChosenRunId;
import dev.semel.idempotency.IdempotencyKey;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.operations.InboundJsonRequestBody;
import dev.semel.server.query.ApiErrors;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** Parses the JSON body of a trigger request: `{"data": {…}}` and optional members. An empty body means empty data. */
final class TriggerRequestBody {
    private static final Set<String> MEMBERS = Set.of("data", "run_id", "correlation_id", "delay", "start_at");
    private static final int LONGEST_CORRELATION = 255;

    private final JsonNode data;
    private final @Nullable ChosenRunId runId;
    private final Options options;
    private @Nullable IdempotencyKey derivedKey;

    /** Optional members that are not part of the fingerprint. */
    private record Options(@Nullable String correlationId, RunStartDelay later, List<String> warnings) {}

    private TriggerRequestBody(JsonNode data, @Nullable ChosenRunId runId, Options options) {
        this.data = data;
        this.runId = runId;
        this.options = options;
    }

    static TriggerRequestBody of(ServerHttpRequest request, @Nullable ChosenRunId fromPath) {
        if (request.body().length == 0) {
            Options options = new Options(null, RunStartDelay.IMMEDIATELY, List.of());
            return new TriggerRequestBody(JsonNodeFactory.instance.objectNode(), fromPath, options);
        }
        return of(InboundJsonRequestBody.parseAny(request), fromPath, MEMBERS);
    }

    /** One item of a batch. It has its key as a member beside its data. */
    static TriggerRequestBody ofItem(JsonNode item) {
        return of(item, null, Set.of("data", "run_id", "correlation_id", "delay", "start_at", "key"));
    }

    private static TriggerRequestBody of(JsonNode body, @Nullable ChosenRunId fromPath, Set<String> members) {
        if (!body.isObject()) {
            throw ApiErrors.invalidTrigger("", "the body must be a JSON object like {\"data\": {…}}");
        }
        List<String> warnings = new ArrayList<>();
        for (String member : body.propertyNames()) {
            if (!members.contains(member)) {
                warnings.add("The server ignored the unknown member \"" + printable(member)
                        + "\". Put the payload into \"data\".");
            }
        }
        JsonNode data = body.get("data");
        if (data == null) {
            if (!warnings.isEmpty()) {
                throw ApiErrors.invalidTrigger("", "the payload must be inside \"data\": {\"data\": {…}}");
            }
            data = JsonNodeFactory.instance.objectNode();
        }
        if (!data.isObject()) {
            throw ApiErrors.invalidTrigger("/data", "data must be an object");
        }
        return new TriggerRequestBody(
                data,
                runId(body, fromPath),
                new Options(correlationId(body), RunStartDelay.parse(body), List.copyOf(warnings)));
    }

    private static @Nullable ChosenRunId runId(JsonNode body, @Nullable ChosenRunId fromPath) {
        JsonNode member = body.get("run_id");
        if (member == null || member.isNull()) {
            return fromPath;
        }
        if (!member.isString()) {
            throw ApiErrors.invalidTrigger("/run_id", "run_id must be text");
        }
        ChosenRunId chosen = new ChosenRunId(member.stringValue());
        if (fromPath != null && !fromPath.equals(chosen)) {
            throw ApiErrors.invalidTrigger("/run_id", "run_id in the body differs from the one in the path");
        }
        return chosen;
    }

    private static @Nullable String correlationId(JsonNode body) {
        JsonNode member = body.get("correlation_id");
        if (member == null || member.isNull()) {
            return null;
        }
        boolean fits = member.isString()
                && !member.stringValue().isEmpty()
                && member.stringValue().length() <= LONGEST_CORRELATION
                && member.stringValue().chars().noneMatch(Character::isISOControl);
        if (!fits) {
            throw ApiErrors.invalidTrigger(
                    "/correlation_id", "correlation_id must be 1 to 255 characters without control characters");
        }
        return member.stringValue();
    }

    private static String printable(String name) {
        StringBuilder out = new StringBuilder();
        name.codePoints().limit(64).forEach(c -> out.appendCodePoint(Character.isISOControl(c) ? '?' : c));
        return out.toString();
    }

    JsonNode data() {
        return data;
    }

    @Nullable
    ChosenRunId runId() {
        return runId;
    }

    @Nullable
    String correlationId() {
        return options.correlationId();
    }

    RunStartDelay startDelay() {
        return options.later();
    }

    List<String> warnings() {
        return options.warnings();
    }

    /** Sets the key that the workflow derived from the input; null if its current version derives none. */
    void setDerivedKey(@Nullable IdempotencyKey key) {
        this.derivedKey = key;
    }

    @Nullable
    IdempotencyKey derivedKey() {
        return derivedKey;
    }
}
