package dev.semel.server.api;

import dev.semel.admission.ChosenRunId;
import dev.semel.admission.IdempotencyKey;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJson;
import dev.semel.server.http.HttpRequest;
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
    private record Options(@Nullable String correlationId, StartDelay later, List<String> warnings) {}

    private TriggerRequestBody(JsonNode data, @Nullable ChosenRunId runId, Options options) {
        this.data = data;
        this.runId = runId;
        this.options = options;
    }

    static TriggerRequestBody of(HttpRequest request, @Nullable ChosenRunId fromPath) {
        if (request.body().length == 0) {
            Options options = new Options(null, StartDelay.IMMEDIATELY, List.of());
            return new TriggerRequestBody(JsonNodeFactory.instance.objectNode(), fromPath, options);
        }
        ContentTypeCheck.requireJson(request);
        return of(StrictJson.parse(request.body()), fromPath, MEMBERS);
    }

    /** One item of a batch. It has its key as a member beside its data. */
    static TriggerRequestBody ofItem(JsonNode item) {
        return of(item, null, Set.of("data", "run_id", "correlation_id", "delay", "start_at", "key"));
    }

    private static TriggerRequestBody of(JsonNode body, @Nullable ChosenRunId fromPath, Set<String> members) {
        if (!body.isObject()) {
            throw invalidBody("", "the body must be a JSON object like {\"data\": {…}}");
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
                throw invalidBody("", "the payload must be inside \"data\": {\"data\": {…}}");
            }
            data = JsonNodeFactory.instance.objectNode();
        }
        if (!data.isObject()) {
            throw invalidBody("/data", "data must be an object");
        }
        return new TriggerRequestBody(
                data,
                runId(body, fromPath),
                new Options(correlationId(body), StartDelay.parse(body), List.copyOf(warnings)));
    }

    private static @Nullable ChosenRunId runId(JsonNode body, @Nullable ChosenRunId fromPath) {
        JsonNode member = body.get("run_id");
        if (member == null || member.isNull()) {
            return fromPath;
        }
        if (!member.isString()) {
            throw invalidBody("/run_id", "run_id must be text");
        }
        ChosenRunId chosen = new ChosenRunId(member.stringValue());
        if (fromPath != null && !fromPath.equals(chosen)) {
            throw invalidBody("/run_id", "run_id in the body differs from the one in the path");
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
            throw invalidBody(
                    "/correlation_id", "correlation_id must be 1 to 255 characters without control characters");
        }
        return member.stringValue();
    }

    private static String printable(String name) {
        StringBuilder out = new StringBuilder();
        name.codePoints().limit(64).forEach(c -> out.appendCodePoint(Character.isISOControl(c) ? '?' : c));
        return out.toString();
    }

    static SemelException invalidBody(String pointer, String message) {
        return new SemelException(
                        ErrorCode.INVALID_INPUT,
                        "The request body is not valid: " + message + ". No run was started and the key is still free.",
                        "Correct the body and send it again, with the same key.")
                .with("errors", List.of(java.util.Map.of("pointer", pointer, "message", message)));
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

    /** How long a new run waits before it starts. */
    StartDelay startDelay() {
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
