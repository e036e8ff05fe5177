package dev.semel.server.access.oidc;

import java.math.BigInteger;
import java.security.AlgorithmParameters;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PublicKey;
import java.security.spec.ECGenParameterSpec;
import java.security.spec.ECParameterSpec;
import java.security.spec.ECPoint;
import java.security.spec.ECPublicKeySpec;
import java.security.spec.RSAPublicKeySpec;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** The public signing keys of an identity provider (JWKS). Keys for unsupported algorithms are skipped. */
record JsonWebKeySet(List<Key> all) {
    static final JsonWebKeySet NONE = new JsonWebKeySet(List.of());
    private static final int MOST = 100;
    private static final int FEWEST_BITS = 2_048;

    /** @param id empty if the provider sets none */
    record Key(String id, Algorithm algorithm, PublicKey key) {}

    /** The supported signature algorithms; `none` and shared-secret algorithms are excluded. */
    enum Algorithm {
        RS256("RSA", "SHA256withRSA"),
        ES256("EC", "SHA256withECDSAinP1363Format");

        private final String type;
        private final String signature;

        Algorithm(String type, String signature) {
            this.type = type;
            this.signature = signature;
        }

        String signature() {
            return signature;
        }

        static @Nullable Algorithm of(String word) {
            for (Algorithm one : values()) {
                if (one.name().equals(word)) {
                    return one;
                }
            }
            return null;
        }
    }

    static JsonWebKeySet read(JsonNode document) {
        List<Key> keys = new ArrayList<>();
        for (JsonNode node : document.path("keys")) {
            Key key = keys.size() < MOST ? key(node) : null;
            if (key != null) {
                keys.add(key);
            }
        }
        return new JsonWebKeySet(List.copyOf(keys));
    }

    /**
     * The key that a token names, for its algorithm; if it names none, the only key. Null if there is none: the
     * provider may have rotated keys.
     */
    @Nullable
    Key find(String id, Algorithm algorithm) {
        List<Key> fitting = all.stream()
                .filter(key -> key.algorithm() == algorithm)
                .filter(key -> id.isEmpty() || key.id().equals(id))
                .toList();
        return fitting.size() == 1 ? fitting.getFirst() : null;
    }

    private static @Nullable Key key(JsonNode node) {
        String use = node.path("use").asString("sig");
        String named = node.path("alg").asString("");
        for (Algorithm algorithm : Algorithm.values()) {
            if (algorithm.type.equals(node.path("kty").asString(""))
                    && use.equals("sig")
                    && (named.isEmpty() || named.equals(algorithm.name()))) {
                try {
                    PublicKey key = algorithm == Algorithm.RS256 ? rsa(node) : ellipticCurve(node);
                    return key == null ? null : new Key(node.path("kid").asString(""), algorithm, key);
                } catch (GeneralSecurityException | IllegalArgumentException e) {
                    return null; // skip an invalid key
                }
            }
        }
        return null;
    }

    private static @Nullable PublicKey rsa(JsonNode node) throws GeneralSecurityException {
        BigInteger modulus = number(node, "n");
        return modulus.bitLength() < FEWEST_BITS
                ? null
                : KeyFactory.getInstance("RSA").generatePublic(new RSAPublicKeySpec(modulus, number(node, "e")));
    }

    private static @Nullable PublicKey ellipticCurve(JsonNode node) throws GeneralSecurityException {
        if (!node.path("crv").asString("").equals("P-256")) {
            return null;
        }
        AlgorithmParameters curve = AlgorithmParameters.getInstance("EC");
        curve.init(new ECGenParameterSpec("secp256r1"));
        ECPoint point = new ECPoint(number(node, "x"), number(node, "y"));
        return KeyFactory.getInstance("EC")
                .generatePublic(new ECPublicKeySpec(point, curve.getParameterSpec(ECParameterSpec.class)));
    }

    private static BigInteger number(JsonNode node, String name) {
        return new BigInteger(1, Base64.getUrlDecoder().decode(node.path(name).asString("")));
    }
}
