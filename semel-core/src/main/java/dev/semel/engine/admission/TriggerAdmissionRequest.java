package dev.semel.engine.admission;

import dev.semel.admission.ConcurrencyAndRateLimitCalculator;
import dev.semel.admission.RunDeduplicationKey;
import dev.semel.admission.RunDeduplicationKeyClaim;
import dev.semel.admission.RunDeduplicationKeyRecord;
import dev.semel.admission.Trigger;
import dev.semel.admission.TriggerAdmissionDecision;
import dev.semel.admission.TriggerAdmissionRules;
import dev.semel.admission.TriggerAdmissionRules.HeldKeys;
import dev.semel.admission.TriggerAdmissionRules.KeyRules;
import dev.semel.admission.TriggerAdmissionRules.RepeatedTrigger;
import dev.semel.admission.TriggerDeduplicationKeyDerivation;
import dev.semel.definition.WorkflowVersion;
import dev.semel.engine.run.WorkflowCatalog;
import dev.semel.idempotency.IdempotencyKey;
import dev.semel.idempotency.RequestFingerprint;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.NewRun;
import dev.semel.store.StoreWrite.AdmitResult;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * @param assignedRunId the id of its run, if the rollout assignment needed one
 * @param failedKey the key record of the failed run whose lineage it continues; the last claim then names the run it
 *     follows
 */
record TriggerAdmissionRequest(
        Trigger trigger,
        RequestFingerprint fingerprint,
        List<RunDeduplicationKeyClaim> keyClaims,
        @Nullable RunId assignedRunId,
        @Nullable RunDeduplicationKeyRecord failedKey,
        WorkflowCatalog versions) {
    static TriggerAdmissionRequest of(Trigger trigger, @Nullable RunId assignedRunId, WorkflowCatalog versions) {
        RequestFingerprint fingerprint = fingerprint(trigger, trigger.workflow());
        return new TriggerAdmissionRequest(
                trigger,
                fingerprint,
                TriggerDeduplicationKeyDerivation.keyClaims(trigger, fingerprint),
                assignedRunId,
                null,
                versions);
    }

    private static RequestFingerprint fingerprint(Trigger trigger, WorkflowVersion version) {
        return RequestFingerprint.of(
                version.workflowId(),
                trigger.data(),
                version.policy(),
                trigger.workspace().secret());
    }

    int workspace() {
        return trigger.workspace().id();
    }

    TriggerAdmissionRequest followingRun(RetryAndReplayKeyDerivation.NewestRun newest, RunDeduplicationKeyRecord name) {
        List<RunDeduplicationKeyClaim> all = new ArrayList<>(keyClaims);
        all.add(RetryAndReplayKeyDerivation.followUpClaim(workspace(), newest));
        return new TriggerAdmissionRequest(trigger, fingerprint, all, assignedRunId, name, versions);
    }

    /** Number of claims that identify the trigger itself, without the claim to follow a run. */
    int ownClaimCount() {
        return keyClaims.size() - (failedKey == null ? 0 : 1);
    }

    /** The keys in use if the first key of this request belongs to that record. */
    HeldKeys asHeldBy(RunDeduplicationKeyRecord keyRecord) {
        return trigger.identifiers().key() == null
                ? new HeldKeys(null, keyRecord, null)
                : new HeldKeys(keyRecord, null, null);
    }

    /** Whether it has an idempotency key, or a key that its trigger source assigned: the first claim. */
    boolean hasKey() {
        return trigger.identifiers().key() != null || trigger.identifiers().sourceKey() != null;
    }

    /** The key, shortened for lists and logs. */
    @Nullable
    String displayKey() {
        IdempotencyKey key = trigger.identifiers().key();
        Trigger.SourceKey source = trigger.identifiers().sourceKey();
        return key != null ? key.shortened() : source != null ? source.displayText() : null;
    }

    String runIdText(RunId id) {
        var chosen = trigger.identifiers().runId();
        return chosen == null ? id.text() : chosen.text();
    }

    NewRun newRun(RunId id) {
        Trigger.RunLinks links = trigger.links();
        RunId lineage = failedKey == null ? links.lineage() : failedKey.lineage();
        IdempotencyKey key = trigger.identifiers().key();
        Trigger.SourceKey source = trigger.identifiers().sourceKey();
        return new NewRun(
                id,
                workspace(),
                trigger.identifiers().runId() == null
                        ? null
                        : trigger.identifiers().runId().text(),
                trigger.workflow().workflowId(),
                trigger.workflow().version(),
                trigger.paused() ? RunState.QUEUED : RunState.STARTED,
                new NewRun.TriggerOrigin(
                        trigger.sender().source(),
                        trigger.sender().actor(),
                        key != null ? key.text() : source != null ? source.displayText() : null,
                        trigger.sender().correlationId()),
                trigger.input(),
                fingerprint.fields(),
                new NewRun.RunParentage(
                        lineage, links.parent(), links.replayOf(), links.initialJournal(), links.depth()),
                ConcurrencyAndRateLimitCalculator.startGate(trigger));
    }

    HeldKeys existingKeys(AdmitResult.KeysHeld held) {
        RunDeduplicationKeyRecord byKey = null;
        RunDeduplicationKeyRecord byRunId = null;
        RunDeduplicationKeyRecord byPayload = null;
        for (int i = 0; i < ownClaimCount(); i++) {
            switch (keyClaims.get(i).key().kind()) {
                case KEY, WORKFLOW_KEY, DISTINCT_KEY ->
                    byKey = held.keyRecords().get(i);
                case RUN, CHILD, EVENT, WEBHOOK, TICK, REPLAY ->
                    byRunId = held.keyRecords().get(i);
                case PAYLOAD -> byPayload = held.keyRecords().get(i);
            }
        }
        return new HeldKeys(byKey, byRunId, byPayload);
    }

    TriggerAdmissionDecision decide(HeldKeys held) {
        String runId = trigger.identifiers().runId() == null
                ? null
                : trigger.identifiers().runId().text();
        RepeatedTrigger repeated = new RepeatedTrigger(
                trigger.workflow().workflowId(), runId, trigger.strict(), keyRecord -> compare(keyRecord));
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
    boolean continuesLineage(RunDeduplicationKeyRecord failed) {
        boolean named =
                trigger.identifiers().key() != null || trigger.identifiers().runId() != null;
        return !named
                || decide(asHeldBy(failed)) instanceof TriggerAdmissionDecision.Repeat(_, boolean mismatch, _)
                        && !mismatch;
    }

    /** Under the version that admitted the key, so that publishing never turns a retry into a conflict. */
    private KeyRules compare(RunDeduplicationKeyRecord keyRecord) {
        WorkflowVersion current = trigger.workflow();
        if (keyRecord.version() == current.version()) {
            return new KeyRules(current.policy(), fingerprint);
        }
        WorkflowVersion admitting = versions.version(keyRecord.workflowId(), keyRecord.version());
        return new KeyRules(
                admitting.policy(),
                RequestFingerprint.of(
                        keyRecord.workflowId(),
                        trigger.data(),
                        admitting.policy(),
                        trigger.workspace().secret()));
    }

    /** The unique keys that other versions of the workflow derive from this idempotency key. */
    List<RunDeduplicationKey> keysOfOtherVersions() {
        IdempotencyKey key = trigger.identifiers().key();
        if (key == null || trigger.workflow().earlierVersions().isEmpty()) {
            return List.of();
        }
        List<RunDeduplicationKey> names = new ArrayList<>();
        for (WorkflowVersion earlier : trigger.workflow().earlierVersions()) {
            names.add(TriggerDeduplicationKeyDerivation.key(workspace(), key, earlier, fingerprint(trigger, earlier)));
        }
        return names;
    }
}
