package dev.semel.server.access;

import dev.semel.server.http.CpuWorkPool;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.Base64;
import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.PBEKeySpec;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * PBKDF2 with HMAC-SHA256. Few are computed in parallel, and one caller has few places, which bounds the load of a login
 * flood.
 */
record PasswordHash(int rounds, byte[] salt, byte[] hash) {
    static final int SALT_BYTES = 16;
    static final int SHORTEST = 10;
    static final int LONGEST = 200;
    private static final int ROUNDS = 600_000;
    private static final int BITS = 256;
    private static final CpuWorkPool HASHING =
            new CpuWorkPool(CpuWorkPool.WorkLimits.of("password checks", 64, 16, Duration.ofSeconds(20)));

    /** @param caller address or user who causes the work */
    static PasswordHash of(String text, byte[] salt, String caller) {
        return new PasswordHash(ROUNDS, salt, derive(text, salt, ROUNDS, caller));
    }

    /** @param caller address or user who causes the work */
    boolean matches(String text, String caller) {
        return MessageDigest.isEqual(hash, derive(text, salt, rounds, caller));
    }

    /** Does the work of a comparison for an unknown name, so that timing does not reveal which names exist. */
    static void simulateCheck(String text, String caller) {
        derive(text, new byte[SALT_BYTES], ROUNDS, caller);
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

    private static byte[] derive(String text, byte[] salt, int rounds, String caller) {
        try {
            return HASHING.run(caller, () -> derive(text, salt, rounds));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("the request was interrupted", e);
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException("every JDK has PBKDF2 with HMAC-SHA256", e);
        }
    }

    private static byte[] derive(String text, byte[] salt, int rounds) throws GeneralSecurityException {
        PBEKeySpec spec = new PBEKeySpec(text.toCharArray(), salt, rounds, BITS);
        try {
            return SecretKeyFactory.getInstance("PBKDF2WithHmacSHA256")
                    .generateSecret(spec)
                    .getEncoded();
        } finally {
            spec.clearPassword();
        }
    }
}
