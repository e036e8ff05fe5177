package dev.semel.server.ingress;

import dev.semel.runtime.EventIntake;
import dev.semel.runtime.SemelRuntime;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJson;
import dev.semel.admission.FieldPath;
import dev.semel.run.RunId;
import dev.semel.server.ingress.EventDeliveryResult.SkippedWorkflow;
import dev.semel.server.ingress.EventDeliveryResult.StartedRun;
import dev.semel.store.StoredRows;
import dev.semel.store.StoreWrite;
import dev.semel.trigger.TriggerSource;
import dev.semel.trigger.Trigger;
import dev.semel.definition.CurrentWorkflow;
import dev.semel.definition.WorkflowVersion;
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
public final class EventIngress {
    /** Most attempts to match an event while workflows are being published. */
    private static final int MOST_ATTEMPTS = 32;

    private final SemelRuntime semel;
    private final EventSubscribers subscribers;
    private final EventRunStarter starting;

    /**
     * What event delivery needs from workflow files and workspaces.
     *
     * @param spaces returns a workspace with its secret
     * @param check throws if a workflow rejects the input
     * @param maxDepth longest chain of runs that start each other
     */
    public record Dependencies(IntFunction<Trigger.TriggerWorkspace> spaces, InputValidator check, IntSupplier maxDepth) {}

    /** Validates the input of a workflow. */
    @FunctionalInterface
    public interface InputValidator {
        void check(WorkflowVersion workflow, JsonNode input);
    }

    public EventIngress(SemelRuntime semel, Dependencies ports) {
        this.semel = semel;
        this.subscribers = new EventSubscribers(semel);
        this.starting = new EventRunStarter(semel, ports);
    }

    /**
     * Delivers an event to all subscribed workflows. A rejection by one does not affect the others. A retryable one is
     * thrown after all were tried; a retry is safe.
     */
    public EventDeliveryResult deliver(int workspace, InboundEvent event, EventOrigin entrance) {
        EventIdentity name = EventIdentity.of(entrance.triggerSource(), event);
        EventRunStarter.EventTrigger asked = new EventRunStarter.EventTrigger(workspace, event, entrance, name, name.eventId());
        Map<String, StartedRun> runs = new LinkedHashMap<>();
        RunId seq = semel.newId();
        for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
            MatchedWorkflows match = match(workspace, event);
            List<CurrentWorkflow> takers = match.subscribers().stream()
                    .filter(one -> !runs.containsKey(one.published().workflowId()))
                    .toList();
            // Submitted first and awaited last, so that the event and its runs share a commit.
            String beside = takers.isEmpty()
                    ? asked.eventId()
                    : asked.of(takers.getFirst().published()).text();
            EventIntake.PendingEvent keeping =
                    semel.events().store(new StoreWrite.SaveEvent(row(asked, match, seq), match.change()), beside);
            SemelException retryable = starting.startAll(takers, asked, runs);
            if (keeping.await() instanceof StoreWrite.SaveEventResult.Saved(boolean fresh)) {
                if (retryable != null) {
                    throw retryable;
                }
                return new EventDeliveryResult(asked.eventId(), !fresh, List.copyOf(runs.values()), match.notes());
            }
            semel.events().refreshCatalog(); // a workflow was published: match again with the new subscriptions
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
        Duration known = EventIdentity.WINDOW.minusMinutes(1);
        return now == null || at + known.toNanos() / 1_000 <= now;
    }

    /** Semel's id of an event, derived from trigger source, event source and event id. */
    public static String eventIdOf(TriggerSource door, String source, String id) {
        return new EventIdentity(door, source, id).eventId();
    }

    /** Predicts the delivery result without storing or starting anything. */
    public EventDeliveryResult preview(int workspace, InboundEvent event, EventOrigin entrance) {
        EventIdentity name = EventIdentity.of(entrance.triggerSource(), event);
        EventRunStarter.EventTrigger asked = new EventRunStarter.EventTrigger(workspace, event, entrance, name, name.eventId());
        semel.events().refreshCatalog();
        MatchedWorkflows match = match(workspace, event);
        List<StartedRun> runs = new ArrayList<>();
        match.subscribers().forEach(one -> runs.add(starting.preview(one, asked)));
        boolean known = semel.view(reads -> reads.event(workspace, asked.eventId())) != null;
        return new EventDeliveryResult(asked.eventId(), known, runs, match.notes());
    }

    /**
     * The personal data that a workflow version marks in its input from an event.
     *
     * @param input null if this event would not start it
     */
    public record PiiMarking(List<FieldPath> pii, @Nullable JsonNode input) {}

    /** The PII markings of all workflows that subscribe to this event type, whatever their conditions. */
    public List<PiiMarking> findPiiMarkings(int workspace, InboundEvent event) {
        List<PiiMarking> found = new ArrayList<>();
        for (CurrentWorkflow current : subscribers.findIndex(workspace).find(event.type())) {
            for (WorkflowVersion version : current.versions()) {
                List<FieldPath> pii = version.body().piiPaths();
                boolean wants = version.options().triggers().events().stream()
                        .anyMatch(one -> one.matches(event.type(), event.source()));
                if (wants && !pii.isEmpty()) {
                    EventMatch match = EventMatch.evaluate(version, event);
                    found.add(new PiiMarking(pii, match instanceof EventMatch.Matched(JsonNode input) ? input : null));
                }
            }
        }
        return found;
    }

    private record MatchedWorkflows(long change, List<CurrentWorkflow> subscribers, List<SkippedWorkflow> notes) {}

    private MatchedWorkflows match(int workspace, InboundEvent event) {
        EventSubscribers.SubscriptionIndex known = subscribers.findIndex(workspace);
        List<CurrentWorkflow> takers = new ArrayList<>();
        List<SkippedWorkflow> notes = new ArrayList<>();
        for (CurrentWorkflow current : known.find(event.type())) {
            switch (EventMatch.evaluate(current.published(), event)) {
                case EventMatch.Matched _ -> takers.add(current);
                case EventMatch.NotMatched(@Nullable String because) -> {
                    if (because != null) {
                        notes.add(new SkippedWorkflow(current.published().name(), because));
                    }
                }
            }
        }
        return new MatchedWorkflows(known.change(), takers, notes);
    }

    private static StoredRows.EventRow row(EventRunStarter.EventTrigger asked, MatchedWorkflows match, RunId seq) {
        InboundEvent event = asked.event();
        ArrayNode notes = JsonNodeFactory.instance.arrayNode();
        match.notes()
                .forEach(note ->
                        notes.addObject().put("workflow", note.workflow()).put("reason", note.reason()));
        return new StoredRows.EventRow(
                asked.workspace(),
                asked.eventId(),
                seq,
                asked.entrance().triggerSource(),
                event.source(),
                event.id(),
                event.type(),
                StrictJson.write(storedPayload(asked)),
                0,
                asked.entrance().actor(),
                asked.entrance().correlationId(),
                match.subscribers().size(),
                StrictJson.write(notes));
    }

    /** A webhook payload is stored with its delivery, under its retention; here only the identifying attributes. */
    private static JsonNode storedPayload(EventRunStarter.EventTrigger asked) {
        InboundEvent event = asked.event();
        return asked.entrance().triggerSource() != TriggerSource.HOOK
                ? event.envelope()
                : JsonNodeFactory.instance
                        .objectNode()
                        .put("id", event.id())
                        .put("source", event.source())
                        .put("type", event.type());
    }
}
