package dev.semel.server.doors;

import dev.semel.Semel;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.Json;
import dev.semel.key.Admissions;
import dev.semel.key.Admissions.Standing;
import dev.semel.key.Known;
import dev.semel.server.doors.Delivered.Started;
import dev.semel.store.Name;
import dev.semel.store.Reads;
import dev.semel.trigger.Answer;
import dev.semel.trigger.Door;
import dev.semel.trigger.Trigger;
import dev.semel.workflow.Current;
import dev.semel.workflow.Published;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Starts the runs of an event in its subscribed workflows. */
final class Starting {
    private final Semel semel;
    private final EventDoor.Ports ports;

    Starting(Semel semel, EventDoor.Ports ports) {
        this.semel = semel;
        this.ports = ports;
    }

    /** An event delivery with its identity and origin. */
    record Asked(int workspace, Event event, Entrance entrance, EventName name, String eventId) {
        Trigger.DoorName of(Published workflow) {
            return name.of(eventId, workflow.workflowId());
        }
    }

    /** Starts them in parallel, so that they share a commit. Returns a retryable rejection, if any. */
    @Nullable
    SemelException all(List<Current> takers, Asked asked, Map<String, Started> runs) {
        Map<String, Outcome> outcomes = new ConcurrentHashMap<>();
        SideBySide.each(takers, one -> outcomes.put(one.published().workflowId(), start(one, asked)));
        SemelException retryable = null;
        for (Current one : takers) { // in the order of the subscribers, whichever finished first
            String id = one.published().workflowId();
            switch (outcomes.get(id)) {
                case Outcome.Done(Started started) -> runs.put(id, started);
                case Outcome.Later(SemelException refusal) -> retryable = refusal;
                case null -> throw new IllegalStateException("a workflow has no outcome");
                case Outcome.Unwanted _ -> {}
            }
        }
        return retryable;
    }

    private sealed interface Outcome {
        record Done(Started started) implements Outcome {}

        record Later(SemelException refusal) implements Outcome {}

        /** The current or assigned version does not subscribe to the event. */
        record Unwanted() implements Outcome {}
    }

    private Outcome start(Current first, Asked asked) {
        String workflow = first.published().name();
        String workflowId = first.published().workflowId();
        try {
            Answer answer = semel.trigger(asked.workspace(), first, current -> trigger(current, asked));
            return new Outcome.Done(
                    new Started(workflow, workflowId, answer.runId(), answer.replayed(), answer.mismatch(), null));
        } catch (NotWanted e) {
            return new Outcome.Unwanted();
        } catch (SemelException refusal) {
            return refusal.code().retryable()
                    ? new Outcome.Later(refusal)
                    : new Outcome.Done(new Started(workflow, workflowId, "", false, false, refusal));
        }
    }

    /** Predicts the result of a start: the existing run, a rejection, or a new run (with an empty id). */
    Started preview(Current current, Asked asked) {
        Published workflow = current.published();
        Name.Kind kind = asked.entrance().door() == Door.HOOK ? Name.Kind.HOOK : Name.Kind.EVENT;
        Name name = new Name(asked.workspace(), kind, asked.of(workflow).text());
        Reads.Found found = semel.view(reads -> reads.names(List.of(name)));
        Known known = found == null ? null : found.known().getFirst();
        if (found != null && known != null && Admissions.standing(known, found.now()) == Standing.LIVE) {
            return new Started(workflow.name(), workflow.workflowId(), known.runIdText(), true, false, null);
        }
        SemelException refused = null;
        if (Matching.of(workflow, asked.event()) instanceof Matching.Takes(JsonNode input)) {
            try {
                check(workflow, input);
            } catch (SemelException e) {
                refused = e;
            }
        }
        return new Started(workflow.name(), workflow.workflowId(), "", false, false, refused);
    }

    private Trigger trigger(Current current, Asked asked) {
        if (!(Matching.of(current.published(), asked.event()) instanceof Matching.Takes(JsonNode input))) {
            throw new NotWanted();
        }
        Trigger.Checks quota = asked.entrance().quota();
        return new Trigger(
                ports.spaces().apply(asked.workspace()),
                current,
                input,
                Json.write(input),
                Trigger.Names.of(asked.of(current.published())),
                new Trigger.Sender(
                        asked.entrance().door(),
                        asked.entrance().actor(),
                        asked.entrance().correlationId()),
                false,
                new Trigger.Checks(() -> checkFresh(asked.entrance(), current.published(), input), quota.repeat()),
                Trigger.Ties.atDepth(asked.entrance().depth()));
    }

    /** Checks depth, quota and then the input schema, in the same order as HTTP triggers. */
    private void checkFresh(Entrance entrance, Published workflow, JsonNode input) {
        Depth.refuse(entrance.depth(), ports.mostDepth().getAsInt(), workflow.name());
        if (entrance.quota().fresh() != null) {
            entrance.quota().fresh().run();
        }
        check(workflow, input);
    }

    private void check(Published workflow, JsonNode input) {
        if (!input.isObject()) {
            throw new SemelException(
                    ErrorCode.INVALID_INPUT,
                    "The input of workflow \"" + workflow.name()
                            + "\" must be an object, and its mapping from the event gives another type. No run"
                            + " was started.",
                    "Send an object as data, or define the input under trigger.events: data: {body: ${ event.data"
                            + " }}.");
        }
        ports.check().check(workflow, input);
    }

    private static final class NotWanted extends RuntimeException {
        NotWanted() {
            super("the workflow no longer subscribes to the event", null, false, false);
        }
    }
}
