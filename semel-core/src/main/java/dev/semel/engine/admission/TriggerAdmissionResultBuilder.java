package dev.semel.engine.admission;

import dev.semel.admission.RunDeduplicationKeyClaim;
import dev.semel.admission.RunDeduplicationKeyRecord;
import dev.semel.admission.Trigger;
import dev.semel.admission.TriggerAdmissionDecision;
import dev.semel.admission.TriggerAdmissionRules;
import dev.semel.admission.TriggerAdmissionRules.HeldKeys;
import dev.semel.admission.TriggerAdmissionRules.KeyRules;
import dev.semel.admission.TriggerAdmissionRules.RepeatedTrigger;
import dev.semel.admission.TriggerRejectionErrorFactory;
import dev.semel.admission.TriggerResult;
import dev.semel.definition.WorkflowVersion;
import dev.semel.engine.EngineMetricCounters;
import dev.semel.engine.run.WorkflowCatalog;
import dev.semel.idempotency.IdempotencyKey;
import dev.semel.idempotency.RequestFingerprint;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.StoreWrite;
import dev.semel.store.StoreWrite.AdmitResult;
import java.util.List;

/** Turns the outcome of an admission into the trigger result, counts it, and records duplicate requests. */
final class TriggerAdmissionResultBuilder {
    private final DuplicateRequestRecorder requests;
    private final WorkflowCatalog versions;
    private final EngineMetricCounters counters;

    TriggerAdmissionResultBuilder(
            DuplicateRequestRecorder requests, WorkflowCatalog versions, EngineMetricCounters counters) {
        this.requests = requests;
        this.versions = versions;
        this.counters = counters;
    }

    static HeldKeys existingKeys(TriggerAdmissionRequest request, AdmitResult.KeysHeld held) {
        RunDeduplicationKeyRecord byKey = null;
        RunDeduplicationKeyRecord byRunId = null;
        RunDeduplicationKeyRecord byPayload = null;
        for (int i = 0; i < request.ownClaimCount(); i++) {
            switch (request.keyClaims().get(i).key().kind()) {
                case KEY, WORKFLOW_KEY, DISTINCT_KEY ->
                    byKey = held.keyRecords().get(i);
                case RUN, CHILD, EVENT, WEBHOOK, TICK, REPLAY ->
                    byRunId = held.keyRecords().get(i);
                case PAYLOAD -> byPayload = held.keyRecords().get(i);
            }
        }
        return new HeldKeys(byKey, byRunId, byPayload);
    }

    TriggerResult respondFresh(TriggerAdmissionRequest request, RunId id, AdmitResult.Fresh fresh) {
        Trigger trigger = request.trigger();
        counters.fresh.increment();
        if (trigger.identifiers().key() == null && trigger.identifiers().sourceKey() == null) {
            counters.unkeyed.increment();
        }
        StoreWrite.PreviousHolder earlier = fresh.previous();
        if (earlier != null && earlier.expired()) {
            counters.expiredKeyRetries.increment();
        }
        RunDeduplicationKeyRecord duplicateOf = fresh.duplicateOf();
        return new TriggerResult(
                id,
                request.runIdText(id),
                trigger.paused() || fresh.queued() ? RunState.QUEUED : RunState.STARTED,
                trigger.workflow().workflowId(),
                false,
                false,
                List.of(),
                request.hasKey() ? request.keyClaims().getFirst().expiresAt(fresh.now()) : 0,
                earlier == null
                        ? null
                        : earlier.chosenId() != null
                                ? earlier.chosenId()
                                : earlier.run().text(),
                duplicateOf == null ? null : duplicateOf.runIdText());
    }

    /** A debounced run, still waiting to start, has absorbed this trigger. */
    TriggerResult respondDebounced(TriggerAdmissionRequest request, AdmitResult.Debounced absorbed) {
        counters.debounced.increment();
        RunId run = absorbed.run();
        String chosen = absorbed.chosenId();
        return new TriggerResult(
                run,
                chosen == null ? run.text() : chosen,
                RunState.QUEUED,
                request.trigger().workflow().workflowId(),
                false,
                false,
                List.of(),
                request.hasKey() ? request.keyClaims().getFirst().expiresAt(absorbed.now()) : 0,
                null,
                null);
    }

    TriggerAdmissionDecision decide(TriggerAdmissionRequest request, HeldKeys held) {
        Trigger trigger = request.trigger();
        String runId = trigger.identifiers().runId() == null
                ? null
                : trigger.identifiers().runId().text();
        RepeatedTrigger repeated = new RepeatedTrigger(
                trigger.workflow().workflowId(), runId, trigger.strict(), keyRecord -> compare(request, keyRecord));
        TriggerAdmissionDecision decided = TriggerAdmissionRules.decide(repeated, held);
        boolean bySourceKey = trigger.identifiers().sourceKey() != null;
        return bySourceKey
                        && decided
                                instanceof
                                TriggerAdmissionDecision.Conflict(
                                        TriggerAdmissionDecision.ConflictReason reason,
                                        RunDeduplicationKeyRecord keyRecord,
                                        var changed)
                        && reason == TriggerAdmissionDecision.ConflictReason.PAYLOAD
                ? new TriggerAdmissionDecision.Repeat(keyRecord, true, changed)
                : decided;
    }

    /** Only with equal data, since effects are reused. {@code failed}: of the key, not of the run that has it now. */
    boolean continuesLineage(TriggerAdmissionRequest request, RunDeduplicationKeyRecord failed) {
        boolean named = request.trigger().identifiers().key() != null
                || request.trigger().identifiers().runId() != null;
        return !named
                || decide(request, request.asHeldBy(failed))
                                instanceof TriggerAdmissionDecision.Repeat(_, boolean mismatch, _)
                        && !mismatch;
    }

    /** Records the decision and returns the result. A rejection is thrown. */
    TriggerResult respond(TriggerAdmissionRequest request, TriggerAdmissionDecision decided, long now) {
        Trigger trigger = request.trigger();
        return switch (decided) {
            case TriggerAdmissionDecision.Repeat repeat -> respondRepeat(request, repeat, now);
            case TriggerAdmissionDecision.Conflict conflict -> {
                counters.conflicts.increment();
                boolean byRunId = conflict.reason() == TriggerAdmissionDecision.ConflictReason.RUN_ID;
                record(request, conflict.keyRecord(), new Shown(422, now, conflict.changed(), true, byRunId));
                throw TriggerRejectionErrorFactory.conflict(trigger, conflict);
            }
            case TriggerAdmissionDecision.SamePayload same -> {
                counters.duplicatePayloads.increment();
                record(request, same.keyRecord(), new Shown(409, now, List.of(), true, true));
                throw TriggerRejectionErrorFactory.duplicatePayload(trigger, same.keyRecord());
            }
            case TriggerAdmissionDecision.Fresh _ ->
                throw new IllegalStateException("a key that is in use cannot be fresh");
        };
    }

    /** Under the version that admitted the key, so that publishing never turns a retry into a conflict. */
    private KeyRules compare(TriggerAdmissionRequest request, RunDeduplicationKeyRecord keyRecord) {
        WorkflowVersion current = request.trigger().workflow();
        if (keyRecord.version() == current.version()) {
            return new KeyRules(current.policy(), request.fingerprint());
        }
        WorkflowVersion admitting = versions.version(keyRecord.workflowId(), keyRecord.version());
        return new KeyRules(
                admitting.policy(),
                RequestFingerprint.of(
                        keyRecord.workflowId(),
                        request.trigger().data(),
                        admitting.policy(),
                        request.trigger().workspace().secret()));
    }

    private TriggerResult respondRepeat(
            TriggerAdmissionRequest request, TriggerAdmissionDecision.Repeat repeat, long now) {
        Runnable check = request.trigger().checks().onRepeat();
        if (check != null) {
            check.run(); // first: a rejection leaves no row and does not count as replayed
        }
        counters.replayed.increment();
        if (repeat.mismatch()) {
            counters.mismatched.increment();
        }
        RunDeduplicationKeyRecord keyRecord = repeat.keyRecord();
        record(request, keyRecord, new Shown(200, now, repeat.changed(), false, false));
        boolean keyed = request.hasKey() && keyRecord.expiresAt() != RunDeduplicationKeyClaim.FOREVER;
        return new TriggerResult(
                keyRecord.run(),
                keyRecord.runIdText(),
                keyRecord.state(),
                keyRecord.workflowId(),
                true,
                repeat.mismatch(),
                repeat.changed(),
                keyed ? keyRecord.expiresAt() : 0,
                null,
                null);
    }

    /** @param otherKey whether the run that the request met may have another key than the request */
    private record Shown(int statusCode, long at, List<String> changed, boolean conflict, boolean otherKey) {}

    private void record(TriggerAdmissionRequest request, RunDeduplicationKeyRecord keyRecord, Shown shown) {
        IdempotencyKey key = request.trigger().identifiers().key();
        DuplicateRequestRecorder.AnsweredRequest met = new DuplicateRequestRecorder.AnsweredRequest(
                request.workspace(),
                keyRecord.run(),
                shown.at(),
                shown.statusCode(),
                request.trigger().sender().actor(),
                shown.changed().isEmpty() ? null : String.join(", ", shown.changed()),
                request.displayKey(),
                shown.otherKey() && key != null ? key.text() : null);
        if (shown.conflict()) {
            requests.recordConflict(met);
        } else {
            requests.recordReplayed(met);
        }
    }
}
