package dev.semel.server.connectors.webhooks;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * An unverified webhook request: its headers and raw body.
 *
 * @param headers all values of a header by its name
 * @param body the raw bytes that the signature covers
 * @param cloudEventHeaders all headers that begin with {@code ce-}, for CloudEvents in binary mode
 * @param urls the URLs with which the provider may have addressed this request, for signatures that cover the URL
 */
public record InboundWebhookRequest(
        Function<String, List<String>> headers,
        byte[] body,
        Map<String, List<String>> cloudEventHeaders,
        List<String> urls) {
    public InboundWebhookRequest(Function<String, List<String>> headers, byte[] body) {
        this(headers, body, Map.of(), List.of());
    }

    /** The value of the first of these headers that is present; null if none is, or one appears twice. */
    @Nullable
    String header(List<String> names) {
        for (String name : names) {
            List<String> lines = headers.apply(name);
            if (!lines.isEmpty()) {
                return lines.size() == 1 ? lines.getFirst() : null;
            }
        }
        return null;
    }

    /** Whether a header is present, once or several times. */
    boolean has(String name) {
        return !headers.apply(name).isEmpty();
    }

    @Nullable
    String header(@Nullable String name) {
        return name == null ? null : header(List.of(name));
    }

    /** Identifies a delivery whose provider sends no id; a repeat has the same body. */
    String bodyHash() {
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(body);
            return "sha256:" + HexFormat.of().formatHex(hash);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }
}
