package dev.semel.server.api;

import dev.semel.error.SemelException;
import dev.semel.json.StrictJson;
import dev.semel.server.http.ProblemResponses;
import dev.semel.server.ingress.EventDeliveryResult;
import dev.semel.server.ingress.InboundEvent;
import dev.semel.store.StoredRows;
import java.util.Locale;
import java.util.UUID;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Renders inbound events and their delivery results as JSON. */
final class EventViews {
    private EventViews() {}

    static ObjectNode deliveryJson(InboundEvent event, EventDeliveryResult delivered, UUID instance) {
        ObjectNode out = JsonViews.newObject();
        out.putObject("event")
                .put("event_id", delivered.eventId())
                .put("source", event.source())
                .put("id", event.id())
                .put("type", event.type());
        out.put("matched", delivered.runs().size());
        out.put("idempotent_replayed", delivered.replayed());
        ArrayNode runs = out.putArray("runs");
        delivered.runs().forEach(run -> runs.add(started(run, instance)));
        notes(out, delivered);
        return out;
    }

    private static ObjectNode started(EventDeliveryResult.StartedRun run, UUID instance) {
        ObjectNode out = JsonViews.newObject().put("workflow", run.workflow()).put("workflow_id", run.workflowId());
        SemelException refused = run.rejection();
        if (refused != null) {
            out.putNull("run_id");
            out.set("problem", ProblemResponses.toDocument(refused, instance));
            return out;
        }
        out.put("run_id", run.runId().isEmpty() ? null : run.runId());
        out.put("idempotent_replayed", run.replayed());
        if (run.changed()) {
            out.put("payload_mismatch", true);
        }
        return out;
    }

    private static void notes(ObjectNode out, EventDeliveryResult delivered) {
        if (!delivered.skipped().isEmpty()) {
            ArrayNode notes = out.putArray("not_matched");
            delivered
                    .skipped()
                    .forEach(note ->
                            notes.addObject().put("workflow", note.workflow()).put("reason", note.reason()));
        }
    }

    static ObjectNode problemItem(SemelException e, UUID instance) {
        ObjectNode out = JsonViews.newObject().put("status_code", e.code().status());
        out.setAll(ProblemResponses.toDocument(e, instance));
        return out;
    }

    /**
     * A stored event. Lists omit large bodies (null).
     *
     * @param body the event with PII masked
     */
    static ObjectNode storedEventJson(StoredRows.EventRow event, JsonNode body) {
        ObjectNode out = JsonViews.newObject();
        out.put("event_id", event.eventId());
        out.put("kind", event.triggerSource().name().toLowerCase(Locale.ROOT));
        out.put("source", event.source());
        out.put("id", event.id());
        out.put("type", event.type());
        out.put("received_at", JsonViews.formatTime(event.at()));
        out.put("actor_id", event.actor());
        out.put("correlation_id", event.correlationId());
        out.put("matched", event.matched());
        out.set("not_matched", StrictJson.parse(event.notes()));
        out.set("event", body);
        return out;
    }
}
