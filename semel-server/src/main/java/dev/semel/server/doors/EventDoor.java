package dev.semel.server.doors;

import dev.semel.Semel;
import dev.semel.error.SemelException;
import dev.semel.json.Json;
import dev.semel.server.doors.Delivered.Note;
import dev.semel.server.doors.Delivered.Started;
import dev.semel.trigger.Answer;
import dev.semel.trigger.Trigger;
import dev.semel.workflow.Current;
import dev.semel.workflow.Published;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * One event, and every workflow that wants it: each is admitted under the event's own name, so that the same event is the
 * same run however often it comes.
 */
public final class EventDoor {
    private final Semel semel;
    private final Subscribers subscribers;
    private final Ports ports;

    /**
     * What a door needs of those who know files and workspaces.
     *
     * @param spaces a workspace with its secret
     * @param check throws where a workflow does not take this input
     */
    public record Ports(IntFunction<Trigger.Space> spaces, InputCheck check) {}

    @FunctionalInterface
    public interface InputCheck {
        void check(Published workflow, JsonNode input);
    }

    public EventDoor(Semel semel, Ports ports) {
        this.semel = semel;
        this.subscribers = new Subscribers(semel);
        this.ports = ports;
    }

    /**
     * Hands an event to all who want it. What one workflow refuses does not keep it from the others; a refusal that a
     * retry can heal is thrown when all were asked, and asking again is safe.
     */
    public Delivered deliver(int workspace, Event event, Entrance entrance) {
        EventName name = EventName.of(entrance.door(), event);
        String eventId = name.eventId();
        List<Started> runs = new ArrayList<>();
        List<Note> notes = new ArrayList<>();
        for (Current current : subscribers.of(workspace).of(event.type())) {
            Published workflow = current.published();
            switch (Matching.of(workflow, event)) {
                case Matching.Leaves(String because) -> {
                    if (because != null) {
                        notes.add(new Note(workflow.name(), because));
                    }
                }
                case Matching.Takes _ -> {
                    Trigger.DoorName own = name.of(eventId, workflow.workflowId());
                    Started started = start(current, new Asked(workspace, event, entrance, own));
                    if (started != null) {
                        runs.add(started);
                    }
                }
            }
        }
        return new Delivered(eventId, false, runs, notes);
    }

    private record Asked(int workspace, Event event, Entrance entrance, Trigger.DoorName name) {}

    /** Null: it does not want the event any more. */
    private @Nullable Started start(Current first, Asked asked) {
        String workflow = first.published().name();
        String workflowId = first.published().workflowId();
        try {
            Answer answer = semel.trigger(asked.workspace(), first, current -> trigger(current, asked));
            return new Started(workflow, workflowId, answer.runId(), answer.replayed(), answer.mismatch(), null);
        } catch (Unwanted e) {
            return null;
        } catch (SemelException refusal) {
            if (refusal.code().retryable()) {
                throw refusal;
            }
            return new Started(workflow, workflowId, "", false, false, refusal);
        }
    }

    private Trigger trigger(Current current, Asked asked) {
        if (!(Matching.of(current.published(), asked.event()) instanceof Matching.Takes(JsonNode input))) {
            throw new Unwanted();
        }
        Trigger.Checks quota = asked.entrance().quota();
        return new Trigger(
                ports.spaces().apply(asked.workspace()),
                current,
                input,
                Json.write(input),
                Trigger.Names.of(asked.name()),
                new Trigger.Sender(
                        asked.entrance().door(),
                        asked.entrance().actor(),
                        asked.entrance().correlationId()),
                false,
                new Trigger.Checks(() -> fresh(quota, current.published(), input), quota.repeat()));
    }

    /** Quota, then input schema, as at the door of callers. */
    private void fresh(Trigger.Checks quota, Published workflow, JsonNode input) {
        if (quota.fresh() != null) {
            quota.fresh().run();
        }
        ports.check().check(workflow, input);
    }

    /** The version that counts by now, or the one that was drawn, does not take the event. */
    private static final class Unwanted extends RuntimeException {
        Unwanted() {
            super("the workflow does not want the event any more", null, false, false);
        }
    }
}
