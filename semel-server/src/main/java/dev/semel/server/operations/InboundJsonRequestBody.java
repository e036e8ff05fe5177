package dev.semel.server.operations;

import dev.semel.error.SemelException;
import dev.semel.json.StrictJsonCodec;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.query.ApiErrors;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** A JSON request body with a fixed set of optional members. A missing body has no members. */
public record InboundJsonRequestBody(JsonNode body) {
    private static final int LONGEST = 1_000;

    public static InboundJsonRequestBody parse(ServerHttpRequest request, Set<String> members) {
        if (request.body().length == 0) {
            return new InboundJsonRequestBody(JsonNodeFactory.instance.objectNode());
        }
        JsonNode body = parseAny(request);
        if (!body.isObject()) {
            throw invalid("", "the body must be a JSON object");
        }
        for (String member : body.propertyNames()) {
            if (!members.contains(member)) {
                throw invalid("", "the allowed members are " + String.join(", ", new TreeSet<>(members)));
            }
        }
        return new InboundJsonRequestBody(body);
    }

    /** The JSON body of a request that must have one. */
    public static JsonNode parseAny(ServerHttpRequest request) {
        InboundRequestContentTypeCheck.requireJson(request);
        return StrictJsonCodec.parse(request.body());
    }

    /** Empty if the member is missing. */
    public String text(String member) {
        JsonNode value = body.get(member);
        if (value == null || value.isNull()) {
            return "";
        }
        if (!value.isString() || value.stringValue().length() > LONGEST) {
            throw invalid("/" + member, member + " must be text of at most " + LONGEST + " characters");
        }
        return value.stringValue();
    }

    /** False if the member is missing. */
    public boolean flag(String member) {
        JsonNode value = body.get(member);
        if (value != null && !value.isNull() && !value.isBoolean()) {
            throw invalid("/" + member, member + " must be true or false");
        }
        return value != null && value.booleanValue(false);
    }

    @Nullable
    public JsonNode value(String member) {
        return body.get(member);
    }

    private static SemelException invalid(String pointer, String message) {
        return ApiErrors.invalidBody(pointer, message, "Nothing was changed.", "Correct the body and send it again.");
    }
}
