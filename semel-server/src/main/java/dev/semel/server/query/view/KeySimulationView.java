package dev.semel.server.query.view;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What a request with a key would get. */
public record KeySimulationView(
        String idempotencyKey,
        String workflow,
        Instant at,
        Outcome outcome,
        int statusCode,
        @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable String runId,
        @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable Optional<String> previousRunId,
        @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable String reason,
        @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable Boolean payloadMismatch,
        @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable List<String> changed,
        @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable Optional<Instant> expiresAt,
        String summary,
        boolean changesNothing) {
    public enum Outcome {
        NEW_RUN,
        REPLAYED,
        CONFLICT,
        DUPLICATE_PAYLOAD,
        REJECTED
    }
}
