package dev.semel.admission;

import dev.semel.admission.TriggerAdmissionDecision.Conflict;
import dev.semel.admission.TriggerAdmissionDecision.ConflictReason;
import dev.semel.admission.TriggerAdmissionDecision.Fresh;
import dev.semel.admission.TriggerAdmissionDecision.Repeat;
import dev.semel.admission.TriggerAdmissionDecision.SamePayload;
import dev.semel.idempotency.KeyPolicy;
import dev.semel.idempotency.RequestFingerprint;
import dev.semel.policy.SameKeyDifferentPayloadPolicy;
import dev.semel.run.RunState;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Stores insert the keys first and apply these rules only to keys that another run holds. */
public final class TriggerAdmissionRules {
    private TriggerAdmissionRules() {}

    /** Whether a key still belongs to its run, or why another run may take it. */
    public enum KeyStatus {
        LIVE,
        EXPIRED,
        RELEASED,
        FAILED
    }

    /** Its function returns policy and fingerprint under the version that admitted the key. */
    public record RepeatedTrigger(
            String workflowId,
            @Nullable String runId,
            boolean strict,
            Function<RunDeduplicationKeyRecord, KeyRules> rulesFor) {}

    public record KeyRules(KeyPolicy policy, RequestFingerprint fingerprint) {}

    /** The key records that the store found for the trigger; null for a free or absent key. */
    public record HeldKeys(
            @Nullable RunDeduplicationKeyRecord byKey,
            @Nullable RunDeduplicationKeyRecord byRunId,
            @Nullable RunDeduplicationKeyRecord byPayload) {
        public static final HeldKeys NOTHING = new HeldKeys(null, null, null);
    }

    /** Expired from {@code expiresAt} on; a {@link RunDeduplicationKeyRecord#HOLD} key only once its run has ended. */
    public static KeyStatus statusOf(RunDeduplicationKeyRecord keyRecord, long now) {
        if (keyRecord.has(RunDeduplicationKeyRecord.RELEASED)) {
            return KeyStatus.RELEASED;
        }
        boolean ended = keyRecord.state().hasEnded();
        if (now >= keyRecord.expiresAt() && (ended || !keyRecord.has(RunDeduplicationKeyRecord.HOLD))) {
            return KeyStatus.EXPIRED;
        }
        if (keyRecord.state() == RunState.FAILED && keyRecord.has(RunDeduplicationKeyRecord.RERUN_FAILED)) {
            return KeyStatus.FAILED;
        }
        return KeyStatus.LIVE;
    }

    /** The key decides first, then the run id, then the payload. Every {@link RunDeduplicationKeyRecord} in {@code held} is live. */
    public static TriggerAdmissionDecision decide(RepeatedTrigger repeatedTrigger, HeldKeys held) {
        RunDeduplicationKeyRecord byKey = held.byKey();
        if (byKey != null) {
            if (repeatedTrigger.runId() != null && !repeatedTrigger.runId().equals(byKey.runIdText())) {
                return new Conflict(ConflictReason.RUN_ID, byKey, List.of());
            }
            return compare(repeatedTrigger, byKey);
        }
        if (held.byRunId() != null) {
            return compare(repeatedTrigger, held.byRunId());
        }
        if (held.byPayload() != null) {
            return new SamePayload(held.byPayload());
        }
        return new Fresh();
    }

    private static TriggerAdmissionDecision compare(
            RepeatedTrigger repeatedTrigger, RunDeduplicationKeyRecord keyRecord) {
        if (!repeatedTrigger.workflowId().equals(keyRecord.workflowId())) {
            return new Conflict(ConflictReason.WORKFLOW, keyRecord, List.of());
        }
        KeyRules judgement = repeatedTrigger.rulesFor().apply(keyRecord);
        if (judgement.fingerprint().sameDigest(keyRecord.digest())) {
            return new Repeat(keyRecord, false, List.of());
        }
        List<String> changed = judgement.fingerprint().changedFrom(keyRecord.fields());
        boolean rejects =
                judgement.policy().onMismatch() == SameKeyDifferentPayloadPolicy.REJECT || repeatedTrigger.strict();
        return rejects
                ? new Conflict(ConflictReason.PAYLOAD, keyRecord, changed)
                : new Repeat(keyRecord, true, changed);
    }
}
