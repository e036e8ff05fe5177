package dev.semel.admission;

import dev.semel.json.Sha256;
import java.nio.ByteBuffer;

/** All workers and repeats get the same answer, and a larger percentage includes a smaller one. */
public final class VersionRolloutBucket {
    private VersionRolloutBucket() {}

    /**
     * @param trial what is rolled out; it changes the hash, so that different rollouts affect different triggers
     * @param name the trigger's key, or the id of its run
     * @param share in per cent
     */
    public static boolean isInRollout(String trial, String name, int share) {
        byte[] hash = Sha256.digest(trial + "\n" + name);
        return Long.remainderUnsigned(ByteBuffer.wrap(hash).getLong(), 100) < share;
    }
}
