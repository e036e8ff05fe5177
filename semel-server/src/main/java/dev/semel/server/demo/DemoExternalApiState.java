package dev.semel.server.demo;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** The state of one fake provider: its calls, effects and remembered keys. Not thread-safe. */
final class DemoExternalApiState {
    /** Older entries are dropped, as real providers do after a while. */
    private static final int MAX_REMEMBERED = 10_000;

    private static final int SHORT_HASH = 8;

    private final DemoExternalApi provider;
    private final Map<String, ObjectNode> known = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, ObjectNode> eldest) {
            return size() > MAX_REMEMBERED;
        }
    };
    private long calls;
    private long effects;

    /**
     * A request to the provider.
     *
     * @param subPath the path after the provider's name
     * @param externalId from the query; may be empty
     * @param key the Idempotency-Key header; may be empty
     * @param body the JSON body
     */
    record ProviderRequest(boolean isRead, String subPath, String externalId, String key, JsonNode body) {}

    /** @param outcome the outcome in one word, for the list of recent calls */
    record ProviderResponse(int status, JsonNode body, String outcome) {}

    DemoExternalApiState(DemoExternalApi provider) {
        this.provider = provider;
    }

    long calls() {
        return calls;
    }

    long effects() {
        return effects;
    }

    /** Handles a request. Returns null, and does not count the call, if the provider has no such endpoint. */
    @Nullable
    ProviderResponse handle(ProviderRequest request) {
        boolean supported = switch (provider) {
            case PAYMENTS -> request.isRead() && !request.subPath().isEmpty();
            case LEADS -> request.subPath().isEmpty();
            case LICENSES, PICKS, PARCELS, MAIL, CHAT ->
                !request.isRead() && request.subPath().isEmpty();
        };
        if (!supported) {
            return null;
        }
        calls++;
        return switch (provider) {
            case PAYMENTS ->
                new ProviderResponse(200, object().put("id", request.subPath()).put("status", "succeeded"), "read");
            case LICENSES -> keyed(request, "serial", "LIC-");
            case PARCELS -> keyed(request, "tracking", "TRK-");
            case LEADS -> request.isRead() ? found(request.externalId()) : lead(request.body());
            case PICKS -> done(object().put("pick", effects + 1));
            case MAIL, CHAT -> done(object().put("id", "msg_" + (effects + 1)));
        };
    }

    private ProviderResponse done(ObjectNode answer) {
        effects++;
        return new ProviderResponse(200, answer, "done");
    }

    /** Derives the number from the key, so that it stays the same after a restart, which loses all keys. */
    private ProviderResponse keyed(ProviderRequest request, String member, String prefix) {
        ObjectNode before = request.key().isEmpty() ? null : known.get(request.key());
        if (before != null) {
            return new ProviderResponse(200, before, "remembered");
        }
        String identity = request.key().isEmpty() ? provider.pathName() + calls : request.key();
        ObjectNode answer = object().put(member, prefix + hash(identity));
        if (!request.key().isEmpty()) {
            known.put(request.key(), answer);
        }
        return done(answer);
    }

    private ProviderResponse lead(JsonNode body) {
        String id = body.path("external_id").asString("");
        if (id.isEmpty()) {
            return new ProviderResponse(400, object().put("error", "external_id is missing"), "rejected");
        }
        ObjectNode before = known.get(id);
        if (before != null) {
            return new ProviderResponse(409, before, "rejected");
        }
        ObjectNode lead = object().put("id", "lead_" + hash(id)).put("external_id", id);
        known.put(id, lead);
        return done(lead);
    }

    private ProviderResponse found(String externalId) {
        ObjectNode answer = object();
        ObjectNode lead = known.get(externalId);
        var items = answer.putArray("items");
        if (lead != null) {
            items.add(lead);
        }
        return new ProviderResponse(200, answer, "read");
    }

    private static ObjectNode object() {
        return JsonNodeFactory.instance.objectNode();
    }

    private static String hash(String text) {
        try {
            byte[] sha = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(sha).substring(0, SHORT_HASH);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }
}
