package dev.semel.server.auth.oidc;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.Json;
import dev.semel.server.outbound.Answer;
import dev.semel.server.outbound.Auth;
import dev.semel.server.outbound.Form;
import dev.semel.server.outbound.Outbound;
import dev.semel.server.outbound.Request;
import dev.semel.workflow.Failures;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * HTTP client of an OpenID Connect provider: metadata, signing keys and the code exchange. Caches metadata for an hour
 * and keys for a minute, and reloads unknown keys, so that withdrawn keys expire.
 */
final class Discovery {
    private static final long KEPT = Duration.ofHours(1).toNanos();
    private static final long KEYS_KEPT = Duration.ofMinutes(1).toNanos();
    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final int LONGEST_ANSWER = 512 * 1024;

    private final Registration registration;
    private final Outbound outbound;
    private final LongSupplier nanos;
    private final ReentrantLock lock = new ReentrantLock();
    private @Nullable Description known;
    private long knownAt;
    private Keys keys = Keys.NONE;
    private long keysAt;

    Discovery(Registration registration, Outbound outbound, LongSupplier nanos) {
        this.registration = registration;
        this.outbound = outbound;
        this.nanos = nanos;
    }

    /**
     * The provider's metadata document.
     *
     * @param farewell logout URL; empty if there is none
     * @param secretInBody whether the client secret must be a form field
     */
    record Description(String authorize, String token, String keys, String farewell, boolean secretInBody) {}

    Description description() {
        lock.lock();
        try {
            Description kept = known;
            if (kept != null && nanos.getAsLong() - knownAt < KEPT) {
                return kept;
            }
            String base = registration.issuer().replaceFirst("/$", "");
            Description fresh = read(get(base + "/.well-known/openid-configuration"));
            known = fresh;
            knownAt = nanos.getAsLong();
            return fresh;
        } finally {
            lock.unlock();
        }
    }

    private Description read(JsonNode document) {
        if (!document.path("issuer").asString("").equals(registration.issuer())) {
            throw unavailable("reports another issuer than SEMEL_OIDC_ISSUER");
        }
        JsonNode ways = document.path("token_endpoint_auth_methods_supported");
        boolean basic = ways.isMissingNode();
        for (JsonNode way : ways) {
            basic |= way.asString("").equals("client_secret_basic");
        }
        String farewell = document.path("end_session_endpoint").asString("");
        return new Description(
                address(document, "authorization_endpoint"),
                address(document, "token_endpoint"),
                address(document, "jwks_uri"),
                Registration.safe(farewell) ? farewell : "",
                !basic);
    }

    private static String address(JsonNode document, String name) {
        String address = document.path(name).asString("");
        if (!Registration.safe(address)) {
            throw unavailable("has no https URL as its " + name);
        }
        return address;
    }

    /** The key of this id; reloads the key set once if it is unknown, since keys rotate. */
    Keys.@Nullable Key key(String id, Keys.Algorithm algorithm) {
        lock.lock();
        try {
            boolean old = nanos.getAsLong() - keysAt >= KEYS_KEPT;
            Keys.Key found = old ? null : keys.find(id, algorithm);
            if (found == null) {
                keys = Keys.read(get(description().keys()));
                keysAt = nanos.getAsLong();
                found = keys.find(id, algorithm);
            }
            return found;
        } finally {
            lock.unlock();
        }
    }

    /** Exchanges an authorization code for an ID token; the provider rejects a used code. */
    String token(String code, Round round) {
        Description at = description();
        Map<String, String> fields = new LinkedHashMap<>();
        fields.put("grant_type", "authorization_code");
        fields.put("code", code);
        fields.put("redirect_uri", registration.callback());
        fields.put("client_id", registration.client());
        fields.put("code_verifier", round.verifier());
        boolean secret = !registration.secret().isEmpty();
        if (secret && at.secretInBody()) {
            fields.put("client_secret", registration.secret());
        }
        Auth auth = secret && !at.secretInBody()
                // Both are form-encoded first (RFC 6749, 2.3.1), so that they may contain a colon.
                ? Auth.basic(Form.percent(registration.client()), Form.percent(registration.secret()))
                : Auth.NONE;
        byte[] body = Form.encoded(fields).getBytes(StandardCharsets.UTF_8);
        Answer answer = send(() -> Request.post(at.token(), Form.TYPE, body), auth);
        if (answer.status() >= 400 && answer.status() < 500) {
            throw SignOn.refused("The identity provider rejected the code of this login, which may have been used"
                    + " before");
        }
        String token = json(answer).path("id_token").asString("");
        if (token.isEmpty()) {
            throw SignOn.refused("The identity provider returned no ID token");
        }
        return token;
    }

    private JsonNode get(String url) {
        return json(send(() -> Request.get(url), Auth.NONE));
    }

    private Answer send(Supplier<Request> made, Auth auth) {
        try {
            Request request = made.get(); // the URL comes from the provider and may be invalid
            return outbound.send(
                    request.manner(request.manner().timeout(PATIENCE).longestAnswer(LONGEST_ANSWER)), auth);
        } catch (IOException | Failures.NotSent | Failures.NotKept e) {
            // These messages contain hosts and durations, never request data.
            throw unavailable("cannot be reached: " + e.getMessage());
        }
    }

    private static JsonNode json(Answer answer) {
        if (!answer.success()) {
            throw unavailable("responded with status " + answer.status());
        }
        try {
            return Json.parse(answer.body());
        } catch (SemelException e) {
            throw unavailable("responded with a body that is not JSON");
        }
    }

    private static SemelException unavailable(String why) {
        return new SemelException(
                ErrorCode.IDENTITY_PROVIDER_UNUSABLE,
                "The identity provider " + why + ". You are not logged in.",
                "Try again in a moment. Operators find the settings in docs/operate.md.");
    }
}
