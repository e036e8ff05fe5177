package dev.semel.run;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/**
 * Depends on the first run of the lineage, the path and the name, never on a position or an attempt: retries, recovery,
 * takeover and safe replay use the same id. It is the default effect key.
 */
public record StepId(String text) {
    public static StepId of(RunId lineage, String path) {
        try {
            MessageDigest sha = MessageDigest.getInstance("SHA-256");
            sha.update(lineage.bytes());
            sha.update(path.getBytes(StandardCharsets.UTF_8));
            ByteBuffer digest = ByteBuffer.wrap(sha.digest());
            return new StepId("step_" + Base62.encode(digest.getLong(), digest.getLong()));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }
}
