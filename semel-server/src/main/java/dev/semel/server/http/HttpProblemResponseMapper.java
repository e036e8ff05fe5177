package dev.semel.server.http;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** Converts errors to RFC 9457 problem responses, with the retry and rate-limit headers that clients understand. */
public final class HttpProblemResponseMapper {
    private static final JsonMapper JSON = JsonMapper.shared();
    private static final String DRAFT =
            "https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-idempotency-key-header-07#section-";
    private static final String KEY_GUIDE = "</docs/idempotency>; rel=\"describedby\"; type=\"text/plain\"";

    private HttpProblemResponseMapper() {}

    public static ServerHttpResponse toResponse(SemelException error, UUID instance) {
        ErrorCode code = error.code();
        byte[] body = JSON.writeValueAsBytes(toDocument(error, instance));
        ServerHttpResponse answer = ServerHttpResponse.of(code.status(), "application/problem+json", body)
                .with("Cache-Control", "no-store")
                .with("Content-Language", "en");
        if (code.status() == 409) {
            // Common SDKs retry a 409 automatically unless this header is false.
            answer = answer.with("x-should-retry", String.valueOf(code.retryable()));
        }
        if (hasRetryAfter(code)) {
            answer = answer.with("Retry-After", retryAfter(error));
        }
        if (code == ErrorCode.OVER_QUOTA) {
            answer = rateLimit(answer, error);
        }
        return switch (code) {
            case IDEMPOTENCY_KEY_INVALID, IDEMPOTENCY_KEY_REQUIRED, IDEMPOTENCY_KEY_CONFLICT ->
                answer.with("Link", KEY_GUIDE);
            case UNAUTHENTICATED -> answer.with("WWW-Authenticate", "Bearer realm=\"semel\"");
            case WEBHOOK_SIGNATURE_INVALID, WEBHOOK_TIMESTAMP_OUT_OF_TOLERANCE ->
                answer.with("WWW-Authenticate", "Signature realm=\"semel webhooks\"");
            default -> answer;
        };
    }

    /** Adds the two headers of the IETF RateLimit draft; `t` equals Retry-After. */
    private static ServerHttpResponse rateLimit(ServerHttpResponse answer, SemelException error) {
        boolean complete = error.members().get("quota") instanceof String
                && error.members().get("limit") instanceof Number
                && error.members().get("window") instanceof Number;
        if (!complete) {
            return answer;
        }
        String policy = "\"" + error.members().get("quota") + "\"";
        return answer.with("RateLimit", policy + ";r=0;t=" + retryAfter(error))
                .with(
                        "RateLimit-Policy",
                        policy + ";q=" + error.members().get("limit") + ";w="
                                + error.members().get("window"));
    }

    /** Only the problem document, e.g. for one item of a batch. */
    public static ObjectNode toDocument(SemelException error, UUID instance) {
        ErrorCode code = error.code();
        ObjectNode out = JSON.createObjectNode()
                .put("type", "/problems/" + code.slug())
                .put("title", code.title())
                .put("status", code.status())
                .put("detail", error.detail())
                .put("instance", "urn:uuid:" + instance)
                .put("code", code.slug())
                .put("retryable", code.retryable())
                .put("fix", error.fix());
        error.members().forEach((name, value) -> {
            if (!out.has(name)) {
                out.set(name, JSON.valueToTree(value));
            }
        });
        String section = draftSection(code);
        if (section != null) {
            out.put("spec", DRAFT + section);
            if (!out.has("idempotency_key")) {
                out.putNull("idempotency_key");
            }
        }
        return out;
    }

    /** The section of the IETF draft that a problem with a key follows; null for other problems. */
    private static @Nullable String draftSection(ErrorCode code) {
        return switch (code) {
            case IDEMPOTENCY_KEY_INVALID, IDEMPOTENCY_KEY_REQUIRED -> "2.1";
            case IDEMPOTENCY_KEY_CONFLICT, DUPLICATE_PAYLOAD -> "2.2";
            case IDEMPOTENCY_KEY_IN_USE -> "2.6";
            default -> null;
        };
    }

    private static boolean hasRetryAfter(ErrorCode code) {
        return code.status() == 429 || code.status() == 503 || code.status() == 409 && code.retryable();
    }

    private static String retryAfter(SemelException error) {
        return error.members().get("retry_after") instanceof Number seconds
                ? String.valueOf(Math.max(1, seconds.longValue()))
                : "1";
    }
}
