package dev.semel.server.access.oidc;

import dev.semel.json.Sha256;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * State of one OpenID Connect login. State, nonce and PKCE verifier derive from one secret in a browser cookie, so the
 * server stores nothing and any worker can finish. The cookie is authenticated with a key that all workers share, so
 * that only a login that this server started makes a request to the provider.
 *
 * @param endsAt in seconds since 1970
 */
record OidcLoginState(String secret, String next, long endsAt) {
    static final int SECRET_BYTES = 32;

    /** How long a login may take. */
    static final Duration LIFETIME = Duration.ofMinutes(10);

    private static final int LONGEST = 1_600;
    private static final Pattern FORM =
            Pattern.compile("([A-Za-z0-9_-]{43})\\.([A-Za-z0-9_-]*)\\.([0-9]{1,12})\\.([A-Za-z0-9_-]{43})");

    static OidcLoginState of(byte[] random, String next, Instant now) {
        return new OidcLoginState(encode(random), next, now.plus(LIFETIME).getEpochSecond());
    }

    String cookie(byte[] key) {
        String content = content();
        return content + "." + authenticate(key, content);
    }

    private String content() {
        return secret + "." + encode(next.getBytes(StandardCharsets.UTF_8)) + "." + endsAt;
    }

    /** Returns null if the cookie was not made with this key, or is too old. */
    static @Nullable OidcLoginState read(@Nullable String cookie, byte[] key, Instant now) {
        if (cookie == null || cookie.length() > LONGEST) {
            return null;
        }
        Matcher parts = FORM.matcher(cookie);
        if (!parts.matches()) {
            return null;
        }
        String content = cookie.substring(0, cookie.lastIndexOf('.'));
        if (!same(parts.group(4), authenticate(key, content))
                || Long.parseLong(parts.group(3)) < now.getEpochSecond()) {
            return null;
        }
        try {
            byte[] next = Base64.getUrlDecoder().decode(parts.group(2));
            return new OidcLoginState(
                    parts.group(1), new String(next, StandardCharsets.UTF_8), Long.parseLong(parts.group(3)));
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

    private static String authenticate(byte[] key, String content) {
        return encode(Sha256.hmac(key, "semel oidc cookie\n" + content));
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
        return encode(Sha256.digest(verifier()));
    }

    private String derive(String use) {
        return encode(Sha256.digest("semel oidc " + use + " " + secret));
    }

    static boolean same(String one, String other) {
        return MessageDigest.isEqual(one.getBytes(StandardCharsets.UTF_8), other.getBytes(StandardCharsets.UTF_8));
    }

    private static String encode(byte[] bytes) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }

    @Override
    public String toString() {
        return "a login that continues at " + next;
    }
}
