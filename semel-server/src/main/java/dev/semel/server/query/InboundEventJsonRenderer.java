package dev.semel.server.query;

import dev.semel.error.SemelException;
import dev.semel.json.StrictJsonCodec;
import dev.semel.server.connectors.ingress.InboundEvent;
import dev.semel.server.connectors.ingress.InboundEventResult;
import dev.semel.server.http.HttpProblemResponseMapper;
import dev.semel.store.DatabaseRows;
import java.util.Locale;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReferenceArray;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

public final class InboundEventJsonRenderer {
    private InboundEventJsonRenderer() {}

    public static ObjectNode deliveryJson(InboundEvent event, InboundEventResult delivered, UUID instance) {
        ObjectNode out = RunJsonRenderer.newObject();
        out.putObject("event")
                .put("event_id", delivered.eventId())
                .put("source", event.source())
                .put("id", event.id())
                .put("type", event.type());
        out.put("matched", delivered.runs().size());
        out.put("idempotent_replayed", delivered.replayed());
        delivered.runs().stream().map(run -> started(run, instance)).forEach(out.putArray("runs")::add);
        notes(out, delivered);
        return out;
    }

    private static ObjectNode started(InboundEventResult.StartedRun run, UUID instance) {
        ObjectNode out =
                RunJsonRenderer.newObject().put("workflow", run.workflow()).put("workflow_id", run.workflowId());
        SemelException rejection = run.rejection();
        if (rejection != null) {
            out.putNull("run_id");
            out.set("problem", HttpProblemResponseMapper.toDocument(rejection, instance));
            return out;
        }
        out.put("run_id", run.runId().isEmpty() ? null : run.runId());
        out.put("idempotent_replayed", run.replayed());
        if (run.changed()) {
            out.put("payload_mismatch", true);
        }
        return out;
    }

    private static void notes(ObjectNode out, InboundEventResult delivered) {
        if (!delivered.skipped().isEmpty()) {
            ArrayNode notes = out.putArray("not_matched");
            delivered
                    .skipped()
                    .forEach(note ->
                            notes.addObject().put("workflow", note.workflow()).put("reason", note.reason()));
        }
    }

    /** The results of a batch, in the order of its items. */
    public static ObjectNode itemsJson(AtomicReferenceArray<ObjectNode> results) {
        ObjectNode out = RunJsonRenderer.newObject();
        ArrayNode items = out.putArray("items");
        for (int i = 0; i < results.length(); i++) {
            items.add(results.get(i));
        }
        return out;
    }

    public static ObjectNode problemItem(SemelException e, UUID instance) {
        ObjectNode out = RunJsonRenderer.newObject().put("status_code", e.code().status());
        out.setAll(HttpProblemResponseMapper.toDocument(e, instance));
        return out;
    }

    /**
     * A stored event. Lists omit large bodies (null).
     *
     * @param body the event with PII masked
     */
    public static ObjectNode storedEventJson(DatabaseRows.EventRow event, JsonNode body) {
        ObjectNode out = RunJsonRenderer.newObject();
        out.put("event_id", event.eventId());
        out.put("kind", event.triggerSource().name().toLowerCase(Locale.ROOT));
        out.put("source", event.source());
        out.put("id", event.id());
        out.put("type", event.type());
        out.put("received_at", RunJsonRenderer.formatTime(event.at()));
        out.put("actor_id", event.actor());
        out.put("correlation_id", event.correlationId());
        out.put("matched", event.matched());
        out.set("not_matched", StrictJsonCodec.parse(event.notes()));
        out.set("event", body);
        return out;
    }
}
