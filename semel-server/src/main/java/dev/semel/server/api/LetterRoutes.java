package dev.semel.server.api;

import dev.semel.Letters;
import dev.semel.Semel;
import dev.semel.key.IdempotencyKey;
import dev.semel.server.http.Answer;
import dev.semel.server.http.Request;
import dev.semel.store.Letter;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Serves `POST /v1/signals/{name}`: sends a signal to the runs that wait for its key, without knowing their ids. */
final class LetterRoutes {
    private final Semel semel;

    LetterRoutes(Semel semel) {
        this.semel = semel;
    }

    /** The signal's id is the `Idempotency-Key` or the member `id`. Without either, each request is a new signal. */
    Answer send(Request request) {
        Said body = Said.in(request, Set.of("key", "data", "id"));
        String name = RunActs.named(request.parameter("name")).name();
        Letter.Address to = address(request, name, body.text("key"));
        String id = id(request, body.text("id"));
        JsonNode data = body.value("data");
        JsonNode value = data == null ? JsonNodeFactory.instance.objectNode() : data;
        Letters.Sent sent =
                Letters.of(semel).send(to, value, id == null ? semel.newId().text() : id);
        Answer answer = Views.ok(response(to, id, sent));
        return sent.replayed() ? Deeds.replayed(answer) : answer;
    }

    private static ObjectNode response(Letter.Address to, @Nullable String id, Letters.Sent sent) {
        ObjectNode out = Views.object();
        out.put("name", to.name()).put("key", to.key()).put("id", id);
        out.put("status", sent.runs().isEmpty() ? "kept" : "delivered");
        ArrayNode runs = out.putArray("runs");
        sent.runs().forEach(runs::add);
        out.put("kept_until", sent.runs().isEmpty() ? Views.time(sent.until()) : null);
        return out.put("idempotent_replayed", sent.replayed());
    }

    private static Letter.Address address(Request request, String name, String key) {
        try {
            return new Letter.Address(request.principal().workspace(), name, key);
        } catch (IllegalArgumentException e) {
            throw RunActs.refused("key must be the key that runs wait for: 1 to 255 characters without"
                    + " control characters");
        }
    }

    private static @Nullable String id(Request request, String inBody) {
        IdempotencyKey header = IdempotencyKey.fromHeader(request.headerLines("Idempotency-Key"));
        String id = inBody.isEmpty() ? null : IdempotencyKey.of(inBody).text();
        if (header != null && id != null && !header.text().equals(id)) {
            throw RunActs.refused("id in the body differs from the Idempotency-Key");
        }
        return header != null ? header.text() : id;
    }
}
