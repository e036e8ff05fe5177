package dev.semel.server.settings;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * The keys that secrets are encrypted with, from the environment and never from the store. The first one encrypts; all of
 * them decrypt, so that a key can be replaced while secrets still lie under the old one.
 */
public final class SecretKeys {
    static final int NONCE_BYTES = 12;
    private static final int KEY_BYTES = 32;
    private static final int TAG_BITS = 128;
    private static final int MOST_KEYS = 10;

    /** How to make a key, for every text that asks for one. */
    public static final String HOW_TO_MAKE_ONE = "export SEMEL_SECRET_KEY=\"$(openssl rand -base64 32)\"";

    private final List<Key> keys;

    /** @param id says which key it was, and nothing about it */
    private record Key(String id, SecretKeySpec spec) {}

    private SecretKeys(List<Key> keys) {
        this.keys = List.copyOf(keys);
    }

    public static SecretKeys none() {
        return new SecretKeys(List.of());
    }

    /** Keys in base64, separated by commas; no text: no key. */
    public static SecretKeys of(String text) {
        List<Key> keys = new ArrayList<>();
        for (String one : text.isBlank() ? new String[0] : text.strip().split(",", -1)) {
            keys.add(key(one.strip(), keys.size() + 1));
        }
        if (keys.size() > MOST_KEYS) {
            throw unusable("holds more than " + MOST_KEYS + " keys");
        }
        return new SecretKeys(keys);
    }

    private static Key key(String base64, int number) {
        byte[] bytes;
        try {
            bytes = Base64.getDecoder().decode(base64);
        } catch (IllegalArgumentException e) {
            throw unusable("holds something else than base64 as its key number " + number);
        }
        if (bytes.length != KEY_BYTES) {
            throw unusable("holds " + bytes.length + " bytes as its key number " + number + ", not " + KEY_BYTES);
        }
        return new Key(id(bytes), new SecretKeySpec(bytes, "AES"));
    }

    private static SemelException unusable(String what) {
        return new SemelException(
                ErrorCode.SECRET_KEY_UNUSABLE,
                "SEMEL_SECRET_KEY " + what + ". No secret was read or stored.",
                "Make a key: " + HOW_TO_MAKE_ONE + ". Several are separated by commas, the newest first.");
    }

    private static String id(byte[] key) {
        try {
            MessageDigest sha = MessageDigest.getInstance("SHA-256");
            sha.update("semel secret key\n".getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(sha.digest(key), 0, 4);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }

    public boolean isEmpty() {
        return keys.isEmpty();
    }

    /** Which key encrypts now; null where there is none. */
    @Nullable
    String first() {
        return keys.isEmpty() ? null : keys.getFirst().id();
    }

    boolean has(String id) {
        return keys.stream().anyMatch(key -> key.id().equals(id));
    }

    /** A text under a key. */
    record Sealed(String key, byte[] nonce, byte[] text) {}

    /** @param about what the text belongs to: under another name or in another workspace it does not open */
    Sealed seal(byte[] nonce, String about, String plain) {
        if (keys.isEmpty()) {
            throw new SemelException(
                    ErrorCode.SECRET_KEY_UNUSABLE,
                    "This server has no key for secrets: SEMEL_SECRET_KEY is not set. The secret was not stored.",
                    "Start the server with a key: " + HOW_TO_MAKE_ONE
                            + ". Keep the key where the store's backup is not.");
        }
        Key key = keys.getFirst();
        try {
            Cipher cipher = cipher(Cipher.ENCRYPT_MODE, key, nonce, about);
            return new Sealed(key.id(), nonce.clone(), cipher.doFinal(plain.getBytes(StandardCharsets.UTF_8)));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every JDK has AES-GCM", e);
        }
    }

    /** @param name of the secret, for the text of a refusal */
    String open(Sealed sealed, String about, String name) {
        Key key = keys.stream()
                .filter(one -> one.id().equals(sealed.key()))
                .findFirst()
                .orElseThrow(() -> new SemelException(
                        ErrorCode.SECRET_KEY_UNUSABLE,
                        "Secret " + name + " was encrypted with key " + sealed.key() + ", and this server has "
                                + (keys.isEmpty() ? "none" : "another one") + ". It was not read and nothing was sent.",
                        "Add the old key to SEMEL_SECRET_KEY behind a comma, or store the secret again."));
        try {
            byte[] plain =
                    cipher(Cipher.DECRYPT_MODE, key, sealed.nonce(), about).doFinal(sealed.text());
            String text = new String(plain, StandardCharsets.UTF_8);
            Arrays.fill(plain, (byte) 0);
            return text;
        } catch (GeneralSecurityException e) {
            throw new SemelException(
                    ErrorCode.SECRET_KEY_UNUSABLE,
                    "Secret " + name + " does not open with its key: what the store holds of it was changed. It was not"
                            + " read and nothing was sent.",
                    "Store the secret again.");
        }
    }

    private static Cipher cipher(int mode, Key key, byte[] nonce, String about) throws GeneralSecurityException {
        Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
        cipher.init(mode, key.spec(), new GCMParameterSpec(TAG_BITS, nonce));
        cipher.updateAAD(about.getBytes(StandardCharsets.UTF_8));
        return cipher;
    }

    /** Never what it holds. */
    @Override
    public String toString() {
        return keys.size() + " keys for secrets";
    }
}
