package dev.semel.engine;

import dev.semel.admission.Admission;
import dev.semel.admission.AdmissionRules;
import dev.semel.admission.AdmissionRules.RepeatedTrigger;
import dev.semel.admission.AdmissionRules.HeldKeys;
import dev.semel.admission.AdmissionRules.KeyRules;
import dev.semel.admission.Fingerprint;
import dev.semel.admission.KeyRecord;
import dev.semel.run.RunId;
import dev.semel.workflow.RunState;
import dev.semel.store.KeyClaim;
import dev.semel.store.StoreWrite;
import dev.semel.store.StoreWrite.AdmitResult;
import dev.semel.trigger.TriggerResult;
import dev.semel.trigger.Trigger;
import dev.semel.definition.WorkflowVersion;
import java.util.List;

/** Turns the outcome of an admission into the trigger result, counts it, and records duplicate requests. */
final class AdmissionResponder {
    private final RequestRecorder requests;
    private final TriggerAdmission.VersionLookup versions;
    private final EngineCounters counters;

    AdmissionResponder(RequestRecorder requests, TriggerAdmission.VersionLookup versions, EngineCounters counters) {
        this.requests = requests;
        this.versions = versions;
        this.counters = counters;
    }

    static HeldKeys existingKeys(AdmissionRequest request, AdmitResult.KeysHeld held) {
        KeyRecord byKey = null;
        KeyRecord byRunId = null;
        KeyRecord byPayload = null;
        for (int i = 0; i < request.ownClaimCount(); i++) {
            switch (request.keyClaims().get(i).key().kind()) {
                case KEY, WORKFLOW_KEY, DISTINCT_KEY -> byKey = held.keyRecords().get(i);
                case RUN, CHILD, EVENT, HOOK, TICK, REPLAY ->
                    byRunId = held.keyRecords().get(i);
                case PAYLOAD -> byPayload = held.keyRecords().get(i);
            }
        }
        return new HeldKeys(byKey, byRunId, byPayload);
    }

    TriggerResult respondFresh(AdmissionRequest request, RunId id, AdmitResult.Fresh fresh) {
        Trigger trigger = request.trigger();
        counters.fresh.increment();
        if (trigger.identifiers().key() == null && trigger.identifiers().sourceKey() == null) {
            counters.unkeyed.increment();
        }
        StoreWrite.PreviousHolder earlier = fresh.previous();
        if (earlier != null && earlier.expired()) {
            counters.expiredKeyRetries.increment();
        }
        KeyRecord duplicateOf = fresh.duplicateOf();
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
    TriggerResult respondDebounced(AdmissionRequest request, AdmitResult.Debounced absorbed) {
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

    /** Decides what the keys that are already in use mean for this trigger. */
    Admission decide(AdmissionRequest request, HeldKeys held) {
        Trigger trigger = request.trigger();
        String runId =
                trigger.identifiers().runId() == null ? null : trigger.identifiers().runId().text();
        RepeatedTrigger repeated = new RepeatedTrigger(
                trigger.workflow().workflowId(), runId, trigger.strict(), known -> compare(request, known));
        Admission decided = AdmissionRules.decide(repeated, held);
        boolean byDoor = trigger.identifiers().sourceKey() != null;
        return byDoor
                        && decided instanceof Admission.Conflict(Admission.ConflictReason reason, KeyRecord known, var changed)
                        && reason == Admission.ConflictReason.PAYLOAD
                ? new Admission.Repeat(known, true, changed)
                : decided;
    }

    /**
     * Whether a retry continues the lineage of a failed run.
     * It does so only with the same data: the lineage reuses recorded effects, which do not apply to other data.
     *
     * @param failed the record of the key itself, not of the run that represents it now, which has its own id
     */
    boolean continuesLineage(AdmissionRequest request, KeyRecord failed) {
        boolean named =
                request.trigger().identifiers().key() != null || request.trigger().identifiers().runId() != null;
        return !named
                || decide(request, request.asHeldBy(failed)) instanceof Admission.Repeat(_, boolean mismatch, _)
                        && !mismatch;
    }

    /** Records the decision and returns the result. A rejection is thrown. */
    TriggerResult respond(AdmissionRequest request, Admission decided, long now) {
        Trigger trigger = request.trigger();
        return switch (decided) {
            case Admission.Repeat repeat -> respondRepeat(request, repeat, now);
            case Admission.Conflict conflict -> {
                counters.conflicts.increment();
                record(request, conflict.keyRecord(), new Shown(422, now, conflict.changed()), true);
                throw AdmissionErrors.conflict(trigger, conflict);
            }
            case Admission.SamePayload same -> {
                counters.duplicatePayloads.increment();
                record(request, same.keyRecord(), new Shown(409, now, List.of()), true);
                throw AdmissionErrors.duplicatePayload(trigger, same.keyRecord());
            }
            case Admission.Fresh _ -> throw new IllegalStateException("a key that is in use cannot be fresh");
        };
    }

    /**
     * Compares a payload under the version that admitted the key, so that publishing never turns a retry into a
     * conflict.
     */
    private KeyRules compare(AdmissionRequest request, KeyRecord known) {
        WorkflowVersion current = request.trigger().workflow();
        if (known.version() == current.version()) {
            return new KeyRules(current.policy(), request.fingerprint());
        }
        WorkflowVersion admitting = versions.version(known.workflowId(), known.version());
        return new KeyRules(
                admitting.policy(),
                Fingerprint.of(
                        known.workflowId(),
                        request.trigger().data(),
                        admitting.policy(),
                        request.trigger().workspace().secret()));
    }

    private TriggerResult respondRepeat(AdmissionRequest request, Admission.Repeat repeat, long now) {
        Runnable check = request.trigger().checks().onRepeat();
        if (check != null) {
            check.run(); // first: a rejection leaves no row and does not count as replayed
        }
        counters.replayed.increment();
        if (repeat.mismatch()) {
            counters.mismatched.increment();
        }
        KeyRecord known = repeat.keyRecord();
        record(request, known, new Shown(200, now, repeat.changed()), false);
        boolean keyed = request.hasKey() && known.expiresAt() != KeyClaim.FOREVER;
        return new TriggerResult(
                known.run(),
                known.runIdText(),
                known.state(),
                known.workflowId(),
                true,
                repeat.mismatch(),
                repeat.changed(),
                keyed ? known.expiresAt() : 0,
                null,
                null);
    }

    private record Shown(int statusCode, long at, List<String> changed) {}

    private void record(AdmissionRequest request, KeyRecord known, Shown shown, boolean conflict) {
        RequestRecorder.AnsweredRequest met = new RequestRecorder.AnsweredRequest(
                request.workspace(),
                known.run(),
                shown.at(),
                shown.statusCode(),
                request.trigger().sender().actor(),
                shown.changed().isEmpty() ? null : String.join(", ", shown.changed()),
                request.displayKey());
        if (conflict) {
            requests.recordConflict(met);
        } else {
            requests.recordReplayed(met);
        }
    }
}
