package dev.semel.server.connectors.outbound;

import dev.semel.error.RequestNotSent;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * In-memory cache of OAuth 2 access tokens from client credentials. One request fetches a token while others wait. A
 * failed fetch is {@link RequestNotSent}, since the actual request was not sent.
 */
final class OutboundOAuthTokenCache {
    private static final int MOST_KEPT = 1_000;
    private static final Duration LONGEST_KEPT = Duration.ofDays(1);
    private static final Duration KEPT_WITHOUT_A_WORD = Duration.ofMinutes(1);
    private static final Duration EARLIER = Duration.ofSeconds(30);
    private static final Duration LONGEST_FETCH = Duration.ofSeconds(10);
    private static final int LONGEST_ANSWER = 64 * 1024;

    interface Sender {
        OutboundResponse send(OutboundRequest request) throws IOException;
    }

    /** @param fresh whether it was fetched for this request */
    record AccessToken(OutboundRequestHeader header, boolean fresh) {}

    private record CachedToken(OutboundRequestHeader header, long until) {}

    /** The cache entry of one set of credentials; its lock makes other requests wait. */
    private static final class CacheEntry {
        private final ReentrantLock lock = new ReentrantLock();
        private @Nullable CachedToken cachedToken;
        private @Nullable RequestNotSent failure;
        private long failedAt;
    }

    private final Sender sender;
    private final LongSupplier nanos;
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<OutboundRequestAuth.ClientCredentials, CacheEntry> slots = new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<OutboundRequestAuth.ClientCredentials, CacheEntry> eldest) {
            return size() > MOST_KEPT;
        }
    };

    OutboundOAuthTokenCache(Sender sender, LongSupplier nanos) {
        this.sender = sender;
        this.nanos = nanos;
    }

    AccessToken token(OutboundRequestAuth.ClientCredentials credentials) {
        CacheEntry slot = entryFor(credentials);
        long asked = nanos.getAsLong();
        slot.lock.lock();
        try {
            CachedToken cachedToken = slot.cachedToken;
            if (cachedToken != null && nanos.getAsLong() - cachedToken.until() < 0) {
                return new AccessToken(cachedToken.header(), false);
            }
            RequestNotSent failure = slot.failure;
            if (failure != null && slot.failedAt - asked > 0) {
                throw failure; // another request failed meanwhile; do not load a failing server
            }
            return new AccessToken(fetch(slot, credentials).header(), true);
        } finally {
            slot.lock.unlock();
        }
    }

    /** Discards a rejected token, unless it was replaced meanwhile. */
    void discard(OutboundRequestAuth.ClientCredentials credentials, AccessToken token) {
        CacheEntry slot = entryFor(credentials);
        slot.lock.lock();
        try {
            if (slot.cachedToken != null && slot.cachedToken.header().equals(token.header())) {
                slot.cachedToken = null;
            }
        } finally {
            slot.lock.unlock();
        }
    }

    private CacheEntry entryFor(OutboundRequestAuth.ClientCredentials credentials) {
        lock.lock();
        try {
            return slots.computeIfAbsent(credentials, _ -> new CacheEntry());
        } finally {
            lock.unlock();
        }
    }

    private CachedToken fetch(CacheEntry slot, OutboundRequestAuth.ClientCredentials credentials) {
        slot.cachedToken = null;
        slot.failure = null;
        try {
            CachedToken fresh = fetch(credentials);
            slot.cachedToken = fresh;
            return fresh;
        } catch (RequestNotSent e) {
            slot.failure = e;
            slot.failedAt = nanos.getAsLong();
            throw e;
        }
    }

    private CachedToken fetch(OutboundRequestAuth.ClientCredentials credentials) {
        String host = credentials.tokenUrl().authority();
        long asked = nanos.getAsLong();
        OutboundResponse answer;
        try {
            answer = sender.send(request(credentials));
        } catch (IOException | RuntimeException e) {
            throw new RequestNotSent(
                    "the token server " + host + " could not be reached, so the request was not sent", e);
        }
        if (!answer.isSuccess()) {
            throw new RequestNotSent(
                    "the token server " + host + " responded with HTTP status " + answer.status()
                            + ", so the request was not sent",
                    null);
        }
        JsonNode body = answer.json();
        String token = body.path("access_token").asString("");
        String type = body.path("token_type").asString("bearer");
        if (token.isEmpty() || !type.equalsIgnoreCase("bearer")) {
            throw new RequestNotSent(
                    "the response of the token server " + host + " has no bearer token, so the request was not sent",
                    null);
        }
        return new CachedToken(
                OutboundRequestHeader.secret("Authorization", "Bearer " + token),
                asked + cacheDuration(body).toNanos());
    }

    /** The cache duration, slightly shorter than the token's lifetime and counted from the request. */
    private static Duration cacheDuration(JsonNode body) {
        long seconds = body.path("expires_in").asLong(-1);
        if (seconds < 0) {
            return KEPT_WITHOUT_A_WORD;
        }
        Duration said = Duration.ofSeconds(Math.min(seconds, LONGEST_KEPT.toSeconds()));
        Duration tenth = said.dividedBy(10);
        return said.minus(tenth.compareTo(EARLIER) < 0 ? tenth : EARLIER);
    }

    private static OutboundRequest request(OutboundRequestAuth.ClientCredentials credentials) {
        Map<String, String> form = new LinkedHashMap<>();
        form.put("grant_type", "client_credentials");
        if (!credentials.scope().isEmpty()) {
            form.put("scope", credentials.scope());
        }
        if (!credentials.audience().isEmpty()) {
            form.put("audience", credentials.audience());
        }
        if (credentials.inBody()) {
            form.put("client_id", credentials.id());
            form.put("client_secret", credentials.secret());
        }
        OutboundRequest request = new OutboundRequest(
                "POST",
                credentials.tokenUrl(),
                List.of(
                        OutboundRequestHeader.of("Content-Type", FormUrlEncoder.TYPE),
                        OutboundRequestHeader.of("Accept", "application/json")),
                FormUrlEncoder.encode(form).getBytes(StandardCharsets.UTF_8),
                new OutboundRequest.SendOptions(LONGEST_FETCH, LONGEST_ANSWER, 0, false));
        if (credentials.inBody()) {
            return request;
        }
        // RFC 6749, 2.3.1: both are form-encoded before they become basic auth.
        String id = URLEncoder.encode(credentials.id(), StandardCharsets.UTF_8);
        String secret = URLEncoder.encode(credentials.secret(), StandardCharsets.UTF_8);
        return OutboundRequestAuth.basic(id, secret) instanceof OutboundRequestAuth.Fixed(OutboundRequestHeader header)
                ? request.with(header)
                : request;
    }
}
