package dev.semel.key;

import java.time.Duration;
import java.util.List;

/**
 * What a workflow version says about keys: how long they hold, where they are unique, what makes two triggers the
 * same action, and what to do when they are not. A known key is judged by the policy of the version that admitted it.
 *
 * @param fingerprint the declared fields; empty where the workflow declares none
 * @param fingerprintIgnore paths left out of an otherwise whole fingerprint; not empty counts as declared
 */
public record KeyPolicy(
        Duration window,
        Scope scope,
        List<FingerprintField> fingerprint,
        List<String> fingerprintIgnore,
        OnMismatch onMismatch,
        DuplicatePayload duplicatePayload,
        OnFailed onFailed,
        boolean holdWhileRunning,
        boolean requireKey) {

    public enum Scope {
        WORKSPACE,
        WORKFLOW
    }

    public enum OnMismatch {
        REJECT,
        REPLAY,
        DISTINCT
    }

    public enum DuplicatePayload {
        ALLOW,
        FLAG,
        REJECT
    }

    public enum OnFailed {
        RETURN_FAILED,
        RUN_AGAIN
    }

    public static final Duration SHORTEST_WINDOW = Duration.ofSeconds(1);
    public static final Duration LONGEST_WINDOW = Duration.ofDays(365);

    /** Seed 000's letter: 24 hours, per workspace, the key alone decides. */
    public static final KeyPolicy DEFAULT = new KeyPolicy(
            Duration.ofHours(24),
            Scope.WORKSPACE,
            List.of(),
            List.of(),
            OnMismatch.REPLAY,
            DuplicatePayload.ALLOW,
            OnFailed.RETURN_FAILED,
            true,
            false);

    public KeyPolicy {
        if (window.compareTo(SHORTEST_WINDOW) < 0 || window.compareTo(LONGEST_WINDOW) > 0) {
            throw new IllegalArgumentException("window must be between 1s and 365d, not " + window);
        }
        fingerprint = List.copyOf(fingerprint);
        fingerprintIgnore = List.copyOf(fingerprintIgnore);
        if (!fingerprint.isEmpty() && !fingerprintIgnore.isEmpty()) {
            throw new IllegalArgumentException("declare fingerprint or fingerprint_ignore, not both");
        }
    }

    /** A workflow that says what makes the same action has a declared fingerprint. */
    public boolean declared() {
        return !fingerprint.isEmpty() || !fingerprintIgnore.isEmpty();
    }
}
