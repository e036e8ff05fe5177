package dev.semel.server.query;

import dev.semel.idempotency.JsonFieldPath;
import dev.semel.server.connectors.ingress.InboundEvent;
import dev.semel.server.connectors.ingress.InboundEventProcessor;
import dev.semel.server.connectors.ingress.RunNotificationEvents;
import dev.semel.store.DatabaseRows;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Masks personal data (PII) in stored events. The workflows that subscribe to the event's type declare which input
 * fields are PII; the values of those fields are masked anywhere in the event. So are the PII values of the run that
 * published the event.
 */
public record InboundEventPiiMasker(InboundEventProcessor ingress, RunJsonRenderer runs) {
    /** Members that identify the event are never masked, because users search by them. */
    private static final Set<String> NAMES = Set.of("id", "source", "type", "specversion", "time");

    /** The masked event; JSON null if the list omitted it because it is large. */
    public JsonNode mask(DatabaseRows.EventRow stored) {
        if (stored.body().isEmpty()) {
            return JsonNodeFactory.instance.nullNode();
        }
        InboundEvent event = InboundEvent.ofStored(stored);
        List<InboundEventProcessor.PiiMarking> markings = ingress.findPiiMarkings(stored.ws(), event);
        String publisher = RunNotificationEvents.runIdOf(stored.actor());
        PiiMask ofRun = publisher == null ? PiiMask.NONE : runs.maskOfRun(stored.ws(), publisher);
        ObjectNode out = markings.isEmpty() ? event.envelope().deepCopy().asObject() : masked(event, markings);
        JsonNode data = out.get("data");
        return data == null ? out : out.set("data", ofRun.maskValue(data));
    }

    private static ObjectNode masked(InboundEvent event, List<InboundEventProcessor.PiiMarking> markings) {
        List<JsonFieldPath> paths = new ArrayList<>();
        List<JsonNode> inputs = new ArrayList<>();
        inputs.add(event.data());
        for (InboundEventProcessor.PiiMarking one : markings) {
            paths.addAll(one.pii());
            if (one.input() != null) {
                inputs.add(one.input());
            }
        }
        PiiMask mask = RunPiiMaskFactory.fromInputs(paths, inputs);
        ObjectNode out = RunJsonRenderer.newObject();
        event.envelope().properties().forEach(member -> {
            String name = member.getKey();
            JsonNode value = member.getValue();
            out.set(
                    name,
                    name.equals("data") ? mask.maskInput(value) : NAMES.contains(name) ? value : mask.maskValue(value));
        });
        return out;
    }
}
