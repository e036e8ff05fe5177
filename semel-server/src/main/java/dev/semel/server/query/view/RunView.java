package dev.semel.server.query.view;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.semel.admission.TriggerSource;
import dev.semel.run.RunState;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

public record RunView(
        @Described(
                value = "`run_` and 22 letters and digits, or the chosen id.",
                example = "run_36VZelPfwjPzAeZ4VEThnq")
        String runId,

        String workflowId,
        @Described("The workflow's name.") String workflow,
        @Described("The workflow version of the run.") int version,

        @Described(
                "`queued`: the run must wait before it starts. `running` begins with the first step. `held`: the code"
                    + " does not fit the record of the run, or the run is suspected of crashing workers. A deploy or a"
                    + " user continues it.")
        RunState status,

        List<WaitView> waitingFor,
        @Nullable String key,
        @Nullable String correlationId,
        RunTriggerView trigger,

        @Described("The input, with masked personal data. Null in a list if it is large.")
        JsonNode input,

        @Described("In lists: the input is too large. Get the run itself.")
        @JsonInclude(JsonInclude.Include.NON_NULL)
        @Nullable
        Boolean inputOmitted,

        @Described("Null until the run completes.") JsonNode output,

        @Described("In lists: the output is too large. Get the run itself.")
        @JsonInclude(JsonInclude.Include.NON_NULL)
        @Nullable
        Boolean outputOmitted,

        @Nullable RunErrorView error,

        @Described(
                "An effect of the run has an unknown outcome, and it is safe to send it again with the same key until"
                        + " then. Null if there is none.")
        @Nullable
        Instant safeToResendUntil,

        Instant createdAt,
        @Nullable Instant startedAt,
        @Nullable Instant endedAt,

        @Described("The first run of its lineage; step ids depend on it.")
        String lineageId,

        @Nullable String previousRunId,
        @Nullable String duplicateOf,
        @Nullable String replayOf,
        @Nullable String parentRunId,
        @Described("Exact number of Replayed requests.") long replays,
        @Described("Exact number of conflicts.") long conflicts,

        @Described("Paths of input fields that the workflow marks as `pii`. They, and texts that contain their values,"
                + " are shown as `•••`. Absent if there are none.")
        @JsonInclude(JsonInclude.Include.NON_NULL)
        @Nullable
        List<String> masked,

        @Described(value = "The newest 20 requests, newest last.", maxItems = 20)
        List<RunRequestView> requests,

        @Described("Its newest safe replay, or null; absent in lists.")
        @JsonInclude(JsonInclude.Include.NON_NULL)
        @Nullable
        Optional<String> supersededBy) {

    @Described("What started the run.")
    public record RunTriggerView(
            TriggerSource kind,
            String actorId,

            @Described("The run whose notification started this run. Absent for other triggers.")
            @JsonInclude(JsonInclude.Include.NON_NULL)
            @Nullable
            String runId,

            @Described("Number of runs above it in its chain of child runs. Absent if 0.")
            @JsonInclude(JsonInclude.Include.NON_NULL)
            @Nullable
            Integer depth) {}

    @Described("The error of a failed run.")
    public record RunErrorView(
            String code,
            @Nullable String message,
            @Described("The failed step.") @Nullable String step,

            @Described("Only with code `outcome-unknown`; as in the run.")
            @JsonInclude(JsonInclude.Include.NON_NULL)
            @Nullable
            Optional<Instant> safeToResendUntil) {}

    @Described("One wait of a run: before it starts (delay, debounce, rate_limit, concurrency_limit), or in a step.")
    public record WaitView(
            @Described(
                    value = "Others: `signal`, `approval`, `sleep`, `child`, `decision`; internal waits, such as retry;"
                            + " or reasons why a run is held.",
                    example = "signal")
            String kind,

            @Described("The signal's name, or else the step.") @Nullable
            String name,

            @Described("The key with which the run waits for a signal.") @Nullable
            String key,

            @Nullable String step,

            @Described("Only for a child run.") @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable
            String runId,

            @Described("Only for `retry`: why the last attempt failed.")
            @JsonInclude(JsonInclude.Include.NON_NULL)
            @Nullable
            WaitErrorView error,

            @Nullable Instant since,
            @Nullable Instant until) {}

    public record WaitErrorView(String code, @Nullable String message) {}
}
