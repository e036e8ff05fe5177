package dev.semel.server.operations;

import dev.semel.idempotency.CanonicalJsonWriter;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.List;
import tools.jackson.databind.JsonNode;

/**
 * @param operation the kind of change; the same key may be used for different operations
 * @param parts the values that define the change; other values with the same key are a conflict
 */
public record ActionRequest(String operation, List<String> parts) {
    public ActionRequest(String operation, String... parts) {
        this(operation, List.of(parts));
    }

    /** A JSON value as a part: equal for every order of its members. */
    public static String canonical(JsonNode json) {
        return new String(CanonicalJsonWriter.bytes(json), StandardCharsets.UTF_8);
    }

    byte[] digest() {
        try {
            MessageDigest sha = MessageDigest.getInstance("SHA-256");
            for (String word : parts) {
                byte[] bytes = word.getBytes(StandardCharsets.UTF_8);
                // The length first, so that two different lists never have the same bytes.
                sha.update((bytes.length + "\n").getBytes(StandardCharsets.UTF_8));
                sha.update(bytes);
            }
            return sha.digest();
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }
}
