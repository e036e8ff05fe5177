package dev.semel.server.outbound;

import dev.semel.workflow.Failures;
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
 * failed fetch is {@link Failures.NotSent}, since the actual request was not sent.
 */
final class Tokens {
    private static final int MOST_KEPT = 1_000;
    private static final Duration LONGEST_KEPT = Duration.ofDays(1);
    private static final Duration KEPT_WITHOUT_A_WORD = Duration.ofMinutes(1);
    private static final Duration EARLIER = Duration.ofSeconds(30);
    private static final Duration LONGEST_FETCH = Duration.ofSeconds(10);
    private static final int LONGEST_ANSWER = 64 * 1024;

    /** Sends one request to the token server. */
    interface Sender {
        Answer send(Request request) throws IOException;
    }

    /** @param fresh whether it was fetched for this request */
    record Token(Header header, boolean fresh) {}

    private record Kept(Header header, long until) {}

    /** The cache entry of one set of credentials; its lock makes other requests wait. */
    private static final class Slot {
        private final ReentrantLock lock = new ReentrantLock();
        private @Nullable Kept kept;
        private Failures.@Nullable NotSent failure;
        private long failedAt;
    }

    private final Sender sender;
    private final LongSupplier nanos;
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<Auth.ClientCredentials, Slot> slots = new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Auth.ClientCredentials, Slot> eldest) {
            return size() > MOST_KEPT;
        }
    };

    Tokens(Sender sender, LongSupplier nanos) {
        this.sender = sender;
        this.nanos = nanos;
    }

    Token token(Auth.ClientCredentials credentials) {
        Slot slot = entryFor(credentials);
        long asked = nanos.getAsLong();
        slot.lock.lock();
        try {
            Kept kept = slot.kept;
            if (kept != null && nanos.getAsLong() - kept.until() < 0) {
                return new Token(kept.header(), false);
            }
            Failures.NotSent failure = slot.failure;
            if (failure != null && slot.failedAt - asked > 0) {
                throw failure; // another request failed meanwhile; do not load a failing server
            }
            return new Token(fetch(slot, credentials).header(), true);
        } finally {
            slot.lock.unlock();
        }
    }

    /** Discards a rejected token, unless it was replaced meanwhile. */
    void refused(Auth.ClientCredentials credentials, Token token) {
        Slot slot = entryFor(credentials);
        slot.lock.lock();
        try {
            if (slot.kept != null && slot.kept.header().equals(token.header())) {
                slot.kept = null;
            }
        } finally {
            slot.lock.unlock();
        }
    }

    private Slot entryFor(Auth.ClientCredentials credentials) {
        lock.lock();
        try {
            return slots.computeIfAbsent(credentials, _ -> new Slot());
        } finally {
            lock.unlock();
        }
    }

    private Kept fetch(Slot slot, Auth.ClientCredentials credentials) {
        slot.kept = null;
        slot.failure = null;
        try {
            Kept fresh = fetch(credentials);
            slot.kept = fresh;
            return fresh;
        } catch (Failures.NotSent e) {
            slot.failure = e;
            slot.failedAt = nanos.getAsLong();
            throw e;
        }
    }

    private Kept fetch(Auth.ClientCredentials credentials) {
        String host = credentials.tokenUrl().authority();
        long asked = nanos.getAsLong();
        Answer answer;
        try {
            answer = sender.send(request(credentials));
        } catch (IOException | RuntimeException e) {
            throw new Failures.NotSent("the token server " + host + " could not be reached, so the request was"
                    + " not sent", e);
        }
        if (!answer.success()) {
            throw new Failures.NotSent(
                    "the token server " + host + " responded with HTTP status " + answer.status()
                            + ", so the request was not sent",
                    null);
        }
        JsonNode body = answer.json();
        String token = body.path("access_token").asString("");
        String type = body.path("token_type").asString("bearer");
        if (token.isEmpty() || !type.equalsIgnoreCase("bearer")) {
            throw new Failures.NotSent(
                    "the response of the token server " + host + " has no bearer token, so the request was not sent",
                    null);
        }
        return new Kept(
                Header.secret("Authorization", "Bearer " + token),
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

    private static Request request(Auth.ClientCredentials credentials) {
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
        Request request = new Request(
                "POST",
                credentials.tokenUrl(),
                List.of(Header.of("Content-Type", Form.TYPE), Header.of("Accept", "application/json")),
                Form.encoded(form).getBytes(StandardCharsets.UTF_8),
                new Request.Manner(LONGEST_FETCH, LONGEST_ANSWER, 0, false));
        if (credentials.inBody()) {
            return request;
        }
        // RFC 6749, 2.3.1: both are form-encoded before they become basic auth.
        String id = URLEncoder.encode(credentials.id(), StandardCharsets.UTF_8);
        String secret = URLEncoder.encode(credentials.secret(), StandardCharsets.UTF_8);
        return Auth.basic(id, secret) instanceof Auth.Fixed(Header header) ? request.with(header) : request;
    }
}
