package dev.semel.server.operations;

import dev.semel.error.SemelException;
import dev.semel.json.StrictJsonCodec;
import dev.semel.server.http.CpuWorkPool;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.query.ApiErrors;
import java.time.Duration;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** A JSON request body with a fixed set of optional members. A missing body has no members. */
public record InboundJsonRequestBody(JsonNode body) {
    private static final int LONGEST = 1_000;
    /** Parsing more than this on a request thread would delay other requests. */
    private static final int SMALL_BODY = 32 * 1024;
    /** The memory for parsed bodies already limits how many requests come here, so no caller has a limit of its own. */
    private static final CpuWorkPool PARSING =
            new CpuWorkPool(CpuWorkPool.WorkLimits.of("large JSON bodies", 4_096, 4_096, Duration.ofSeconds(20)));

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
        return parseBytes(request.body());
    }

    /** Parses JSON whose Content-Type the caller has checked. */
    public static JsonNode parseBytes(byte[] json) {
        if (json.length <= SMALL_BODY) {
            return StrictJsonCodec.parse(json);
        }
        try {
            return PARSING.run("", () -> StrictJsonCodec.parse(json));
        } catch (RuntimeException e) {
            throw e;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("The server stopped while it parsed a request", e);
        } catch (Exception e) {
            throw new IllegalStateException("The parser has no checked exceptions", e);
        }
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
