package dev.semel.server.api;

import dev.semel.key.FieldPath;
import dev.semel.server.doors.Event;
import dev.semel.server.doors.EventDoor;
import dev.semel.server.doors.KeptEvent;
import dev.semel.store.Rows;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Masks personal data (PII) in stored events. The workflows that subscribe to the event's type declare which input
 * fields are PII; the values of those fields are masked anywhere in the event.
 */
final class EventMasks {
    /** Members that identify the event are never masked, because users search by them. */
    private static final Set<String> NAMES = Set.of("id", "source", "type", "specversion", "time");

    private final EventDoor ingress;

    EventMasks(EventDoor ingress) {
        this.ingress = ingress;
    }

    /** The masked event; JSON null if the list omitted it because it is large. */
    JsonNode shown(Rows.Event stored) {
        if (stored.body().isEmpty()) {
            return JsonNodeFactory.instance.nullNode();
        }
        Event event = KeptEvent.of(stored);
        List<EventDoor.Marking> markings = ingress.marking(stored.ws(), event);
        if (markings.isEmpty()) {
            return event.whole();
        }
        List<FieldPath> paths = new ArrayList<>();
        List<JsonNode> inputs = new ArrayList<>();
        inputs.add(event.data());
        for (EventDoor.Marking one : markings) {
            paths.addAll(one.pii());
            if (one.input() != null) {
                inputs.add(one.input());
            }
        }
        Masks.Mask mask = Masks.mask(paths, inputs);
        ObjectNode out = Views.object();
        event.whole().properties().forEach(member -> {
            String name = member.getKey();
            JsonNode value = member.getValue();
            out.set(name, name.equals("data") ? mask.input(value) : NAMES.contains(name) ? value : mask.value(value));
        });
        return out;
    }
}
