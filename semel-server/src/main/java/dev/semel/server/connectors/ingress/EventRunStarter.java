package dev.semel.server.connectors.ingress;

import dev.semel.admission.RunDeduplicationKey;
import dev.semel.admission.RunDeduplicationKeyRecord;
import dev.semel.admission.Trigger;
import dev.semel.admission.TriggerAdmissionRules;
import dev.semel.admission.TriggerAdmissionRules.KeyStatus;
import dev.semel.admission.TriggerResult;
import dev.semel.admission.TriggerSource;
import dev.semel.definition.WorkflowCatalogEntry;
import dev.semel.definition.WorkflowVersion;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJsonCodec;
import dev.semel.runtime.SemelRuntime;
import dev.semel.server.connectors.ingress.InboundEventResult.StartedRun;
import dev.semel.store.StoreQueries;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

record EventRunStarter(SemelRuntime semel, InboundEventProcessor.Dependencies ports) {

    record EventTrigger(
            int workspace, InboundEvent event, InboundEventOrigin entrance, InboundEventIdentity name, String eventId) {
        static EventTrigger of(int workspace, InboundEvent event, InboundEventOrigin entrance) {
            InboundEventIdentity name = InboundEventIdentity.of(entrance.triggerSource(), event);
            return new EventTrigger(workspace, event, entrance, name, name.eventId());
        }

        Trigger.SourceKey of(WorkflowVersion workflow) {
            return name.of(eventId, workflow.workflowId());
        }
    }

    /** Starts them in parallel, so that they share a commit. Returns a retryable rejection, if any. */
    @Nullable
    SemelException startAll(
            List<WorkflowCatalogEntry> takers, EventTrigger eventTrigger, Map<String, StartedRun> runs) {
        Map<String, Outcome> outcomes = new ConcurrentHashMap<>();
        ParallelTaskRunner.runAll(takers, one -> outcomes.put(one.published().workflowId(), start(one, eventTrigger)));
        SemelException retryable = null;
        for (WorkflowCatalogEntry one : takers) { // in the order of the subscribers, whichever finished first
            String id = one.published().workflowId();
            switch (outcomes.get(id)) {
                case Outcome.Done(StartedRun started) -> runs.put(id, started);
                case Outcome.Retryable(SemelException rejection) -> retryable = rejection;
                case null -> throw new IllegalStateException("a workflow has no outcome");
                case Outcome.NotSubscribed _ -> {}
            }
        }
        return retryable;
    }

    private sealed interface Outcome {
        record Done(StartedRun started) implements Outcome {}

        record Retryable(SemelException rejection) implements Outcome {}

        /** The current or assigned version does not subscribe to the event. */
        record NotSubscribed() implements Outcome {}
    }

    private Outcome start(WorkflowCatalogEntry first, EventTrigger eventTrigger) {
        String workflow = first.published().name();
        String workflowId = first.published().workflowId();
        try {
            TriggerResult answer = semel.trigger(
                    eventTrigger.workspace(),
                    first,
                    eventTrigger.entrance().quota(),
                    current -> trigger(current, eventTrigger));
            return new Outcome.Done(new StartedRun(
                    workflow, workflowId, answer.runId(), answer.replayed(), answer.payloadMismatch(), null));
        } catch (NotSubscribedException e) {
            return new Outcome.NotSubscribed();
        } catch (SemelException rejection) {
            return rejection.code().retryable()
                    ? new Outcome.Retryable(rejection)
                    : new Outcome.Done(new StartedRun(workflow, workflowId, "", false, false, rejection));
        }
    }

    /** Predicts the result of a start: the existing run, a rejection, or a new run (with an empty id). */
    StartedRun preview(WorkflowCatalogEntry current, EventTrigger eventTrigger) {
        WorkflowVersion workflow = current.published();
        RunDeduplicationKey.KeyKind kind = eventTrigger.entrance().triggerSource() == TriggerSource.WEBHOOK
                ? RunDeduplicationKey.KeyKind.WEBHOOK
                : RunDeduplicationKey.KeyKind.EVENT;
        RunDeduplicationKey name = new RunDeduplicationKey(
                eventTrigger.workspace(), kind, eventTrigger.of(workflow).text());
        StoreQueries.KeyLookup found = semel.view(reads -> reads.findKeys(List.of(name)));
        RunDeduplicationKeyRecord keyRecord =
                found == null ? null : found.keyRecords().getFirst();
        if (found != null
                && keyRecord != null
                && TriggerAdmissionRules.statusOf(keyRecord, found.now()) == KeyStatus.LIVE) {
            return new StartedRun(workflow.name(), workflow.workflowId(), keyRecord.runIdText(), true, false, null);
        }
        SemelException rejection = null;
        if (EventSubscriptionMatch.evaluate(workflow, eventTrigger.event())
                instanceof EventSubscriptionMatch.Matched(JsonNode input)) {
            try {
                check(workflow, input);
            } catch (SemelException e) {
                rejection = e;
            }
        }
        return new StartedRun(workflow.name(), workflow.workflowId(), "", false, false, rejection);
    }

    private Trigger trigger(WorkflowCatalogEntry current, EventTrigger eventTrigger) {
        if (!(EventSubscriptionMatch.evaluate(current.published(), eventTrigger.event())
                instanceof EventSubscriptionMatch.Matched(JsonNode input))) {
            throw new NotSubscribedException();
        }
        return new Trigger(
                ports.spaces().apply(eventTrigger.workspace()),
                current,
                input,
                StrictJsonCodec.write(input),
                Trigger.Identifiers.of(eventTrigger.of(current.published())),
                new Trigger.Sender(
                        eventTrigger.entrance().triggerSource(),
                        eventTrigger.entrance().actor(),
                        eventTrigger.entrance().correlationId()),
                false,
                Trigger.rejectionOf(() -> checkFresh(eventTrigger.entrance(), current.published(), input)),
                Trigger.RunLinks.atDepth(eventTrigger.entrance().depth()),
                0);
    }

    private void checkFresh(InboundEventOrigin entrance, WorkflowVersion workflow, JsonNode input) {
        RunTriggerChainDepthLimit.rejectIfTooDeep(
                entrance.depth(), ports.maxDepth().getAsInt(), workflow.name());
        check(workflow, input);
    }

    private void check(WorkflowVersion workflow, JsonNode input) {
        if (!input.isObject()) {
            throw new SemelException(
                    ErrorCode.INVALID_INPUT,
                    "The input of workflow \"" + workflow.name()
                            + "\" must be an object, but the mapping from the event returned another type. No run"
                            + " was started.",
                    "Send an object as data, or define the input under `trigger.events`, e.g. `data: {body: ${"
                            + " event.data }}`.");
        }
        ports.check().check(workflow, input);
    }

    private static final class NotSubscribedException extends RuntimeException {
        NotSubscribedException() {
            super("the workflow no longer subscribes to the event", null, false, false);
        }
    }
}
