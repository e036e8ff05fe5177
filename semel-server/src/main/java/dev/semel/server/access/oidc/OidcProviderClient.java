package dev.semel.server.access.oidc;

import dev.semel.definition.ResultNotRecordable;
import dev.semel.error.ErrorCode;
import dev.semel.error.RequestNotSent;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJsonCodec;
import dev.semel.server.connectors.outbound.FormUrlEncoder;
import dev.semel.server.connectors.outbound.OutboundHttpClient;
import dev.semel.server.connectors.outbound.OutboundRequest;
import dev.semel.server.connectors.outbound.OutboundRequestAuth;
import dev.semel.server.connectors.outbound.OutboundResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * HTTP client of an OpenID Connect provider: metadata, signing keys and the code exchange. Caches metadata for an hour
 * and keys for a minute, and reloads unknown keys, so that withdrawn keys expire.
 */
final class OidcProviderClient {
    private static final long KEPT = Duration.ofHours(1).toNanos();
    private static final long KEYS_KEPT = Duration.ofMinutes(1).toNanos();
    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final int LONGEST_ANSWER = 512 * 1024;
    /** Requests in progress. A provider that hangs must not hold all request threads of the server. */
    private static final int MOST_REQUESTS = 16;

    private final OidcClientSettings registration;
    private final OutboundHttpClient outbound;
    private final LongSupplier nanos;
    private final Semaphore requests = new Semaphore(MOST_REQUESTS);
    private final SharedFetch<ProviderMetadata> metadata;
    private final SharedFetch<JsonWebKeySet> keys;

    OidcProviderClient(OidcClientSettings registration, OutboundHttpClient outbound, LongSupplier nanos) {
        this.registration = registration;
        this.outbound = outbound;
        this.nanos = nanos;
        String base = registration.issuer().replaceFirst("/$", "");
        this.metadata = new SharedFetch<>(() -> read(get(base + "/.well-known/openid-configuration")), nanos);
        this.keys = new SharedFetch<>(() -> JsonWebKeySet.read(get(metadata().keys())), nanos);
    }

    /**
     * @param endSession logout URL; empty if there is none
     * @param secretInBody whether the client secret must be a form field
     */
    record ProviderMetadata(String authorize, String token, String keys, String endSession, boolean secretInBody) {}

    ProviderMetadata metadata() {
        return metadata.fetchedSince(nanos.getAsLong() - KEPT);
    }

    private ProviderMetadata read(JsonNode document) {
        if (!document.path("issuer").asString("").equals(registration.issuer())) {
            throw unavailable("reports an issuer that differs from SEMEL_OIDC_ISSUER");
        }
        JsonNode ways = document.path("token_endpoint_auth_methods_supported");
        boolean basic = ways.isMissingNode();
        for (JsonNode way : ways) {
            basic |= way.asString("").equals("client_secret_basic");
        }
        String farewell = document.path("end_session_endpoint").asString("");
        return new ProviderMetadata(
                address(document, "authorization_endpoint"),
                address(document, "token_endpoint"),
                address(document, "jwks_uri"),
                OidcClientSettings.isSecureUrl(farewell) ? farewell : "",
                !basic);
    }

    private static String address(JsonNode document, String name) {
        String address = document.path(name).asString("");
        if (!OidcClientSettings.isSecureUrl(address)) {
            throw unavailable("has no https URL as its " + name);
        }
        return address;
    }

    /** The key of this id; reloads the key set once if it is unknown, since keys rotate. */
    JsonWebKeySet.@Nullable Key key(String id, JsonWebKeySet.Algorithm algorithm) {
        long now = nanos.getAsLong();
        JsonWebKeySet.Key known = keys.fetchedSince(now - KEYS_KEPT).find(id, algorithm);
        return known == null ? keys.fetchedSince(now).find(id, algorithm) : known;
    }

    /** Exchanges an authorization code for an ID token; the provider rejects a used code. */
    String exchangeCode(String code, OidcLoginState round) {
        ProviderMetadata at = metadata();
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
        OutboundRequestAuth auth = secret && !at.secretInBody()
                // Both are form-encoded first (RFC 6749, 2.3.1), so that they may contain a colon.
                ? OutboundRequestAuth.basic(
                        FormUrlEncoder.percentEncode(registration.client()),
                        FormUrlEncoder.percentEncode(registration.secret()))
                : OutboundRequestAuth.NONE;
        byte[] body = FormUrlEncoder.encode(fields).getBytes(StandardCharsets.UTF_8);
        OutboundResponse answer = send(() -> OutboundRequest.post(at.token(), FormUrlEncoder.TYPE, body), auth);
        if (answer.status() >= 400 && answer.status() < 500) {
            throw OidcIdentityProvider.rejection(
                    "The identity provider rejected the code of this login, which may have been used before");
        }
        String token = json(answer).path("id_token").asString("");
        if (token.isEmpty()) {
            throw OidcIdentityProvider.rejection("The identity provider returned no ID token");
        }
        return token;
    }

    private JsonNode get(String url) {
        return json(send(() -> OutboundRequest.get(url), OutboundRequestAuth.NONE));
    }

    private OutboundResponse send(Supplier<OutboundRequest> made, OutboundRequestAuth auth) {
        if (!requests.tryAcquire()) {
            throw unavailable("is slow, and " + MOST_REQUESTS + " logins already wait for it");
        }
        try {
            OutboundRequest request = made.get(); // the URL comes from the provider and may be invalid
            return outbound.send(
                    request.options(request.options().timeout(PATIENCE).maxResponseBytes(LONGEST_ANSWER)), auth);
        } catch (IOException | RequestNotSent | ResultNotRecordable e) {
            // These messages contain hosts and durations, never request data.
            throw unavailable("cannot be reached: " + e.getMessage());
        } finally {
            requests.release();
        }
    }

    private static JsonNode json(OutboundResponse answer) {
        if (!answer.isSuccess()) {
            throw unavailable("responded with status " + answer.status());
        }
        try {
            return StrictJsonCodec.parse(answer.body());
        } catch (SemelException e) {
            throw unavailable("responded with a body that is not JSON");
        }
    }

    static SemelException unavailable(String why) {
        return new SemelException(
                ErrorCode.IDENTITY_PROVIDER_UNUSABLE,
                "The identity provider " + why + ". You are not logged in.",
                "Try again in a moment. Operators find the settings in docs/operate.md.");
    }
}
