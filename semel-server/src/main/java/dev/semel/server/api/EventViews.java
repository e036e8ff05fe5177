package dev.semel.server.api;

import dev.semel.error.SemelException;
import dev.semel.json.Json;
import dev.semel.server.doors.Delivered;
import dev.semel.server.doors.Event;
import dev.semel.server.http.Problems;
import dev.semel.store.Rows;
import java.util.Locale;
import java.util.UUID;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Renders inbound events and their delivery results as JSON. */
final class EventViews {
    private EventViews() {}

    static ObjectNode delivered(Event event, Delivered delivered, UUID instance) {
        ObjectNode out = Views.object();
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

    private static ObjectNode started(Delivered.Started run, UUID instance) {
        ObjectNode out = Views.object().put("workflow", run.workflow()).put("workflow_id", run.workflowId());
        SemelException refused = run.refused();
        if (refused != null) {
            out.putNull("run_id");
            out.set("problem", Problems.document(refused, instance));
            return out;
        }
        out.put("run_id", run.runId().isEmpty() ? null : run.runId());
        out.put("idempotent_replayed", run.replayed());
        if (run.changed()) {
            out.put("payload_mismatch", true);
        }
        return out;
    }

    private static void notes(ObjectNode out, Delivered delivered) {
        if (!delivered.notes().isEmpty()) {
            ArrayNode notes = out.putArray("not_matched");
            delivered
                    .notes()
                    .forEach(note ->
                            notes.addObject().put("workflow", note.workflow()).put("reason", note.reason()));
        }
    }

    static ObjectNode problem(SemelException e, UUID instance) {
        ObjectNode out = Views.object().put("status_code", e.code().status());
        out.setAll(Problems.document(e, instance));
        return out;
    }

    /**
     * A stored event. Lists omit large bodies (null).
     *
     * @param body the event with PII masked
     */
    static ObjectNode kept(Rows.Event event, JsonNode body) {
        ObjectNode out = Views.object();
        out.put("event_id", event.eventId());
        out.put("door", event.door().name().toLowerCase(Locale.ROOT));
        out.put("source", event.source());
        out.put("id", event.id());
        out.put("type", event.type());
        out.put("received_at", Views.time(event.at()));
        out.put("actor_id", event.actor());
        out.put("correlation_id", event.correlationId());
        out.put("matched", event.matched());
        out.set("not_matched", Json.parse(event.notes()));
        out.set("event", body);
        return out;
    }
}
