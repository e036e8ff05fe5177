package dev.semel.server.access.oidc;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/**
 * State of one OpenID Connect login. State, nonce and PKCE verifier derive from one secret in a browser cookie, so the
 * server stores nothing and any worker can finish.
 */
record OidcLoginState(String secret, String next) {
    static final int SECRET_BYTES = 32;
    private static final int LONGEST = 1_500;

    static OidcLoginState of(byte[] random, String next) {
        return new OidcLoginState(encode(random), next);
    }

    String cookie() {
        return secret + "." + encode(next.getBytes(StandardCharsets.UTF_8));
    }

    static @Nullable OidcLoginState read(@Nullable String cookie) {
        if (cookie == null || cookie.length() > LONGEST || !cookie.matches("[A-Za-z0-9_-]{43}\\.[A-Za-z0-9_-]*")) {
            return null;
        }
        try {
            int dot = cookie.indexOf('.');
            byte[] next = Base64.getUrlDecoder().decode(cookie.substring(dot + 1));
            return new OidcLoginState(cookie.substring(0, dot), new String(next, StandardCharsets.UTF_8));
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

    String state() {
        return derive("state");
    }

    String nonce() {
        return derive("nonce");
    }

    String verifier() {
        return derive("verifier");
    }

    /** The PKCE challenge that is sent before the verifier. */
    String challenge() {
        return encode(digest(verifier()));
    }

    private String derive(String use) {
        return encode(digest("semel oidc " + use + " " + secret));
    }

    static boolean same(String one, String other) {
        return MessageDigest.isEqual(one.getBytes(StandardCharsets.UTF_8), other.getBytes(StandardCharsets.UTF_8));
    }

    private static String encode(byte[] bytes) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }

    private static byte[] digest(String text) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }

    @Override
    public String toString() {
        return "a login that continues at " + next;
    }
}
