package dev.semel.workflow;

import dev.semel.schedule.Schedule;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Through what else than a call a workflow is started. */
public record Doors(List<Subscription> events, List<Schedule> schedules) {
    public static final Doors NONE = new Doors(List.of());

    /** One that no clock opens. */
    public Doors(List<Subscription> events) {
        this(events, List.of());
    }

    public Doors {
        events = List.copyOf(events);
        schedules = List.copyOf(schedules);
    }

    /** A schedule by its name; null where there is none. */
    public @Nullable Schedule schedule(String name) {
        for (Schedule schedule : schedules) {
            if (schedule.name().equals(name)) {
                return schedule;
            }
        }
        return null;
    }

    /**
     * Events that start a run.
     *
     * @param type of the event, as it is written; a last {@code *} stands for any end
     * @param source only of this source; null for any
     * @param when asked with the whole event; false leaves it to others
     */
    public record Subscription(String type, @Nullable String source, Predicate<JsonNode> when) {
        public boolean fits(String itsType, String itsSource) {
            boolean begins = type.endsWith("*") && itsType.startsWith(type.substring(0, type.length() - 1));
            return (begins || type.equals(itsType)) && (source == null || source.equals(itsSource));
        }
    }
}
