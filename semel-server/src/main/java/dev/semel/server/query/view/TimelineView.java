package dev.semel.server.query.view;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** The recorded steps of a run, in the order in which they began. */
public record TimelineView(
        List<StepView> items,

        @Described("The cursor of the next page: pass it as `after`. Null on the last page.") @Nullable
        String next,

        @Described("Number of recorded steps on all pages.") int total,

        @Described("Each resume of the run after a failure.") @JsonInclude(JsonInclude.Include.NON_EMPTY)
        List<ResumptionView> resumed,

        @Described("Reviews of the run, oldest first; absent if there are none.")
        @JsonInclude(JsonInclude.Include.NON_EMPTY)
        List<ReviewReferenceView> reviews) {

    public record StepView(
            @Described("Stable over retries, recovery, takeover and safe replay.")
            String stepId,

            String path,
            String name,
            String kind,
            @Nullable String protection,
            @Nullable String effectKey,

            @Described("The key as the provider received it; null if it received none.") @Nullable
            String sentKey,

            String status,

            @Described(value = "The newest 100 attempts.", maxItems = 100)
            List<AttemptView> attempts,

            @Described("The number of all attempts in the journal.")
            int attemptsTotal,

            @Described("The recorded result. Absent while there is none.")
            @JsonInclude(JsonInclude.Include.NON_NULL)
            @Nullable
            JsonNode result,

            @Described("The user who set the result instead of the step.")
            @JsonInclude(JsonInclude.Include.NON_NULL)
            @Nullable
            String skippedBy,

            @Described("Why the step was skipped.") @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable
            String reason) {}

    @Described("`lost`: a crash cut off the attempt after the engine recorded the intent to send.")
    public record AttemptView(
            int n,
            @Nullable Instant startedAt,
            @Nullable Instant endedAt,
            String outcome,
            @Nullable AttemptErrorView error) {}

    public record AttemptErrorView(String code, @Nullable String message) {}

    public record ResumptionView(
            Instant at,
            String by,
            String reason,
            int version,

            @Described("The steps that were executed again.")
            List<String> steps) {}

    public record ReviewReferenceView(
            String reviewId,

            @Described("Null: the review is about the whole run.") @Nullable
            String step,

            @Described("How often the question was opened; a decision applies to one version.")
            int version,

            boolean open) {}
}
