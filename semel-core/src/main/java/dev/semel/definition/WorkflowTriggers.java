package dev.semel.definition;

import dev.semel.schedule.Schedule;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

public record WorkflowTriggers(List<EventSubscription> events, List<Schedule> schedules) {
    public static final WorkflowTriggers NONE = new WorkflowTriggers(List.of(), List.of());

    public WorkflowTriggers {
        events = List.copyOf(events);
        schedules = List.copyOf(schedules);
    }

    public @Nullable Schedule schedule(String name) {
        for (Schedule schedule : schedules) {
            if (schedule.name().equals(name)) {
                return schedule;
            }
        }
        return null;
    }

    /**
     * @param type event type; a trailing {@code *} matches any suffix
     * @param source required source of the event; null for any
     * @param mapper maps the whole event to the input of the run
     */
    public record EventSubscription(String type, @Nullable String source, EventMapper mapper) {
        public boolean matches(String itsType, String itsSource) {
            return fitsType(itsType) && (source == null || source.equals(itsSource));
        }

        private boolean fitsType(String itsType) {
            return isPrefix() ? itsType.startsWith(type.substring(0, type.length() - 1)) : type.equals(itsType);
        }

        /** Whether the type ends with {@code *} and matches several event types. */
        public boolean isPrefix() {
            return type.endsWith("*");
        }
    }

    @FunctionalInterface
    public interface EventMapper {
        /** Every matching event starts a run with the event's data as input; {@code {}} if it has no data. */
        EventMapper DATA_AS_INPUT = event ->
                new MappedEvent.Input(event.has("data") ? event.path("data") : JsonNodeFactory.instance.objectNode());

        MappedEvent map(JsonNode event);
    }

    public sealed interface MappedEvent {
        record Input(JsonNode data) implements MappedEvent {}

        record NoMatch() implements MappedEvent {}

        /** An expression of the subscription failed, so the event does not match; Semel records the reason. */
        record Failed(String reason) implements MappedEvent {}
    }
}
