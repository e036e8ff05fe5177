package dev.semel.server.access;

import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.concurrent.Semaphore;
import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.PBEKeySpec;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** PBKDF2 with HMAC-SHA256. At most two are computed in parallel, which bounds the load of a login flood. */
record PasswordHash(int rounds, byte[] salt, byte[] hash) {
    static final int SALT_BYTES = 16;
    static final int SHORTEST = 10;
    static final int LONGEST = 200;
    private static final int ROUNDS = 600_000;
    private static final int BITS = 256;
    private static final Semaphore AT_WORK = new Semaphore(2);

    static PasswordHash of(String text, byte[] salt) {
        return new PasswordHash(ROUNDS, salt, derive(text, salt, ROUNDS));
    }

    boolean matches(String text) {
        return MessageDigest.isEqual(hash, derive(text, salt, rounds));
    }

    /** Does the work of a comparison for an unknown name, so that timing does not reveal which names exist. */
    static void simulateCheck(String text) {
        derive(text, new byte[SALT_BYTES], ROUNDS);
    }

    ObjectNode toJson() {
        return JsonNodeFactory.instance
                .objectNode()
                .put("scheme", "pbkdf2-sha256")
                .put("rounds", rounds)
                .put("salt", Base64.getEncoder().encodeToString(salt))
                .put("hash", Base64.getEncoder().encodeToString(hash));
    }

    static PasswordHash read(JsonNode node) {
        return new PasswordHash(
                node.path("rounds").asInt(),
                Base64.getDecoder().decode(node.path("salt").asString("")),
                Base64.getDecoder().decode(node.path("hash").asString("")));
    }

    private static byte[] derive(String text, byte[] salt, int rounds) {
        AT_WORK.acquireUninterruptibly();
        PBEKeySpec spec = new PBEKeySpec(text.toCharArray(), salt, rounds, BITS);
        try {
            return SecretKeyFactory.getInstance("PBKDF2WithHmacSHA256")
                    .generateSecret(spec)
                    .getEncoded();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every JDK has PBKDF2 with HMAC-SHA256", e);
        } finally {
            spec.clearPassword();
            AT_WORK.release();
        }
    }
}
