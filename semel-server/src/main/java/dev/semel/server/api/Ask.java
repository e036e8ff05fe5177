package dev.semel.server.api;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.Json;
import dev.semel.key.ChosenRunId;
import dev.semel.key.IdempotencyKey;
import dev.semel.server.http.Request;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** Parses the JSON body of a trigger request: `{"data": {…}}` and optional members. An empty body means empty data. */
final class Ask {
    private static final Set<String> MEMBERS = Set.of("data", "run_id", "correlation_id", "delay", "start_at");
    private static final int LONGEST_CORRELATION = 255;

    private final JsonNode data;
    private final @Nullable ChosenRunId runId;
    private final Options options;
    private @Nullable IdempotencyKey derived;

    /** Optional members that are not part of the fingerprint. */
    private record Options(@Nullable String correlationId, Later later, List<String> warnings) {}

    private Ask(JsonNode data, @Nullable ChosenRunId runId, Options options) {
        this.data = data;
        this.runId = runId;
        this.options = options;
    }

    static Ask of(Request request, @Nullable ChosenRunId fromPath) {
        if (request.body().length == 0) {
            Options options = new Options(null, Later.AT_ONCE, List.of());
            return new Ask(JsonNodeFactory.instance.objectNode(), fromPath, options);
        }
        MediaTypes.requireJson(request);
        return of(Json.parse(request.body()), fromPath, MEMBERS);
    }

    /** One item of a batch. It has its key as a member beside its data. */
    static Ask ofItem(JsonNode item) {
        return of(item, null, Set.of("data", "run_id", "correlation_id", "delay", "start_at", "key"));
    }

    private static Ask of(JsonNode body, @Nullable ChosenRunId fromPath, Set<String> members) {
        if (!body.isObject()) {
            throw invalid("", "the body must be a JSON object like {\"data\": {…}}");
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
                throw invalid("", "the payload must be inside \"data\": {\"data\": {…}}");
            }
            data = JsonNodeFactory.instance.objectNode();
        }
        if (!data.isObject()) {
            throw invalid("/data", "data must be an object");
        }
        return new Ask(
                data, runId(body, fromPath), new Options(correlationId(body), Later.in(body), List.copyOf(warnings)));
    }

    private static @Nullable ChosenRunId runId(JsonNode body, @Nullable ChosenRunId fromPath) {
        JsonNode member = body.get("run_id");
        if (member == null || member.isNull()) {
            return fromPath;
        }
        if (!member.isString()) {
            throw invalid("/run_id", "run_id must be text");
        }
        ChosenRunId chosen = new ChosenRunId(member.stringValue());
        if (fromPath != null && !fromPath.equals(chosen)) {
            throw invalid("/run_id", "run_id in the body differs from the one in the path");
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
            throw invalid("/correlation_id", "correlation_id must be 1 to 255 characters without control characters");
        }
        return member.stringValue();
    }

    private static String printable(String name) {
        StringBuilder out = new StringBuilder();
        name.codePoints().limit(64).forEach(c -> out.appendCodePoint(Character.isISOControl(c) ? '?' : c));
        return out.toString();
    }

    static SemelException invalid(String pointer, String message) {
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
    Later later() {
        return options.later();
    }

    List<String> warnings() {
        return options.warnings();
    }

    /** Sets the key that the workflow derived from the input; null if its current version derives none. */
    void derive(@Nullable IdempotencyKey key) {
        this.derived = key;
    }

    @Nullable
    IdempotencyKey derived() {
        return derived;
    }
}
