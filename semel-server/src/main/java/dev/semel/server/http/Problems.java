package dev.semel.server.http;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import java.util.UUID;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** Errors as RFC 9457 problem documents, with the headers that make clients do the right thing by themselves. */
public final class Problems {
    private static final JsonMapper JSON = JsonMapper.shared();
    private static final String KEY_GUIDE = "</docs/idempotency>; rel=\"describedby\"; type=\"text/plain\"";

    private Problems() {}

    public static Answer answer(SemelException error, UUID instance) {
        ErrorCode code = error.code();
        byte[] body = JSON.writeValueAsBytes(document(error, instance));
        Answer answer = Answer.of(code.status(), "application/problem+json", body)
                .with("Cache-Control", "no-store")
                .with("Content-Language", "en");
        if (code.status() == 409) {
            // Clients of the common SDK family retry a 409 by themselves unless this says not to.
            answer = answer.with("x-should-retry", String.valueOf(code.retryable()));
        }
        if (comesBack(code)) {
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

    /** The two fields of the IETF's RateLimit draft; `t` and Retry-After say the same. */
    private static Answer rateLimit(Answer answer, SemelException error) {
        boolean told = error.members().get("quota") instanceof String
                && error.members().get("limit") instanceof Number
                && error.members().get("window") instanceof Number;
        if (!told) {
            return answer;
        }
        String policy = "\"" + error.members().get("quota") + "\"";
        return answer.with("RateLimit", policy + ";r=0;t=" + retryAfter(error))
                .with(
                        "RateLimit-Policy",
                        policy + ";q=" + error.members().get("limit") + ";w="
                                + error.members().get("window"));
    }

    /** The document alone, e.g. for one item of a batch. */
    public static ObjectNode document(SemelException error, UUID instance) {
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
        return out;
    }

    private static boolean comesBack(ErrorCode code) {
        return code.status() == 429 || code.status() == 503 || code.status() == 409 && code.retryable();
    }

    private static String retryAfter(SemelException error) {
        return error.members().get("retry_after") instanceof Number seconds
                ? String.valueOf(Math.max(1, seconds.longValue()))
                : "1";
    }
}
