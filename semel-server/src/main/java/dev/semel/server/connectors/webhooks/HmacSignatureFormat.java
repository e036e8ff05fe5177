package dev.semel.server.connectors.webhooks;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Base64;
import java.util.HexFormat;
import javax.crypto.spec.SecretKeySpec;

/** Signatures are compared as text, so nothing from an unverified sender is decoded. */
record HmacSignatureFormat(Algorithm algorithm, Encoding encoding) {
    static final HmacSignatureFormat SHA256_HEX = new HmacSignatureFormat(Algorithm.SHA256, Encoding.HEX);
    static final HmacSignatureFormat SHA256_BASE64 = new HmacSignatureFormat(Algorithm.SHA256, Encoding.BASE64);

    enum Algorithm {
        SHA256,
        SHA1,
        SHA512
    }

    enum Encoding {
        HEX,
        BASE64
    }

    /** @param parts hashed in this order */
    String compute(byte[] key, byte[]... parts) {
        String name = "Hmac" + algorithm.name();
        try {
            javax.crypto.Mac mac = javax.crypto.Mac.getInstance(name);
            mac.init(new SecretKeySpec(key, name));
            for (byte[] part : parts) {
                mac.update(part);
            }
            byte[] hash = mac.doFinal();
            return encoding == Encoding.HEX
                    ? HexFormat.of().formatHex(hash)
                    : Base64.getEncoder().encodeToString(hash);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every JDK has " + name, e);
        }
    }

    static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
