package dev.semel;

import dev.semel.admission.FingerprintField;
import dev.semel.admission.KeyPolicy;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;

/** A key policy in the words of a workflow file; what is not said is as in an empty file. */
public final class KeyPolicyBuilder {
    private Duration window = KeyPolicy.DEFAULT.window();
    private KeyPolicy.KeyScope scope = KeyPolicy.KeyScope.WORKSPACE;
    private List<FingerprintField> fingerprint = List.of();
    private KeyPolicy.OnMismatch onMismatch = KeyPolicy.OnMismatch.REPLAY;
    private KeyPolicy.DuplicatePayload duplicatePayload = KeyPolicy.DuplicatePayload.ALLOW;
    private KeyPolicy.OnFailed onFailed = KeyPolicy.OnFailed.RETURN_FAILED;
    private boolean holdWhileRunning = true;

    public static KeyPolicyBuilder plain() {
        return new KeyPolicyBuilder();
    }

    public KeyPolicyBuilder window(Duration value) {
        window = value;
        return this;
    }

    public KeyPolicyBuilder scope(KeyPolicy.KeyScope value) {
        scope = value;
        return this;
    }

    /** Declared fields; a changed one is refused, as the contract says of workflows that declare any. */
    public KeyPolicyBuilder fingerprint(String... names) {
        fingerprint = Arrays.stream(names)
                .map(name -> new FingerprintField(name, input -> input.path(name)))
                .toList();
        return onMismatch(KeyPolicy.OnMismatch.REJECT);
    }

    public KeyPolicyBuilder onMismatch(KeyPolicy.OnMismatch value) {
        onMismatch = value;
        return this;
    }

    public KeyPolicyBuilder duplicatePayload(KeyPolicy.DuplicatePayload value) {
        duplicatePayload = value;
        return this;
    }

    public KeyPolicyBuilder runAgainWhenFailed() {
        onFailed = KeyPolicy.OnFailed.RUN_AGAIN;
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
