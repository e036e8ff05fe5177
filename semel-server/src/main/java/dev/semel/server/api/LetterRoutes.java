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

/** `POST /v1/signals/{name}`: a signal for whoever waits with its key, sent by somebody who does not know the run. */
final class LetterRoutes {
    private final Semel semel;

    LetterRoutes(Semel semel) {
        this.semel = semel;
    }

    /** The id of the letter is the key of the request, or stands in its body; without any, each request is another. */
    Answer send(Request request) {
        Said said = Said.in(request, Set.of("key", "data", "id"));
        String name = RunActs.named(request.parameter("name")).name();
        Letter.Address to = address(request, name, said.text("key"));
        String id = id(request, said.text("id"));
        JsonNode data = said.value("data");
        JsonNode value = data == null ? JsonNodeFactory.instance.objectNode() : data;
        Letters.Sent sent =
                Letters.of(semel).send(to, value, id == null ? semel.newId().text() : id);
        Answer answer = Views.ok(body(to, id, sent));
        return sent.replayed() ? Deeds.replayed(answer) : answer;
    }

    private static ObjectNode body(Letter.Address to, @Nullable String id, Letters.Sent sent) {
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
            throw RunActs.refused("key is the key with which runs wait for the signal: 1 to 255 characters and no"
                    + " control characters");
        }
    }

    private static @Nullable String id(Request request, String said) {
        IdempotencyKey header = IdempotencyKey.fromHeader(request.headerLines("Idempotency-Key"));
        String id = said.isEmpty() ? null : IdempotencyKey.of(said).text();
        if (header != null && id != null && !header.text().equals(id)) {
            throw RunActs.refused("The id in the body differs from the Idempotency-Key");
        }
        return header != null ? header.text() : id;
    }
}
