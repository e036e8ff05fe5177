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

/** From the environment, never from the store. The first key encrypts and all decrypt, which allows rotation. */
public final class SecretEncryptionKeys {
    static final int NONCE_BYTES = 12;
    private static final int KEY_BYTES = 32;
    private static final int TAG_BITS = 128;
    private static final int MOST_KEYS = 10;

    /** The command that creates a key, for messages. */
    public static final String CREATE_KEY_COMMAND = "export SEMEL_SECRET_KEY=\"$(openssl rand -base64 32)\"";

    private final List<Key> keys;

    /** @param id identifies the key without revealing it */
    private record Key(String id, SecretKeySpec spec) {}

    private SecretEncryptionKeys(List<Key> keys) {
        this.keys = List.copyOf(keys);
    }

    /** Parses comma-separated base64 keys; empty text: no key. */
    public static SecretEncryptionKeys of(String text) {
        List<Key> keys = new ArrayList<>();
        for (String one : text.isBlank() ? new String[0] : text.strip().split(",", -1)) {
            keys.add(key(one.strip(), keys.size() + 1));
        }
        if (keys.size() > MOST_KEYS) {
            throw unusable("contains more than " + MOST_KEYS + " keys");
        }
        return new SecretEncryptionKeys(keys);
    }

    private static Key key(String base64, int number) {
        byte[] bytes;
        try {
            bytes = Base64.getDecoder().decode(base64);
        } catch (IllegalArgumentException e) {
            throw unusable("is not valid: key number " + number + " must be base64");
        }
        if (bytes.length != KEY_BYTES) {
            throw unusable(
                    "is not valid: key number " + number + " has " + bytes.length + " bytes instead of " + KEY_BYTES);
        }
        return new Key(id(bytes), new SecretKeySpec(bytes, "AES"));
    }

    private static SemelException unusable(String what) {
        return new SemelException(
                ErrorCode.SECRET_KEY_UNUSABLE,
                "SEMEL_SECRET_KEY " + what + ". No secret was read or stored.",
                "Create a key: " + CREATE_KEY_COMMAND + ". Separate several keys by commas, the newest first.");
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

    /** Id of the key that encrypts; null if there is none. */
    @Nullable
    String currentKeyId() {
        return keys.isEmpty() ? null : keys.getFirst().id();
    }

    boolean has(String id) {
        return keys.stream().anyMatch(key -> key.id().equals(id));
    }

    record EncryptedText(String key, byte[] nonce, byte[] text) {}

    /** @param about authenticated context: decryption fails under another name or workspace */
    EncryptedText encrypt(byte[] nonce, String about, String plain) {
        if (keys.isEmpty()) {
            throw new SemelException(
                    ErrorCode.SECRET_KEY_UNUSABLE,
                    "This server has no key to encrypt secrets: SEMEL_SECRET_KEY is not set. The secret was not"
                            + " stored.",
                    "Start the server with a key: " + CREATE_KEY_COMMAND
                            + ". Do not store the key together with backups of the store.");
        }
        Key key = keys.getFirst();
        try {
            Cipher cipher = cipher(Cipher.ENCRYPT_MODE, key, nonce, about);
            return new EncryptedText(key.id(), nonce.clone(), cipher.doFinal(plain.getBytes(StandardCharsets.UTF_8)));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every JDK has AES-GCM", e);
        }
    }

    /** @param name secret name for the error message */
    String decrypt(EncryptedText sealed, String about, String name) {
        Key key = keys.stream()
                .filter(one -> one.id().equals(sealed.key()))
                .findFirst()
                .orElseThrow(() -> new SemelException(
                        ErrorCode.SECRET_KEY_UNUSABLE,
                        "Secret " + name + " is encrypted with key " + sealed.key() + ", and this server has "
                                + (keys.isEmpty() ? "no key" : "another key")
                                + ". The secret was not read and nothing was sent.",
                        "Append the old key to SEMEL_SECRET_KEY after a comma, or store the secret again."));
        try {
            byte[] plain =
                    cipher(Cipher.DECRYPT_MODE, key, sealed.nonce(), about).doFinal(sealed.text());
            String text = new String(plain, StandardCharsets.UTF_8);
            Arrays.fill(plain, (byte) 0);
            return text;
        } catch (GeneralSecurityException e) {
            throw new SemelException(
                    ErrorCode.SECRET_KEY_UNUSABLE,
                    "Secret " + name
                            + " cannot be decrypted with its key: its stored value was changed. The secret was not"
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

    /** Never shows a key. */
    @Override
    public String toString() {
        return keys.size() + " keys for secrets";
    }
}
