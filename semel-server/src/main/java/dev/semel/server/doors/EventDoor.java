package dev.semel.server.doors;

import dev.semel.Events;
import dev.semel.Semel;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.Json;
import dev.semel.key.FieldPath;
import dev.semel.run.RunId;
import dev.semel.server.doors.Delivered.Note;
import dev.semel.server.doors.Delivered.Started;
import dev.semel.store.Rows;
import dev.semel.store.Write;
import dev.semel.trigger.Door;
import dev.semel.trigger.Trigger;
import dev.semel.workflow.Current;
import dev.semel.workflow.Published;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * Accepts inbound events: stores each one and starts every subscribed workflow under a key derived from the event, so a
 * repeat finds the same runs. Everything is durable before the response.
 */
public final class EventDoor {
    /** Most attempts to match an event while workflows are being published. */
    private static final int MOST_ATTEMPTS = 32;

    private final Semel semel;
    private final Subscribers subscribers;
    private final Starting starting;

    /**
     * What event delivery needs from workflow files and workspaces.
     *
     * @param spaces returns a workspace with its secret
     * @param check throws if a workflow rejects the input
     * @param mostDepth longest chain of runs that start each other
     */
    public record Ports(IntFunction<Trigger.Space> spaces, InputCheck check, IntSupplier mostDepth) {}

    /** Validates the input of a workflow. */
    @FunctionalInterface
    public interface InputCheck {
        void check(Published workflow, JsonNode input);
    }

    public EventDoor(Semel semel, Ports ports) {
        this.semel = semel;
        this.subscribers = new Subscribers(semel);
        this.starting = new Starting(semel, ports);
    }

    /**
     * Delivers an event to all subscribed workflows. A rejection by one does not affect the others. A retryable one is
     * thrown after all were tried; a retry is safe.
     */
    public Delivered deliver(int workspace, Event event, Entrance entrance) {
        EventName name = EventName.of(entrance.door(), event);
        Starting.Asked asked = new Starting.Asked(workspace, event, entrance, name, name.eventId());
        Map<String, Started> runs = new LinkedHashMap<>();
        RunId seq = semel.newId();
        for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
            Match match = match(workspace, event);
            List<Current> takers = match.takers().stream()
                    .filter(one -> !runs.containsKey(one.published().workflowId()))
                    .toList();
            // Submitted first and awaited last, so that the event and its runs share a commit.
            String beside = takers.isEmpty()
                    ? asked.eventId()
                    : asked.of(takers.getFirst().published()).text();
            Events.Keeping keeping =
                    semel.events().keep(new Write.Keep(row(asked, match, seq), match.change()), beside);
            SemelException retryable = starting.all(takers, asked, runs);
            if (keeping.await() instanceof Write.Kept.Now(boolean fresh)) {
                if (retryable != null) {
                    throw retryable;
                }
                return new Delivered(asked.eventId(), !fresh, List.copyOf(runs.values()), match.notes());
            }
            semel.events().look(); // a workflow was published: match again with the new subscriptions
        }
        throw new SemelException(
                ErrorCode.OVERLOADED,
                "Workflows changed repeatedly while the event was matched. Runs that it started continue.",
                "Send the event again in a moment; a repeat starts no second run.");
    }

    /**
     * Whether the deduplication window is over, so that reprocessing would start its runs again.
     *
     * @param at time of arrival in microseconds
     */
    public boolean isTooOld(long at) {
        Long now = semel.view(reads -> reads.now());
        Duration known = EventName.WINDOW.minusMinutes(1);
        return now == null || at + known.toNanos() / 1_000 <= now;
    }

    /** Semel's id of an event, derived from trigger source, event source and event id. */
    public static String idOf(Door door, String source, String id) {
        return new EventName(door, source, id).eventId();
    }

    /** Predicts the delivery result without storing or starting anything. */
    public Delivered preview(int workspace, Event event, Entrance entrance) {
        EventName name = EventName.of(entrance.door(), event);
        Starting.Asked asked = new Starting.Asked(workspace, event, entrance, name, name.eventId());
        semel.events().look();
        Match match = match(workspace, event);
        List<Started> runs = new ArrayList<>();
        match.takers().forEach(one -> runs.add(starting.preview(one, asked)));
        boolean known = semel.view(reads -> reads.event(workspace, asked.eventId())) != null;
        return new Delivered(asked.eventId(), known, runs, match.notes());
    }

    /**
     * The personal data that a workflow version marks in its input from an event.
     *
     * @param input null if this event would not start it
     */
    public record Marking(List<FieldPath> pii, @Nullable JsonNode input) {}

    /** The PII markings of all workflows that subscribe to this event type, whatever their conditions. */
    public List<Marking> marking(int workspace, Event event) {
        List<Marking> found = new ArrayList<>();
        for (Current current : subscribers.of(workspace).of(event.type())) {
            for (Published version : current.versions()) {
                List<FieldPath> pii = version.body().pii();
                boolean wants = version.extras().doors().events().stream()
                        .anyMatch(one -> one.fits(event.type(), event.source()));
                if (wants && !pii.isEmpty()) {
                    Matching match = Matching.of(version, event);
                    found.add(new Marking(pii, match instanceof Matching.Takes(JsonNode input) ? input : null));
                }
            }
        }
        return found;
    }

    private record Match(long change, List<Current> takers, List<Note> notes) {}

    private Match match(int workspace, Event event) {
        Subscribers.Known known = subscribers.of(workspace);
        List<Current> takers = new ArrayList<>();
        List<Note> notes = new ArrayList<>();
        for (Current current : known.of(event.type())) {
            switch (Matching.of(current.published(), event)) {
                case Matching.Takes _ -> takers.add(current);
                case Matching.Leaves(@Nullable String because) -> {
                    if (because != null) {
                        notes.add(new Note(current.published().name(), because));
                    }
                }
            }
        }
        return new Match(known.change(), takers, notes);
    }

    private static Rows.Event row(Starting.Asked asked, Match match, RunId seq) {
        Event event = asked.event();
        ArrayNode notes = JsonNodeFactory.instance.arrayNode();
        match.notes()
                .forEach(note ->
                        notes.addObject().put("workflow", note.workflow()).put("reason", note.reason()));
        return new Rows.Event(
                asked.workspace(),
                asked.eventId(),
                seq,
                asked.entrance().door(),
                event.source(),
                event.id(),
                event.type(),
                Json.write(storedPayload(asked)),
                0,
                asked.entrance().actor(),
                asked.entrance().correlationId(),
                match.takers().size(),
                Json.write(notes));
    }

    /** A webhook payload is stored with its delivery, under its retention; here only the identifying attributes. */
    private static JsonNode storedPayload(Starting.Asked asked) {
        Event event = asked.event();
        return asked.entrance().door() != Door.HOOK
                ? event.whole()
                : JsonNodeFactory.instance
                        .objectNode()
                        .put("id", event.id())
                        .put("source", event.source())
                        .put("type", event.type());
    }
}
