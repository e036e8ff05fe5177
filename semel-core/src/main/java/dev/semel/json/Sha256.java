package dev.semel.json;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** SHA-256 and its keyed form HMAC-SHA-256, which every JDK has. */
public final class Sha256 {
    private static final String HMAC = "HmacSHA256";

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

    public static byte[] hmac(byte[] key, String text) {
        return hmac(key, text.getBytes(StandardCharsets.UTF_8));
    }

    /** The HMAC of the parts, one after the other. */
    public static byte[] hmac(byte[] key, byte[]... parts) {
        try {
            Mac mac = Mac.getInstance(HMAC);
            mac.init(new SecretKeySpec(key, HMAC));
            for (byte[] part : parts) {
                mac.update(part);
            }
            return mac.doFinal();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every JDK has HMAC-SHA-256", e);
        }
    }
}
