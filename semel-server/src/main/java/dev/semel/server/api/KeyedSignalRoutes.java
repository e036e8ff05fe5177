package dev.semel.server.api;

import dev.semel.runtime.KeyedSignals;
import dev.semel.runtime.SemelRuntime;
import dev.semel.admission.IdempotencyKey;
import dev.semel.server.http.HttpResponse;
import dev.semel.server.http.HttpRequest;
import dev.semel.store.KeyedSignalOperation;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Serves `POST /v1/signals/{name}`: sends a signal to the runs that wait for its key, without knowing their ids. */
final class KeyedSignalRoutes {
    private final SemelRuntime semel;

    KeyedSignalRoutes(SemelRuntime semel) {
        this.semel = semel;
    }

    /** The signal's id is the `Idempotency-Key` or the member `id`. Without either, each request is a new signal. */
    HttpResponse send(HttpRequest request) {
        JsonBody body = JsonBody.parse(request, Set.of("key", "data", "id"));
        String name = RunActionRoutes.signalNamed(request.parameter("name")).name();
        KeyedSignalOperation.SignalAddress to = address(request, name, body.text("key"));
        String id = id(request, body.text("id"));
        JsonNode data = body.value("data");
        JsonNode value = data == null ? JsonNodeFactory.instance.objectNode() : data;
        KeyedSignals.SignalDelivery sent =
                KeyedSignals.of(semel).send(to, value, id == null ? semel.newId().text() : id);
        HttpResponse answer = JsonViews.ok(response(to, id, sent));
        return sent.replayed() ? IdempotentActions.addReplayedHeaders(answer) : answer;
    }

    private static ObjectNode response(KeyedSignalOperation.SignalAddress to, @Nullable String id, KeyedSignals.SignalDelivery sent) {
        ObjectNode out = JsonViews.newObject();
        out.put("name", to.name()).put("key", to.key()).put("id", id);
        out.put("status", sent.runIds().isEmpty() ? "kept" : "delivered");
        ArrayNode runs = out.putArray("runs");
        sent.runIds().forEach(runs::add);
        out.put("kept_until", sent.runIds().isEmpty() ? JsonViews.formatTime(sent.storedUntil()) : null);
        return out.put("idempotent_replayed", sent.replayed());
    }

    private static KeyedSignalOperation.SignalAddress address(HttpRequest request, String name, String key) {
        try {
            return new KeyedSignalOperation.SignalAddress(request.principal().workspace(), name, key);
        } catch (IllegalArgumentException e) {
            throw RunActionRoutes.invalidRequest("key must be the key that runs wait for: 1 to 255 characters without"
                    + " control characters");
        }
    }

    private static @Nullable String id(HttpRequest request, String inBody) {
        IdempotencyKey header = IdempotencyKey.fromHeader(request.headerLines("Idempotency-Key"));
        String id = inBody.isEmpty() ? null : IdempotencyKey.of(inBody).text();
        if (header != null && id != null && !header.text().equals(id)) {
            throw RunActionRoutes.invalidRequest("id in the body differs from the Idempotency-Key");
        }
        return header != null ? header.text() : id;
    }
}
