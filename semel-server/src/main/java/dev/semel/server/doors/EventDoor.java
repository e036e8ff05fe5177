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
 * One event, and every workflow that wants it: each is admitted under the event's own name, so that the same event is the
 * same run however often it comes. The event itself is kept in the same moment, and all of it is durable before anybody
 * is told.
 */
public final class EventDoor {
    /** How often an event is matched anew because somebody published meanwhile; nobody publishes that fast. */
    private static final int MOST_ATTEMPTS = 32;

    private final Semel semel;
    private final Subscribers subscribers;
    private final Starting starting;

    /**
     * What a door needs of those who know files and workspaces.
     *
     * @param spaces a workspace with its secret
     * @param check throws where a workflow does not take this input
     * @param mostDepth so many runs may have started each other
     */
    public record Ports(IntFunction<Trigger.Space> spaces, InputCheck check, IntSupplier mostDepth) {}

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
     * Hands an event to all who want it. What one workflow refuses does not keep it from the others; a refusal that a
     * retry can heal is thrown when all were asked, and asking again is safe.
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
            // Handed over first and awaited last, so that the event and its runs go to the disk together.
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
            semel.events().look(); // somebody published: who subscribes since is asked, too
        }
        throw new SemelException(
                ErrorCode.OVERLOADED,
                "Workflows changed again and again while the event was matched. Runs that it started go on.",
                "Send it again in a moment; that is always safe.");
    }

    /**
     * Whether what it started may be forgotten: handed in again it would start anew, and nobody could tell.
     *
     * @param at when it came, in microseconds
     */
    public boolean isTooOld(long at) {
        Long now = semel.view(reads -> reads.now());
        Duration known = EventName.WINDOW.minusMinutes(1);
        return now == null || at + known.toNanos() / 1_000 <= now;
    }

    /** Our own id of an event: the same for the same door, source and id. */
    public static String idOf(Door door, String source, String id) {
        return new EventName(door, source, id).eventId();
    }

    /** What would become of it, without any of that happening. */
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
     * What a version of a workflow marks as personal in the input that it makes of an event.
     *
     * @param input null where it would not start for this one
     */
    public record Marking(List<FieldPath> pii, @Nullable JsonNode input) {}

    /** Of those that may want an event of this type, whatever their conditions say: the ones that mark anything. */
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
                Json.write(kept(asked)),
                0,
                asked.entrance().actor(),
                asked.entrance().correlationId(),
                match.takers().size(),
                Json.write(notes));
    }

    /** What a provider said is kept with its delivery, for as long as its hook says; here only what it is called. */
    private static JsonNode kept(Starting.Asked asked) {
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
