package dev.semel.admission;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** All workers and repeats get the same answer, and a larger percentage includes a smaller one. */
public final class VersionRolloutBucket {
    private VersionRolloutBucket() {}

    /**
     * @param trial what is rolled out; it changes the hash, so that different rollouts affect different triggers
     * @param name the trigger's key, or the id of its run
     * @param share in per cent
     */
    public static boolean isInRollout(String trial, String name, int share) {
        try {
            MessageDigest sha = MessageDigest.getInstance("SHA-256");
            byte[] hash = sha.digest((trial + "\n" + name).getBytes(StandardCharsets.UTF_8));
            return Long.remainderUnsigned(ByteBuffer.wrap(hash).getLong(), 100) < share;
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }
}
