package dev.semel.server.connectors.ingress;

import dev.semel.admission.Trigger;
import dev.semel.admission.TriggerSource;
import dev.semel.definition.ConcurrencyControl;
import dev.semel.definition.WorkflowCatalogEntry;
import dev.semel.definition.WorkflowVersion;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.idempotency.JsonFieldPath;
import dev.semel.json.StrictJsonCodec;
import dev.semel.policy.SamePayloadDifferentKeyPolicy;
import dev.semel.run.RunId;
import dev.semel.runtime.InboundEventIntake;
import dev.semel.runtime.SemelRuntime;
import dev.semel.server.connectors.ingress.EventRunStarter.EventTrigger;
import dev.semel.server.connectors.ingress.InboundEventResult.SkippedWorkflow;
import dev.semel.server.connectors.ingress.InboundEventResult.StartedRun;
import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreWrite;
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
public final class InboundEventProcessor {
    /** Most attempts to match an event while workflows are being published. */
    private static final int MOST_ATTEMPTS = 32;

    private final SemelRuntime semel;
    private final EventSubscriberIndex subscribers;
    private final EventRunStarter starting;

    /**
     * What event delivery needs from workflow files and workspaces.
     *
     * @param spaces returns a workspace with its secret
     * @param check throws if a workflow rejects the input
     * @param maxDepth longest chain of runs that start each other
     */
    public record Dependencies(
            IntFunction<Trigger.TriggerWorkspace> spaces, InputValidator check, IntSupplier maxDepth) {}

    @FunctionalInterface
    public interface InputValidator {
        void check(WorkflowVersion workflow, JsonNode input);
    }

    public InboundEventProcessor(SemelRuntime semel, Dependencies ports) {
        this.semel = semel;
        this.subscribers = new EventSubscriberIndex(semel);
        this.starting = new EventRunStarter(semel, ports);
    }

    /**
     * Delivers an event to all subscribed workflows. A rejection by one does not affect the others. A retryable one is
     * thrown after all were tried; a retry is safe.
     */
    public InboundEventResult deliver(int workspace, InboundEvent event, InboundEventOrigin entrance) {
        EventTrigger eventTrigger = EventTrigger.of(workspace, event, entrance);
        Map<String, StartedRun> runs = new LinkedHashMap<>();
        RunId seq = semel.newId();
        for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
            MatchedWorkflows match = match(workspace, event);
            List<WorkflowCatalogEntry> takers = match.subscribers().stream()
                    .filter(one -> !runs.containsKey(one.published().workflowId()))
                    .toList();
            // Submitted first and awaited last, so that the event and its runs share a commit.
            String beside = takers.isEmpty()
                    ? eventTrigger.eventId()
                    : eventTrigger.of(takers.getFirst().published()).text();
            InboundEventIntake.PendingEvent pendingEvent = semel.events()
                    .store(new StoreWrite.SaveEvent(row(eventTrigger, match, seq), match.change()), beside);
            SemelException retryable = starting.startAll(takers, eventTrigger, runs);
            if (pendingEvent.await() instanceof StoreWrite.SaveEventResult.Saved(boolean fresh)) {
                if (retryable != null) {
                    throw retryable;
                }
                return new InboundEventResult(
                        eventTrigger.eventId(), !fresh, List.copyOf(runs.values()), match.notes());
            }
            semel.events().refreshCatalog(); // a workflow was published: match again with the new subscriptions
        }
        throw new SemelException(
                ErrorCode.OVERLOADED,
                "Workflows changed repeatedly while the server searched for subscribers of this event. Runs that"
                        + " have already started continue.",
                "Send the event again in a moment. The server does not start the same run twice.");
    }

    /**
     * Whether the deduplication window is over, so that reprocessing would start its runs again.
     *
     * @param at time of arrival in microseconds
     */
    public boolean isTooOld(long at) {
        Long now = semel.view(reads -> reads.now());
        Duration known = InboundEventIdentity.WINDOW.minusMinutes(1);
        return now == null || at + known.toNanos() / 1_000 <= now;
    }

    /** Semel's id of an event, derived from trigger source, event source and event id. */
    public static String eventIdOf(TriggerSource triggerSource, String source, String id) {
        return new InboundEventIdentity(triggerSource, source, id).eventId();
    }

    /** Predicts the delivery result without storing or starting anything. */
    public InboundEventResult preview(int workspace, InboundEvent event, InboundEventOrigin entrance) {
        EventTrigger eventTrigger = EventTrigger.of(workspace, event, entrance);
        semel.events().refreshCatalog();
        MatchedWorkflows match = match(workspace, event);
        List<StartedRun> runs = new ArrayList<>();
        match.subscribers().forEach(one -> runs.add(starting.preview(one, eventTrigger)));
        boolean known = semel.view(reads -> reads.event(workspace, eventTrigger.eventId())) != null;
        return new InboundEventResult(eventTrigger.eventId(), known, runs, match.notes());
    }

    /** @param input null if this event would not start it */
    public record PiiMarking(
            List<JsonFieldPath> pii, @Nullable JsonNode input) {}

    /** The PII markings of all workflows that subscribe to this event type, whatever their conditions. */
    public List<PiiMarking> findPiiMarkings(int workspace, InboundEvent event) {
        List<PiiMarking> found = new ArrayList<>();
        for (WorkflowCatalogEntry current : subscribers.findIndex(workspace).find(event.type())) {
            for (WorkflowVersion version : current.versions()) {
                List<JsonFieldPath> pii = version.body().piiPaths();
                boolean wants = version.options().triggers().events().stream()
                        .anyMatch(one -> one.matches(event.type(), event.source()));
                if (wants && !pii.isEmpty()) {
                    EventSubscriptionMatch match = EventSubscriptionMatch.evaluate(version, event);
                    found.add(new PiiMarking(
                            pii, match instanceof EventSubscriptionMatch.Matched(JsonNode input) ? input : null));
                }
            }
        }
        return found;
    }

    /** Whether the order of events changes the results: a subscribed workflow limits or joins its runs. */
    public boolean isOrderVisible(int workspace) {
        return semel.events().subscribers(workspace).stream()
                .flatMap(one -> one.versions().stream())
                .anyMatch(InboundEventProcessor::isOrderVisible);
    }

    public static boolean isOrderVisible(WorkflowVersion version) {
        return !version.options().concurrency().equals(ConcurrencyControl.NONE)
                || version.policy().duplicatePayload() != SamePayloadDifferentKeyPolicy.ALLOW;
    }

    private record MatchedWorkflows(long change, List<WorkflowCatalogEntry> subscribers, List<SkippedWorkflow> notes) {}

    private MatchedWorkflows match(int workspace, InboundEvent event) {
        EventSubscriberIndex.SubscriptionIndex subscriptionIndex = subscribers.findIndex(workspace);
        List<WorkflowCatalogEntry> takers = new ArrayList<>();
        List<SkippedWorkflow> notes = new ArrayList<>();
        for (WorkflowCatalogEntry current : subscriptionIndex.find(event.type())) {
            switch (EventSubscriptionMatch.evaluate(current.published(), event)) {
                case EventSubscriptionMatch.Matched _ -> takers.add(current);
                case EventSubscriptionMatch.NotMatched(@Nullable String because) -> {
                    if (because != null) {
                        notes.add(new SkippedWorkflow(current.published().name(), because));
                    }
                }
            }
        }
        return new MatchedWorkflows(subscriptionIndex.change(), takers, notes);
    }

    private static DatabaseRows.EventRow row(EventTrigger eventTrigger, MatchedWorkflows match, RunId seq) {
        InboundEvent event = eventTrigger.event();
        ArrayNode notes = JsonNodeFactory.instance.arrayNode();
        match.notes()
                .forEach(note ->
                        notes.addObject().put("workflow", note.workflow()).put("reason", note.reason()));
        return new DatabaseRows.EventRow(
                eventTrigger.workspace(),
                eventTrigger.eventId(),
                seq,
                eventTrigger.entrance().triggerSource(),
                event.source(),
                event.id(),
                event.type(),
                StrictJsonCodec.write(storedPayload(eventTrigger)),
                0,
                eventTrigger.entrance().actor(),
                eventTrigger.entrance().correlationId(),
                match.subscribers().size(),
                StrictJsonCodec.write(notes));
    }

    /** A webhook payload is stored with its delivery, under its retention; here only the identifying attributes. */
    private static JsonNode storedPayload(EventTrigger eventTrigger) {
        InboundEvent event = eventTrigger.event();
        return eventTrigger.entrance().triggerSource() != TriggerSource.WEBHOOK
                ? event.envelope()
                : JsonNodeFactory.instance
                        .objectNode()
                        .put("id", event.id())
                        .put("source", event.source())
                        .put("type", event.type());
    }
}
