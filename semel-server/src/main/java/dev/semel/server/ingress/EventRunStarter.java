package dev.semel.server.ingress;

import dev.semel.runtime.SemelRuntime;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJson;
import dev.semel.admission.AdmissionRules;
import dev.semel.admission.AdmissionRules.KeyStatus;
import dev.semel.admission.KeyRecord;
import dev.semel.server.ingress.EventDeliveryResult.StartedRun;
import dev.semel.store.UniqueKey;
import dev.semel.store.StoreQueries;
import dev.semel.trigger.TriggerResult;
import dev.semel.trigger.TriggerSource;
import dev.semel.trigger.Trigger;
import dev.semel.definition.CurrentWorkflow;
import dev.semel.definition.WorkflowVersion;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Starts the runs of an event in its subscribed workflows. */
final class EventRunStarter {
    private final SemelRuntime semel;
    private final EventIngress.Dependencies ports;

    EventRunStarter(SemelRuntime semel, EventIngress.Dependencies ports) {
        this.semel = semel;
        this.ports = ports;
    }

    /** An event delivery with its identity and origin. */
    record EventTrigger(int workspace, InboundEvent event, EventOrigin entrance, EventIdentity name, String eventId) {
        Trigger.SourceKey of(WorkflowVersion workflow) {
            return name.of(eventId, workflow.workflowId());
        }
    }

    /** Starts them in parallel, so that they share a commit. Returns a retryable rejection, if any. */
    @Nullable
    SemelException startAll(List<CurrentWorkflow> takers, EventTrigger asked, Map<String, StartedRun> runs) {
        Map<String, Outcome> outcomes = new ConcurrentHashMap<>();
        ParallelTasks.runAll(takers, one -> outcomes.put(one.published().workflowId(), start(one, asked)));
        SemelException retryable = null;
        for (CurrentWorkflow one : takers) { // in the order of the subscribers, whichever finished first
            String id = one.published().workflowId();
            switch (outcomes.get(id)) {
                case Outcome.Done(StartedRun started) -> runs.put(id, started);
                case Outcome.Retryable(SemelException refusal) -> retryable = refusal;
                case null -> throw new IllegalStateException("a workflow has no outcome");
                case Outcome.NotSubscribed _ -> {}
            }
        }
        return retryable;
    }

    private sealed interface Outcome {
        record Done(StartedRun started) implements Outcome {}

        record Retryable(SemelException refusal) implements Outcome {}

        /** The current or assigned version does not subscribe to the event. */
        record NotSubscribed() implements Outcome {}
    }

    private Outcome start(CurrentWorkflow first, EventTrigger asked) {
        String workflow = first.published().name();
        String workflowId = first.published().workflowId();
        try {
            TriggerResult answer = semel.trigger(asked.workspace(), first, current -> trigger(current, asked));
            return new Outcome.Done(
                    new StartedRun(workflow, workflowId, answer.runId(), answer.replayed(), answer.payloadMismatch(), null));
        } catch (NotSubscribedException e) {
            return new Outcome.NotSubscribed();
        } catch (SemelException refusal) {
            return refusal.code().retryable()
                    ? new Outcome.Retryable(refusal)
                    : new Outcome.Done(new StartedRun(workflow, workflowId, "", false, false, refusal));
        }
    }

    /** Predicts the result of a start: the existing run, a rejection, or a new run (with an empty id). */
    StartedRun preview(CurrentWorkflow current, EventTrigger asked) {
        WorkflowVersion workflow = current.published();
        UniqueKey.KeyKind kind = asked.entrance().triggerSource() == TriggerSource.HOOK ? UniqueKey.KeyKind.HOOK : UniqueKey.KeyKind.EVENT;
        UniqueKey name = new UniqueKey(asked.workspace(), kind, asked.of(workflow).text());
        StoreQueries.KeyLookup found = semel.view(reads -> reads.findKeys(List.of(name)));
        KeyRecord known = found == null ? null : found.keyRecords().getFirst();
        if (found != null && known != null && AdmissionRules.statusOf(known, found.now()) == KeyStatus.LIVE) {
            return new StartedRun(workflow.name(), workflow.workflowId(), known.runIdText(), true, false, null);
        }
        SemelException refused = null;
        if (EventMatch.evaluate(workflow, asked.event()) instanceof EventMatch.Matched(JsonNode input)) {
            try {
                check(workflow, input);
            } catch (SemelException e) {
                refused = e;
            }
        }
        return new StartedRun(workflow.name(), workflow.workflowId(), "", false, false, refused);
    }

    private Trigger trigger(CurrentWorkflow current, EventTrigger asked) {
        if (!(EventMatch.evaluate(current.published(), asked.event()) instanceof EventMatch.Matched(JsonNode input))) {
            throw new NotSubscribedException();
        }
        Trigger.AdmissionChecks quota = asked.entrance().quota();
        return new Trigger(
                ports.spaces().apply(asked.workspace()),
                current,
                input,
                StrictJson.write(input),
                Trigger.Identifiers.of(asked.of(current.published())),
                new Trigger.Sender(
                        asked.entrance().triggerSource(),
                        asked.entrance().actor(),
                        asked.entrance().correlationId()),
                false,
                new Trigger.AdmissionChecks(() -> checkFresh(asked.entrance(), current.published(), input), quota.onRepeat()),
                Trigger.RunLinks.atDepth(asked.entrance().depth()));
    }

    /** Checks depth, quota and then the input schema, in the same order as HTTP triggers. */
    private void checkFresh(EventOrigin entrance, WorkflowVersion workflow, JsonNode input) {
        RunDepthLimit.rejectIfTooDeep(entrance.depth(), ports.maxDepth().getAsInt(), workflow.name());
        if (entrance.quota().onFresh() != null) {
            entrance.quota().onFresh().run();
        }
        check(workflow, input);
    }

    private void check(WorkflowVersion workflow, JsonNode input) {
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

    private static final class NotSubscribedException extends RuntimeException {
        NotSubscribedException() {
            super("the workflow no longer subscribes to the event", null, false, false);
        }
    }
}
