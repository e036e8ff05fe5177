package dev.semel.server.operations.run;

import dev.semel.idempotency.IdempotencyKey;
import dev.semel.runtime.KeyedSignalSender;
import dev.semel.runtime.SemelRuntime;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.http.ServerHttpResponse;
import dev.semel.server.operations.InboundJsonRequestBody;
import dev.semel.server.query.ApiErrors;
import dev.semel.server.query.RunJsonRenderer;
import dev.semel.store.KeyedSignalStoreWriteCommand;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Serves `POST /v1/signals/{name}`: sends a signal to the runs that wait for its key, without knowing their ids. */
public record KeyedSignalRoutes(SemelRuntime semel) {
    /** The signal's id is the `Idempotency-Key` or the member `id`. Without either, each request is a new signal. */
    public ServerHttpResponse send(ServerHttpRequest request) {
        InboundJsonRequestBody body = InboundJsonRequestBody.parse(request, Set.of("key", "data", "id"));
        String name =
                RunCancelAndSignalRoutes.signalNamed(request.parameter("name")).name();
        KeyedSignalStoreWriteCommand.SignalAddress to = address(request, name, body.text("key"));
        String id = id(request, body.text("id"));
        JsonNode data = body.value("data");
        JsonNode value = data == null ? JsonNodeFactory.instance.objectNode() : data;
        KeyedSignalSender.SignalDelivery sent = KeyedSignalSender.of(semel)
                .send(to, value, id == null ? semel.newId().text() : id);
        return RunJsonRenderer.ok(response(to, id, sent), sent.replayed());
    }

    private static ObjectNode response(
            KeyedSignalStoreWriteCommand.SignalAddress to, @Nullable String id, KeyedSignalSender.SignalDelivery sent) {
        ObjectNode out = RunJsonRenderer.newObject();
        out.put("name", to.name()).put("key", to.key()).put("id", id);
        out.put("status", sent.runIds().isEmpty() ? "stored" : "delivered");
        sent.runIds().forEach(out.putArray("runs")::add);
        out.put("stored_until", sent.runIds().isEmpty() ? RunJsonRenderer.formatTime(sent.storedUntil()) : null);
        return out.put("idempotent_replayed", sent.replayed());
    }

    private static KeyedSignalStoreWriteCommand.SignalAddress address(
            ServerHttpRequest request, String name, String key) {
        try {
            return new KeyedSignalStoreWriteCommand.SignalAddress(
                    request.principal().workspace(), name, key);
        } catch (IllegalArgumentException e) {
            throw ApiErrors.invalidRequest(
                    "key must be the key that runs wait for: 1 to 255 characters without control characters");
        }
    }

    private static @Nullable String id(ServerHttpRequest request, String inBody) {
        IdempotencyKey header = IdempotencyKey.fromHeader(request.headerLines("Idempotency-Key"));
        String id = inBody.isEmpty() ? null : IdempotencyKey.of(inBody).text();
        if (header != null && id != null && !header.text().equals(id)) {
            throw ApiErrors.invalidRequest("`id` in the body differs from the Idempotency-Key");
        }
        return header != null ? header.text() : id;
    }
}
