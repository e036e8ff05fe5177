package dev.semel.server.access.oidc;

import dev.semel.error.SemelException;
import dev.semel.json.StrictJsonCodec;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.Signature;
import java.time.Instant;
import java.util.Base64;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Verification checks algorithm, signature, issuer, audience, nonce and times before any claim is used. */
record IdToken(JsonNode claims) {
    private static final int LONGEST = 64 * 1024;
    private static final int LONGEST_SUBJECT = 255;
    private static final long LENIENCE_SECONDS = 60;

    record ExpectedClaims(String issuer, String client, String nonce, Instant now) {}

    /** @param keys looks up the key of this id and algorithm; null if the provider has none */
    static IdToken verify(
            String token,
            ExpectedClaims wanted,
            BiFunction<String, JsonWebKeySet.Algorithm, JsonWebKeySet.@Nullable Key> keys) {
        String[] parts = token.split("\\.", -1);
        if (token.length() > LONGEST || parts.length != 3) {
            throw rejected("is malformed");
        }
        JsonNode head = json(parts[0]);
        JsonWebKeySet.Algorithm algorithm =
                JsonWebKeySet.Algorithm.of(head.path("alg").asString(""));
        if (algorithm == null) {
            throw rejected("is not signed with RS256 or ES256");
        }
        if (head.has("crit")) {
            throw rejected("requires an extension that this server does not support");
        }
        JsonWebKeySet.Key key = keys.apply(head.path("kid").asString(""), algorithm);
        if (key == null) {
            throw rejected("is signed with a key that the provider does not have");
        }
        if (!hasValidSignature(parts, key)) {
            throw rejected("has an invalid signature");
        }
        IdToken proved = new IdToken(json(parts[1]));
        proved.check(wanted);
        return proved;
    }

    private static boolean hasValidSignature(String[] parts, JsonWebKeySet.Key key) {
        try {
            Signature signature = Signature.getInstance(key.algorithm().signature());
            signature.initVerify(key.key());
            signature.update((parts[0] + "." + parts[1]).getBytes(StandardCharsets.UTF_8));
            return signature.verify(Base64.getUrlDecoder().decode(parts[2]));
        } catch (GeneralSecurityException | IllegalArgumentException e) {
            return false;
        }
    }

    private void check(ExpectedClaims wanted) {
        if (!text("iss").equals(wanted.issuer())) {
            throw rejected("comes from another issuer");
        }
        Set<String> audience = texts(claims.path("aud"));
        boolean named = text("azp").equals(wanted.client());
        if (!audience.contains(wanted.client()) || !named && (audience.size() > 1 || claims.has("azp"))) {
            throw rejected("was issued for another application");
        }
        if (!OidcLoginState.same(text("nonce"), wanted.nonce())) {
            throw rejected("belongs to another login");
        }
        long now = wanted.now().getEpochSecond();
        if (claims.path("exp").asLong(0) <= now - LENIENCE_SECONDS) {
            throw rejected("has expired");
        }
        if (Math.max(claims.path("iat").asLong(0), claims.path("nbf").asLong(0)) > now + LENIENCE_SECONDS) {
            throw rejected("was issued in the future; check the clocks");
        }
        if (subject().isEmpty() || subject().length() > LONGEST_SUBJECT) {
            throw rejected("has no subject");
        }
    }

    String subject() {
        return text("sub");
    }

    /** The preferred user name. */
    String name() {
        for (String claim : new String[] {"preferred_username", "email", "name"}) {
            if (!text(claim).isBlank()) {
                return text(claim);
            }
        }
        return subject();
    }

    /** The text values of a claim, by its name or by a dotted path to a nested claim. */
    Set<String> groups(String path) {
        if (claims.has(path)) {
            return texts(claims.path(path));
        }
        JsonNode at = claims;
        for (String part : path.split("\\.")) {
            at = at.path(part);
        }
        return texts(at);
    }

    private String text(String claim) {
        return claims.path(claim).isString() ? claims.path(claim).asString() : "";
    }

    private static Set<String> texts(JsonNode node) {
        Set<String> texts = new LinkedHashSet<>();
        if (node.isString()) {
            texts.add(node.asString());
        }
        for (JsonNode one : node.isArray() ? node : StrictJsonCodec.parse("[]")) {
            if (one.isString()) {
                texts.add(one.asString());
            }
        }
        return texts;
    }

    private static JsonNode json(String part) {
        try {
            return StrictJsonCodec.parse(Base64.getUrlDecoder().decode(part));
        } catch (IllegalArgumentException | SemelException e) {
            throw rejected("is malformed");
        }
    }

    private static SemelException rejected(String why) {
        return OidcIdentityProvider.rejection("The ID token of the identity provider " + why);
    }

    @Override
    public String toString() {
        return "an ID token";
    }
}
