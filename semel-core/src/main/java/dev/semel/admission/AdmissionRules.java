package dev.semel.admission;

import dev.semel.admission.Admission.Conflict;
import dev.semel.admission.Admission.Fresh;
import dev.semel.admission.Admission.ConflictReason;
import dev.semel.admission.Admission.Repeat;
import dev.semel.admission.Admission.SamePayload;
import dev.semel.workflow.OnMismatch;
import dev.semel.workflow.RunState;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The pure rules of admission: whether a key still belongs to its run, and what that means for a new trigger. Stores
 * insert the keys first and apply these rules only to keys that another run holds.
 */
public final class AdmissionRules {
    private AdmissionRules() {}

    /** Whether a key still belongs to its run, or why another run may take it. */
    public enum KeyStatus {
        LIVE,
        EXPIRED,
        RELEASED,
        FAILED
    }

    /**
     * A trigger that found a held key. Its function returns policy and fingerprint under the version that admitted the
     * key.
     */
    public record RepeatedTrigger(String workflowId, @Nullable String runId, boolean strict, Function<KeyRecord, KeyRules> rulesFor) {}

    /** Key policy of a workflow version, and the trigger's fingerprint under it. */
    public record KeyRules(KeyPolicy policy, Fingerprint fingerprint) {}

    /** The key records that the store found for the trigger; null for a free or absent key. */
    public record HeldKeys(
            @Nullable KeyRecord byKey,
            @Nullable KeyRecord byRunId,
            @Nullable KeyRecord byPayload) {
        public static final HeldKeys NOTHING = new HeldKeys(null, null, null);
    }

    /**
     * At {@code expiresAt} the key is already expired. A key with {@link KeyRecord#HOLD} does not expire while its run is
     * unfinished.
     */
    public static KeyStatus statusOf(KeyRecord known, long now) {
        if (known.has(KeyRecord.RELEASED)) {
            return KeyStatus.RELEASED;
        }
        boolean ended = known.state().hasEnded();
        if (now >= known.expiresAt() && (ended || !known.has(KeyRecord.HOLD))) {
            return KeyStatus.EXPIRED;
        }
        if (known.state() == RunState.FAILED && known.has(KeyRecord.RERUN_FAILED)) {
            return KeyStatus.FAILED;
        }
        return KeyStatus.LIVE;
    }

    /** The key decides first, then the run id, then the payload. Every {@link KeyRecord} in {@code held} is live. */
    public static Admission decide(RepeatedTrigger asked, HeldKeys held) {
        KeyRecord byKey = held.byKey();
        if (byKey != null) {
            if (asked.runId() != null && !asked.runId().equals(byKey.runIdText())) {
                return new Conflict(ConflictReason.RUN_ID, byKey, List.of());
            }
            return compare(asked, byKey);
        }
        if (held.byRunId() != null) {
            return compare(asked, held.byRunId());
        }
        if (held.byPayload() != null) {
            return new SamePayload(held.byPayload());
        }
        return new Fresh();
    }

    private static Admission compare(RepeatedTrigger asked, KeyRecord known) {
        if (!asked.workflowId().equals(known.workflowId())) {
            return new Conflict(ConflictReason.WORKFLOW, known, List.of());
        }
        KeyRules judgement = asked.rulesFor().apply(known);
        if (judgement.fingerprint().sameDigest(known.digest())) {
            return new Repeat(known, false, List.of());
        }
        List<String> changed = judgement.fingerprint().changedFrom(known.fields());
        boolean rejects = judgement.policy().onMismatch() == OnMismatch.REJECT || asked.strict();
        return rejects ? new Conflict(ConflictReason.PAYLOAD, known, changed) : new Repeat(known, true, changed);
    }
}
