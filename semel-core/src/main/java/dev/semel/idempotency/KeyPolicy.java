package dev.semel.idempotency;

import dev.semel.policy.SameKeyDifferentPayloadPolicy;
import dev.semel.policy.SamePayloadDifferentKeyPolicy;
import java.time.Duration;
import java.util.List;

/**
 * The version that admitted a key decides on its repeats.
 *
 * @param fingerprint the declared fields; empty if the workflow declares none
 * @param fingerprintIgnore paths excluded from a fingerprint of all data; if not empty, the fingerprint counts as
 *     declared
 */
public record KeyPolicy(
        Duration window,
        IdempotencyKeyScope scope,
        List<FingerprintField> fingerprint,
        List<String> fingerprintIgnore,
        SameKeyDifferentPayloadPolicy onMismatch,
        SamePayloadDifferentKeyPolicy duplicatePayload,
        FailedRunDuplicateRequestPolicy onFailed,
        boolean holdWhileRunning,
        boolean requireKey) {

    public static final Duration SHORTEST_WINDOW = Duration.ofSeconds(1);
    public static final Duration LONGEST_WINDOW = Duration.ofDays(365);

    /** Default: 24 hours, scope workspace, the key alone decides. */
    public static final KeyPolicy DEFAULT = new KeyPolicy(
            Duration.ofHours(24),
            IdempotencyKeyScope.WORKSPACE,
            List.of(),
            List.of(),
            SameKeyDifferentPayloadPolicy.REPLAY,
            SamePayloadDifferentKeyPolicy.ALLOW,
            FailedRunDuplicateRequestPolicy.RETURN_FAILED,
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

    public boolean declaresFingerprint() {
        return !fingerprint.isEmpty() || !fingerprintIgnore.isEmpty();
    }
}
