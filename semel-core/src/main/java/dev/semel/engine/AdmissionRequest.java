package dev.semel.engine;

import dev.semel.admission.AdmissionRules.HeldKeys;
import dev.semel.admission.Fingerprint;
import dev.semel.admission.IdempotencyKey;
import dev.semel.admission.KeyRecord;
import dev.semel.run.RunId;
import dev.semel.workflow.RunState;
import dev.semel.store.NewRun;
import dev.semel.store.KeyClaim;
import dev.semel.trigger.Trigger;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A trigger with the keys that it claims under its assigned workflow version.
 *
 * @param assignedRunId the id of its run, if the rollout assignment needed one
 * @param failedKey the key record of the failed run whose lineage it continues; the last claim then names the run it
 * follows
 */
record AdmissionRequest(
        Trigger trigger,
        Fingerprint fingerprint,
        List<KeyClaim> keyClaims,
        @Nullable RunId assignedRunId,
        @Nullable KeyRecord failedKey) {
    AdmissionRequest(Trigger trigger, Fingerprint fingerprint, List<KeyClaim> wishes, @Nullable RunId drawn) {
        this(trigger, fingerprint, wishes, drawn, null);
    }

    int workspace() {
        return trigger.workspace().id();
    }

    /** The same request as a follow-up of the newest run of a lineage. */
    AdmissionRequest followingRun(Lineage.NewestRun newest, KeyRecord name) {
        List<KeyClaim> all = new ArrayList<>(keyClaims);
        all.add(Lineage.followUpClaim(workspace(), newest));
        return new AdmissionRequest(trigger, fingerprint, all, assignedRunId, name);
    }

    /** Number of claims that identify the trigger itself, without the claim to follow a run. */
    int ownClaimCount() {
        return keyClaims.size() - (failedKey == null ? 0 : 1);
    }

    /** The keys in use if the first key of this request belongs to that record. */
    HeldKeys asHeldBy(KeyRecord known) {
        return trigger.identifiers().key() == null ? new HeldKeys(null, known, null) : new HeldKeys(known, null, null);
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

    /** Builds the run to insert. */
    NewRun newRun(RunId id) {
        Trigger.RunLinks links = trigger.links();
        RunId lineage = failedKey == null ? links.lineage() : failedKey.lineage();
        IdempotencyKey key = trigger.identifiers().key();
        Trigger.SourceKey source = trigger.identifiers().sourceKey();
        return new NewRun(
                id,
                workspace(),
                trigger.identifiers().runId() == null ? null : trigger.identifiers().runId().text(),
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
                new NewRun.RunParentage(lineage, links.parent(), links.replayOf(), links.initialJournal(), links.depth()),
                ConcurrencyLimits.startGate(trigger));
    }
}
