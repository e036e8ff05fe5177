package dev.semel.key;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/**
 * Who is in a share. By a hash, so that every worker draws the same lot for the same name, a repeat draws it again, and
 * whoever is in a small share is also in a larger one.
 */
public final class Lot {
    private Lot() {}

    /**
     * @param trial what is being tried: each draws anew, so that it is not always the same who try
     * @param name of the trigger: its key, or the id of its run
     * @param share in per cent
     */
    public static boolean takes(String trial, String name, int share) {
        try {
            MessageDigest sha = MessageDigest.getInstance("SHA-256");
            byte[] hash = sha.digest((trial + "\n" + name).getBytes(StandardCharsets.UTF_8));
            return Long.remainderUnsigned(ByteBuffer.wrap(hash).getLong(), 100) < share;
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }
}
