package dev.semel.json;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** SHA-256, which every JDK has. */
public final class Sha256 {
    private Sha256() {}

    /** Returns an empty digest, for data that arrive in parts. */
    public static MessageDigest begin() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }

    /** Hashes these bytes, one after the other. */
    public static byte[] digest(byte[]... parts) {
        MessageDigest digest = begin();
        for (byte[] part : parts) {
            digest.update(part);
        }
        return digest.digest();
    }

    public static byte[] digest(String text) {
        return digest(text.getBytes(StandardCharsets.UTF_8));
    }

    public static String hex(String text) {
        return HexFormat.of().formatHex(digest(text));
    }
}
