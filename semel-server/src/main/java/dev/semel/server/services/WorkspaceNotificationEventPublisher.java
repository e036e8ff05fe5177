package dev.semel.server.services;

import dev.semel.admission.TriggerQuota;
import dev.semel.admission.TriggerSource;
import dev.semel.error.SemelException;
import dev.semel.server.connectors.ingress.InboundEvent;
import dev.semel.server.connectors.ingress.InboundEventOrigin;
import dev.semel.server.connectors.ingress.InboundEventProcessor;
import dev.semel.server.connectors.ingress.InboundEventResult;
import dev.semel.server.connectors.ingress.RunNotificationEvents;
import dev.semel.server.files.steps.NotificationEventPublisher;
import java.util.function.Supplier;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Delivers the events of `notify` steps to the subscribed workflows of one workspace. */
record WorkspaceNotificationEventPublisher(Supplier<InboundEventProcessor> ingress, int workspace)
        implements NotificationEventPublisher {
    @Override
    public JsonNode publish(NotificationEvent event) {
        InboundEventOrigin origin = new InboundEventOrigin(
                TriggerSource.EVENT,
                RunNotificationEvents.actorOf(event.runId()),
                null,
                TriggerQuota.NONE,
                event.depth());
        ObjectNode envelope = JsonNodeFactory.instance
                .objectNode()
                .put("specversion", "1.0")
                .put("id", event.id())
                .put("source", RunNotificationEvents.SOURCE)
                .put("type", event.notification());
        envelope.set("data", event.data());
        return toJson(ingress.get().deliver(workspace, InboundEvent.of(envelope), origin));
    }

    private static ObjectNode toJson(InboundEventResult delivered) {
        ObjectNode out = JsonNodeFactory.instance.objectNode().put("event_id", delivered.eventId());
        ArrayNode runs = out.putArray("runs");
        ArrayNode rejected = out.putArray("rejected");
        for (InboundEventResult.StartedRun run : delivered.runs()) {
            SemelException rejection = run.rejection();
            if (rejection == null) {
                runs.addObject().put("workflow", run.workflow()).put("run_id", run.runId());
            } else {
                rejected.addObject()
                        .put("workflow", run.workflow())
                        .put("code", rejection.code().slug())
                        .put("detail", rejection.detail());
            }
        }
        return out;
    }
}
