package dev.semel.runtime;

import dev.semel.admission.FingerprintField;
import dev.semel.admission.KeyPolicy;
import dev.semel.workflow.DuplicatePayload;
import dev.semel.admission.KeyScope;
import dev.semel.admission.OnFailed;
import dev.semel.workflow.OnMismatch;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;

/** A key policy in the words of a workflow file; what is not said is as in an empty file. */
public final class Policy {
    private Duration window = KeyPolicy.DEFAULT.window();
    private KeyScope scope = KeyScope.WORKSPACE;
    private List<FingerprintField> fingerprint = List.of();
    private OnMismatch onMismatch = OnMismatch.REPLAY;
    private DuplicatePayload duplicatePayload = DuplicatePayload.ALLOW;
    private OnFailed onFailed = OnFailed.RETURN_FAILED;
    private boolean holdWhileRunning = true;

    public static Policy plain() {
        return new Policy();
    }

    public Policy window(Duration value) {
        window = value;
        return this;
    }

    public Policy scope(KeyScope value) {
        scope = value;
        return this;
    }

    /** Declared fields; a changed one is refused, as the contract says of workflows that declare any. */
    public Policy fingerprint(String... names) {
        fingerprint = Arrays.stream(names)
                .map(name -> new FingerprintField(name, input -> input.path(name)))
                .toList();
        return onMismatch(OnMismatch.REJECT);
    }

    public Policy onMismatch(OnMismatch value) {
        onMismatch = value;
        return this;
    }

    public Policy duplicatePayload(DuplicatePayload value) {
        duplicatePayload = value;
        return this;
    }

    public Policy runAgainWhenFailed() {
        onFailed = OnFailed.RUN_AGAIN;
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
