package dev.semel.server.query.view;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import dev.semel.run.RunState;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

@Described("A key record. Contains no payload.")
public record KeyView(
        String idempotencyKey,
        @Described("The token or user that used it first.") String actorId,
        @Described("The workflow.") String operationName,
        @Described("SHA-256 in hexadecimal.") String requestFingerprint,
        Status status,
        @Described("The run.") String responseReference,
        Instant createdAt,
        @Nullable Instant expiresAt,
        Instant lastSeenAt,
        @Nullable String correlationId,

        @Described("Code and step of a failed run; no payload.") @Nullable
        String errorSummary,

        Scope scope,
        String workflowId,

        @Described(
                value = "`run_` and 22 letters and digits, or the chosen id.",
                example = "run_36VZelPfwjPzAeZ4VEThnq")
        String runId,

        RunState runStatus,
        long replays,
        long conflicts) {
    public enum Status {
        ACTIVE,
        EXPIRED,
        RELEASED
    }

    public enum Scope {
        WORKSPACE,
        WORKFLOW
    }

    /** @param simulation null if the run or the workflow of the key is no longer stored */
    public record KeyDetailView(
            @JsonUnwrapped KeyView newest,

            @Described("Other records of the same key, with another workflow or payload.")
            List<KeyView> others,

            List<EffectView> effects,
            @Described("true: the list is truncated.") boolean effectsTruncated,
            @Nullable KeySimulationView simulation,

            @Described("The history of the key, as sentences.")
            List<String> history) {}

    public record KeyExtensionView(String idempotencyKey, String runId, boolean extended, Instant expiresAt) {}
}
