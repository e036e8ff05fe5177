package dev.semel.trials.dashboard;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.MessageDigest;
import java.security.Signature;
import java.security.interfaces.ECPublicKey;
import java.security.interfaces.RSAPublicKey;
import java.security.spec.ECGenParameterSpec;
import java.time.Instant;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BinaryOperator;
import java.util.function.Consumer;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * An OpenID Connect provider with real keys behind a real port. Whoever comes is logged in as the person it was notified; a
 * code is good once, for the verifier of its challenge and for the client's secret. It can be notified to lie.
 */
final class TestOidcProvider implements AutoCloseable {
    static final String CLIENT = "semel-trials";
    static final String SECRET = "a secret: 100% of it";

    private static final JsonMapper JSON = JsonMapper.shared();

    private final HttpServer server;
    private final Map<String, ObjectNode> codes = new ConcurrentHashMap<>();
    private final AtomicInteger numbers = new AtomicInteger();
    final AtomicInteger askedForKeys = new AtomicInteger();
    final AtomicInteger tokenRequests = new AtomicInteger();
    volatile KeyPair key = rsa();
    volatile String keyId = "k1";

    /** The claims of whoever comes next. */
    volatile Consumer<ObjectNode> claims = _ -> {};

    /** Makes the token of these claims; {@link #signed} unless reported. */
    volatile BinaryOperator<String> signing = this::signed;

    volatile String head = "";

    TestOidcProvider() {
        try {
            server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        server.createContext("/.well-known/openid-configuration", exchange -> answer(exchange, 200, description()));
        server.createContext("/authorize", this::authorize);
        server.createContext("/token", this::token);
        server.createContext("/keys", exchange -> {
            askedForKeys.incrementAndGet();
            answer(exchange, 200, keys());
        });
        server.createContext("/farewell", exchange -> {
            exchange.getResponseHeaders().add("Content-Type", "text/html");
            text(exchange, 200, "<!doctype html><title>Left</title><h1>Logged out of everything</h1>");
        });
        server.createContext("/favicon.ico", exchange -> text(exchange, 204, ""));
        server.start();
        honest();
    }

    String issuer() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    /** Says the truth again. */
    void honest() {
        claims = _ -> {};
        signing = this::signed;
        head = "{\"alg\":\"" + (key.getPublic() instanceof RSAPublicKey ? "RS256" : "ES256") + "\",\"kid\":\"" + keyId
                + "\"}";
    }

    /** Signs with another key from now on, and tells only that one. */
    void rotate(KeyPair other, String id) {
        key = other;
        keyId = id;
        honest();
    }

    static KeyPair rsa() {
        return made("RSA", generator -> generator.initialize(2_048));
    }

    static KeyPair elliptic() {
        return made("EC", generator -> {
            try {
                generator.initialize(new ECGenParameterSpec("secp256r1"));
            } catch (GeneralSecurityException e) {
                throw new IllegalStateException(e);
            }
        });
    }

    private static KeyPair made(String type, Consumer<KeyPairGenerator> how) {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance(type);
            how.accept(generator);
            return generator.generateKeyPair();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private ObjectNode description() {
        return JSON.createObjectNode()
                .put("issuer", issuer())
                .put("authorization_endpoint", issuer() + "/authorize?tenant=trials")
                .put("token_endpoint", issuer() + "/token")
                .put("jwks_uri", issuer() + "/keys")
                .put("end_session_endpoint", issuer() + "/farewell");
    }

    private ObjectNode keys() {
        ObjectNode out = JSON.createObjectNode();
        ObjectNode one = out.putArray("keys").addObject().put("kid", keyId).put("use", "sig");
        if (key.getPublic() instanceof RSAPublicKey rsa) {
            one.put("kty", "RSA").put("n", number(rsa.getModulus())).put("e", number(rsa.getPublicExponent()));
        } else if (key.getPublic() instanceof ECPublicKey elliptic) {
            one.put("kty", "EC")
                    .put("crv", "P-256")
                    .put("x", number(elliptic.getW().getAffineX()))
                    .put("y", number(elliptic.getW().getAffineY()));
        }
        return out;
    }

    private static String number(BigInteger number) {
        byte[] bytes = number.toByteArray();
        int from = bytes[0] == 0 ? 1 : 0;
        return encoded(java.util.Arrays.copyOfRange(bytes, from, bytes.length));
    }

    /** Nobody is asked anything: the browser is sent back with a code. */
    private void authorize(HttpExchange exchange) throws IOException {
        Map<String, String> asked = fields(exchange.getRequestURI().getRawQuery());
        String code = "code-" + numbers.incrementAndGet();
        ObjectNode known = JSON.createObjectNode();
        asked.forEach(known::put);
        codes.put(code, known);
        String back = Objects.requireNonNull(asked.get("redirect_uri")) + "?code=" + code + "&state="
                + Objects.requireNonNull(asked.get("state")) + "&iss=" + issuer();
        exchange.getResponseHeaders().add("Location", back);
        text(exchange, 303, "");
    }

    private void token(HttpExchange exchange) throws IOException {
        tokenRequests.incrementAndGet();
        Map<String, String> asked =
                fields(new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
        ObjectNode known = codes.remove(asked.getOrDefault("code", ""));
        String basic = encodedPlain(CLIENT + ":" + percent(SECRET));
        boolean good = known != null
                && ("Basic " + basic).equals(exchange.getRequestHeaders().getFirst("Authorization"))
                && known.path("redirect_uri").asString("").equals(asked.get("redirect_uri"))
                && known.path("code_challenge").asString("").equals(challenge(asked.getOrDefault("code_verifier", "")));
        if (known == null || !good) {
            answer(exchange, 400, JSON.createObjectNode().put("error", "invalid_grant"));
            return;
        }
        long now = Instant.now().getEpochSecond();
        ObjectNode said = JSON.createObjectNode()
                .put("iss", issuer())
                .put("sub", "s-1")
                .put("aud", CLIENT)
                .put("nonce", known.path("nonce").asString(""))
                .put("iat", now)
                .put("exp", now + 300)
                .put("preferred_username", "olga@trials.example");
        said.putArray("groups").add("everyone").add("ops");
        claims.accept(said);
        String token = signing.apply(head, JSON.writeValueAsString(said));
        answer(
                exchange,
                200,
                JSON.createObjectNode()
                        .put("token_type", "Bearer")
                        .put("access_token", "none")
                        .put("id_token", token));
    }

    /** Head and claims with the signature of our own key. */
    String signed(String header, String payload) {
        String both = encoded(header) + "." + encoded(payload);
        String algorithm = key.getPublic() instanceof RSAPublicKey ? "SHA256withRSA" : "SHA256withECDSAinP1363Format";
        try {
            Signature signature = Signature.getInstance(algorithm);
            signature.initSign(key.getPrivate());
            signature.update(both.getBytes(StandardCharsets.UTF_8));
            return both + "." + encoded(signature.sign());
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The old trick: the public key, which everybody has, as the secret of an HMAC. */
    String confused(String header, String payload) {
        String both = encoded(header) + "." + encoded(payload);
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(key.getPublic().getEncoded(), "HmacSHA256"));
            return both + "." + encoded(mac.doFinal(both.getBytes(StandardCharsets.UTF_8)));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    static String encoded(String text) {
        return encoded(text.getBytes(StandardCharsets.UTF_8));
    }

    private static String encoded(byte[] bytes) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }

    private static String encodedPlain(String text) {
        return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
    }

    private static String percent(String text) {
        return java.net.URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }

    private static String challenge(String verifier) {
        try {
            return encoded(MessageDigest.getInstance("SHA-256").digest(verifier.getBytes(StandardCharsets.US_ASCII)));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Map<String, String> fields(String text) {
        Map<String, String> out = new HashMap<>();
        for (String pair : text.split("&")) {
            int equals = pair.indexOf('=');
            out.put(
                    URLDecoder.decode(pair.substring(0, equals), StandardCharsets.UTF_8),
                    URLDecoder.decode(pair.substring(equals + 1), StandardCharsets.UTF_8));
        }
        return out;
    }

    private static void answer(HttpExchange exchange, int status, ObjectNode body) throws IOException {
        exchange.getResponseHeaders().add("Content-Type", "application/json");
        text(exchange, status, body.toString());
    }

    private static void text(HttpExchange exchange, int status, String text) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
        exchange.getResponseBody().write(bytes);
        exchange.close();
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
