package dev.semel.key;

import dev.semel.key.Admission.Conflict;
import dev.semel.key.Admission.Fresh;
import dev.semel.key.Admission.Reason;
import dev.semel.key.Admission.Repeat;
import dev.semel.key.Admission.SamePayload;
import dev.semel.key.KeyPolicy.OnMismatch;
import dev.semel.run.RunState;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The pure rules of admission: whether a key still belongs to its run, and what that means for a new trigger. Stores
 * insert the keys first and apply these rules only to keys that another run holds.
 */
public final class Admissions {
    private Admissions() {}

    /** Whether a key still belongs to its run, or why another run may take it. */
    public enum Standing {
        LIVE,
        EXPIRED,
        RELEASED,
        FAILED
    }

    /**
     * A trigger that found a held key. Its function returns policy and fingerprint under the version that admitted the
     * key.
     */
    public record Asked(String workflowId, @Nullable String runId, boolean strict, Function<Known, Judgement> judge) {}

    /** Key policy of a workflow version, and the trigger's fingerprint under it. */
    public record Judgement(KeyPolicy policy, Fingerprint fingerprint) {}

    /** The key records that the store found for the trigger; null for a free or absent key. */
    public record Held(
            @Nullable Known byKey,
            @Nullable Known byRunId,
            @Nullable Known byPayload) {
        public static final Held NOTHING = new Held(null, null, null);
    }

    /**
     * At {@code expiresAt} the key is already expired. A key with {@link Known#HOLD} does not expire while its run is
     * unfinished.
     */
    public static Standing standing(Known known, long now) {
        if (known.has(Known.RELEASED)) {
            return Standing.RELEASED;
        }
        boolean ended = known.state().ended();
        if (now >= known.expiresAt() && (ended || !known.has(Known.HOLD))) {
            return Standing.EXPIRED;
        }
        if (known.state() == RunState.FAILED && known.has(Known.RERUN_FAILED)) {
            return Standing.FAILED;
        }
        return Standing.LIVE;
    }

    /** The key decides first, then the run id, then the payload. Every {@link Known} in {@code held} is live. */
    public static Admission decide(Asked asked, Held held) {
        Known byKey = held.byKey();
        if (byKey != null) {
            if (asked.runId() != null && !asked.runId().equals(byKey.runIdText())) {
                return new Conflict(Reason.RUN_ID, byKey, List.of());
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

    private static Admission compare(Asked asked, Known known) {
        if (!asked.workflowId().equals(known.workflowId())) {
            return new Conflict(Reason.WORKFLOW, known, List.of());
        }
        Judgement judgement = asked.judge().apply(known);
        if (judgement.fingerprint().sameDigest(known.digest())) {
            return new Repeat(known, false, List.of());
        }
        List<String> changed = judgement.fingerprint().changedFrom(known.fields());
        boolean rejects = judgement.policy().onMismatch() == OnMismatch.REJECT || asked.strict();
        return rejects ? new Conflict(Reason.PAYLOAD, known, changed) : new Repeat(known, true, changed);
    }
}
