package dev.semel.runtime;

import dev.semel.idempotency.FailedRunDuplicateRequestPolicy;
import dev.semel.idempotency.FingerprintField;
import dev.semel.idempotency.IdempotencyKeyScope;
import dev.semel.idempotency.KeyPolicy;
import dev.semel.policy.SameKeyDifferentPayloadPolicy;
import dev.semel.policy.SamePayloadDifferentKeyPolicy;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;

/** A key policy in the words of a workflow file; what is not said is as in an empty file. */
public final class KeyPolicyBuilder {
    private Duration window = KeyPolicy.DEFAULT.window();
    private IdempotencyKeyScope scope = IdempotencyKeyScope.WORKSPACE;
    private List<FingerprintField> fingerprint = List.of();
    private SameKeyDifferentPayloadPolicy onMismatch = SameKeyDifferentPayloadPolicy.REPLAY;
    private SamePayloadDifferentKeyPolicy duplicatePayload = SamePayloadDifferentKeyPolicy.ALLOW;
    private FailedRunDuplicateRequestPolicy onFailed = FailedRunDuplicateRequestPolicy.RETURN_FAILED;
    private boolean holdWhileRunning = true;

    public static KeyPolicyBuilder plain() {
        return new KeyPolicyBuilder();
    }

    public KeyPolicyBuilder window(Duration value) {
        window = value;
        return this;
    }

    public KeyPolicyBuilder scope(IdempotencyKeyScope value) {
        scope = value;
        return this;
    }

    /** Declared fields; a changed one is refused, as the contract says of workflows that declare any. */
    public KeyPolicyBuilder fingerprint(String... names) {
        fingerprint = Arrays.stream(names)
                .map(name -> new FingerprintField(name, input -> input.path(name)))
                .toList();
        return onMismatch(SameKeyDifferentPayloadPolicy.REJECT);
    }

    public KeyPolicyBuilder onMismatch(SameKeyDifferentPayloadPolicy value) {
        onMismatch = value;
        return this;
    }

    public KeyPolicyBuilder duplicatePayload(SamePayloadDifferentKeyPolicy value) {
        duplicatePayload = value;
        return this;
    }

    public KeyPolicyBuilder runAgainWhenFailed() {
        onFailed = FailedRunDuplicateRequestPolicy.RUN_AGAIN;
        return this;
    }

    public KeyPolicyBuilder expiresWhileRunning() {
        holdWhileRunning = false;
        return this;
    }

    public KeyPolicy build() {
        return new KeyPolicy(
                window, scope, fingerprint, List.of(), onMismatch, duplicatePayload, onFailed, holdWhileRunning, false);
    }
}
