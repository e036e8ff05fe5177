package dev.semel.engine.admission;

import dev.semel.admission.ConcurrencyAndRateLimitCalculator;
import dev.semel.admission.RunDeduplicationKeyClaim;
import dev.semel.admission.RunDeduplicationKeyRecord;
import dev.semel.admission.Trigger;
import dev.semel.admission.TriggerAdmissionRules.HeldKeys;
import dev.semel.idempotency.IdempotencyKey;
import dev.semel.idempotency.RequestFingerprint;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.NewRun;
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
        @Nullable RunDeduplicationKeyRecord failedKey) {
    int workspace() {
        return trigger.workspace().id();
    }

    TriggerAdmissionRequest followingRun(RetryAndReplayKeyDerivation.NewestRun newest, RunDeduplicationKeyRecord name) {
        List<RunDeduplicationKeyClaim> all = new ArrayList<>(keyClaims);
        all.add(RetryAndReplayKeyDerivation.followUpClaim(workspace(), newest));
        return new TriggerAdmissionRequest(trigger, fingerprint, all, assignedRunId, name);
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
}
