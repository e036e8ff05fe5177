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
 * Events as everybody may see them. An event says nothing of what is personal in it; the workflows that want its type do,
 * of the input that they make of it. What the marked fields hold there is masked in the event, wherever it stands.
 */
final class EventMasks {
    /** What names the event is shown beside it in any case: people search by it. */
    private static final Set<String> NAMES = Set.of("id", "source", "type", "specversion", "time");

    private final EventDoor door;

    EventMasks(EventDoor door) {
        this.door = door;
    }

    /** Null where a list left it out because it is large. */
    JsonNode shown(Rows.Event kept) {
        if (kept.body().isEmpty()) {
            return JsonNodeFactory.instance.nullNode();
        }
        Event event = KeptEvent.of(kept);
        List<EventDoor.Marking> marking = door.marking(kept.ws(), event);
        if (marking.isEmpty()) {
            return event.whole();
        }
        List<FieldPath> paths = new ArrayList<>();
        List<JsonNode> inputs = new ArrayList<>();
        inputs.add(event.data());
        for (EventDoor.Marking one : marking) {
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
