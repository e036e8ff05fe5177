package dev.semel.server.api;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJson;
import dev.semel.server.http.HttpRequest;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** A JSON request body with a fixed set of optional members. A missing body has no members. */
record JsonBody(JsonNode body) {
    private static final int LONGEST = 1_000;

    static JsonBody parse(HttpRequest request, Set<String> members) {
        if (request.body().length == 0) {
            return new JsonBody(JsonNodeFactory.instance.objectNode());
        }
        ContentTypeCheck.requireJson(request);
        JsonNode body = StrictJson.parse(request.body());
        if (!body.isObject()) {
            throw invalid("", "the body must be a JSON object");
        }
        for (String member : body.propertyNames()) {
            if (!members.contains(member)) {
                throw invalid("", "the allowed members are " + String.join(", ", new TreeSet<>(members)));
            }
        }
        return new JsonBody(body);
    }

    /** Empty if the member is missing. */
    String text(String member) {
        JsonNode value = body.get(member);
        if (value == null || value.isNull()) {
            return "";
        }
        if (!value.isString() || value.stringValue().length() > LONGEST) {
            throw invalid("/" + member, member + " must be text of at most " + LONGEST + " characters");
        }
        return value.stringValue();
    }

    @Nullable
    JsonNode value(String member) {
        return body.get(member);
    }

    private static SemelException invalid(String pointer, String message) {
        return new SemelException(
                        ErrorCode.INVALID_INPUT,
                        "The request body is not valid: " + message + ". Nothing was changed.",
                        "Correct the body and send it again.")
                .with("errors", List.of(Map.of("pointer", pointer, "message", message)));
    }
}
