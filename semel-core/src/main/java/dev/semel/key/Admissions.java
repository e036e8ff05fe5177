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
 * May this trigger start a run? The whole rule, without a store: which names are held, and what a held name means for
 * the trigger that meets it. The stores insert first and ask this only about the names they lost.
 */
public final class Admissions {
    private Admissions() {}

    /** Whether a name still stands for its run, or why it may be given to another. */
    public enum Standing {
        LIVE,
        EXPIRED,
        RELEASED,
        FAILED
    }

    /** A trigger that met a held name. {@code judge} tells policy and fingerprint by the version that admitted it. */
    public record Asked(String workflowId, @Nullable String runId, boolean strict, Function<Known, Judgement> judge) {}

    public record Judgement(KeyPolicy policy, Fingerprint fingerprint) {}

    /** What the store found under the trigger's names; null where the name was free or not asked for. */
    public record Held(
            @Nullable Known byKey,
            @Nullable Known byRunId,
            @Nullable Known byPayload) {
        public static final Held NOTHING = new Held(null, null, null);
    }

    /**
     * The window's edge belongs to the next trigger: at {@code expiresAt} the name is expired. A name with
     * {@link Known#HOLD} stands for as long as its run is unfinished, however old it is.
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

    /** The key decides, then the run id, then the payload. Every {@link Known} in {@code held} is live. */
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
