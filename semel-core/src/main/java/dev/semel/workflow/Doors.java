package dev.semel.workflow;

import dev.semel.schedule.Schedule;
import java.util.List;
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
     * @param reading asked with the whole event
     */
    public record Subscription(String type, @Nullable String source, Reading reading) {
        public boolean fits(String itsType, String itsSource) {
            return fitsType(itsType) && (source == null || source.equals(itsSource));
        }

        private boolean fitsType(String itsType) {
            return isOpen() ? itsType.startsWith(type.substring(0, type.length() - 1)) : type.equals(itsType);
        }

        /** Whether it takes events of more than one type. */
        public boolean isOpen() {
            return type.endsWith("*");
        }
    }

    /** What a workflow makes of an event. */
    @FunctionalInterface
    public interface Reading {
        /** Every event that fits starts a run, with its data as the input. */
        Reading PLAIN = event -> new Read.Input(event.path("data"));

        Read read(JsonNode event);
    }

    public sealed interface Read {
        /** It starts a run with this. */
        record Input(JsonNode data) implements Read {}

        /** Its condition says no. */
        record Unfit() implements Read {}

        /** Its expressions could not be evaluated, so it does not match; people are told why. */
        record Failed(String because) implements Read {}
    }
}
