package dev.semel.server.connectors.ingress;

import dev.semel.definition.WorkflowTriggers;
import dev.semel.definition.WorkflowVersion;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Decides whether a workflow version subscribes to an event, and computes its input. Pure. */
sealed interface EventSubscriptionMatch {
    record Matched(JsonNode input) implements EventSubscriptionMatch {}

    /** @param reason the reason; null if it does not subscribe to the event */
    record NotMatched(@Nullable String reason) implements EventSubscriptionMatch {}

    /** The first matching subscription decides; one that cannot be evaluated is skipped. */
    static EventSubscriptionMatch evaluate(WorkflowVersion workflow, InboundEvent event) {
        String failed = null;
        for (WorkflowTriggers.EventSubscription one :
                workflow.options().triggers().events()) {
            if (one.matches(event.type(), event.source())) {
                switch (one.mapper().map(event.envelope())) {
                    case WorkflowTriggers.MappedEvent.Input(JsonNode input) -> {
                        return new Matched(input);
                    }
                    case WorkflowTriggers.MappedEvent.NoMatch _ -> {}
                    case WorkflowTriggers.MappedEvent.Failed(String because) -> failed = because;
                }
            }
        }
        return new NotMatched(failed);
    }
}
