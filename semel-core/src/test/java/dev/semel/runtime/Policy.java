package dev.semel.runtime;

import dev.semel.admission.FingerprintField;
import dev.semel.admission.KeyPolicy;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;

/** A key policy in the words of a workflow file; what is not said is as in an empty file. */
public final class Policy {
    private Duration window = KeyPolicy.DEFAULT.window();
    private KeyPolicy.KeyScope scope = KeyPolicy.KeyScope.WORKSPACE;
    private List<FingerprintField> fingerprint = List.of();
    private KeyPolicy.OnMismatch onMismatch = KeyPolicy.OnMismatch.REPLAY;
    private KeyPolicy.DuplicatePayload duplicatePayload = KeyPolicy.DuplicatePayload.ALLOW;
    private KeyPolicy.OnFailed onFailed = KeyPolicy.OnFailed.RETURN_FAILED;
    private boolean holdWhileRunning = true;

    public static Policy plain() {
        return new Policy();
    }

    public Policy window(Duration value) {
        window = value;
        return this;
    }

    public Policy scope(KeyPolicy.KeyScope value) {
        scope = value;
        return this;
    }

    /** Declared fields; a changed one is refused, as the contract says of workflows that declare any. */
    public Policy fingerprint(String... names) {
        fingerprint = Arrays.stream(names)
                .map(name -> new FingerprintField(name, input -> input.path(name)))
                .toList();
        return onMismatch(KeyPolicy.OnMismatch.REJECT);
    }

    public Policy onMismatch(KeyPolicy.OnMismatch value) {
        onMismatch = value;
        return this;
    }

    public Policy duplicatePayload(KeyPolicy.DuplicatePayload value) {
        duplicatePayload = value;
        return this;
    }

    public Policy runAgainWhenFailed() {
        onFailed = KeyPolicy.OnFailed.RUN_AGAIN;
        return this;
    }

    public Policy expiresWhileRunning() {
        holdWhileRunning = false;
        return this;
    }

    public KeyPolicy build() {
        return new KeyPolicy(
                window, scope, fingerprint, List.of(), onMismatch, duplicatePayload, onFailed, holdWhileRunning, false);
    }
}
