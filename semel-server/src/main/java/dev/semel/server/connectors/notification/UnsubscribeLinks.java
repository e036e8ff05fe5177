package dev.semel.server.connectors.notification;

import dev.semel.error.SemelException;
import dev.semel.json.Sha256;
import dev.semel.json.StrictJsonCodec;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import java.util.Base64;
import java.util.Map;
import java.util.function.IntFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * Links with which a recipient unsubscribes from a notification (RFC 8058). A link contains the address and the topic,
 * encrypted and authenticated with the secret of the workspace, so nothing is stored for it and nobody can forge it.
 *
 * @param publicUrl the URL of this server; empty if it is unknown, then messages have no link
 * @param secrets the secret of a workspace; null if there is no such workspace
 */
public record UnsubscribeLinks(String publicUrl, IntFunction<byte @Nullable []> secrets) {
    public static final UnsubscribeLinks NONE = new UnsubscribeLinks("", _ -> null);
    public static final String PATH = "/v1/unsubscribe/";

    private static final Pattern FORM = Pattern.compile("([1-9][0-9]{0,8})-([A-Za-z0-9_-]{40,2000})");
    private static final int NONCE = 12;
    private static final int TAG_BITS = 128;

    /** @param address to which the message was sent */
    public record OptOut(int workspace, String address, String topic) {}

    /** The headers of a message; none if the URL of this server is unknown. The same in every attempt. */
    public Map<String, String> headers(OptOut optOut) {
        byte[] secret = publicUrl.isEmpty() ? null : secrets.apply(optOut.workspace());
        return secret == null
                ? Map.of()
                : Map.of(
                        "List-Unsubscribe",
                        "<" + publicUrl + PATH + token(optOut, secret) + ">",
                        "List-Unsubscribe-Post",
                        "List-Unsubscribe=One-Click");
    }

    private static String token(OptOut optOut, byte[] secret) {
        byte[] plain = StrictJsonCodec.bytes(
                JsonNodeFactory.instance.arrayNode().add(optOut.address()).add(optOut.topic()));
        // Derived from the content: the same content has the same nonce, and other content another one.
        byte[] nonce = Arrays.copyOf(hmac(secret, "unsubscribe nonce", plain), NONCE);
        byte[] sealed = crypt(Cipher.ENCRYPT_MODE, secret, nonce, plain);
        byte[] all = ByteBuffer.allocate(NONCE + sealed.length)
                .put(nonce)
                .put(sealed)
                .array();
        return optOut.workspace() + "-"
                + Base64.getUrlEncoder().withoutPadding().encodeToString(all);
    }

    /** Null if the token was not made for a workspace of this store. */
    public @Nullable OptOut parse(String token) {
        Matcher form = FORM.matcher(token);
        if (!form.matches()) {
            return null;
        }
        int workspace = Integer.parseInt(form.group(1));
        byte[] secret = secrets.apply(workspace);
        if (secret == null) {
            return null;
        }
        try {
            byte[] all = Base64.getUrlDecoder().decode(form.group(2));
            byte[] plain = crypt(
                    Cipher.DECRYPT_MODE, secret, Arrays.copyOf(all, NONCE), Arrays.copyOfRange(all, NONCE, all.length));
            JsonNode parts = StrictJsonCodec.parse(plain);
            return new OptOut(
                    workspace, parts.path(0).stringValue(), parts.path(1).stringValue());
        } catch (IllegalArgumentException | SemelException e) {
            return null; // another secret, or changed
        }
    }

    private static byte[] crypt(int mode, byte[] secret, byte[] nonce, byte[] text) {
        try {
            Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
            byte[] key = hmac(secret, "unsubscribe key", new byte[0]);
            cipher.init(mode, new SecretKeySpec(key, "AES"), new GCMParameterSpec(TAG_BITS, nonce));
            return cipher.doFinal(text);
        } catch (GeneralSecurityException e) {
            throw new IllegalArgumentException("the token is not valid", e);
        }
    }

    private static byte[] hmac(byte[] secret, String purpose, byte[] text) {
        return Sha256.hmac(secret, (purpose + "\n").getBytes(StandardCharsets.UTF_8), text);
    }
}
