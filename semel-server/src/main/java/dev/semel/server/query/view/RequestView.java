package dev.semel.server.query.view;

import dev.semel.store.StoreWrite;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

@Described("A duplicate or a conflict, with its run.")
public record RequestView(
        @Described(
                value = "`run_` and 22 letters and digits, or the chosen id.",
                example = "run_36VZelPfwjPzAeZ4VEThnq")
        String runId,

        RunRequestView.Kind kind,
        Instant at,
        int statusCode,
        @Described("The id of the token or user.") String actorId,

        @Described(value = "How many equal requests within one second this row represents.", min = 1)
        long times,

        @Described("Names of the fields that differ; never their values.")
        List<String> changed,

        @Described("The rejected key, or else the key of the run.") @Nullable
        String key) {
    public static RequestView of(StoreWrite.DuplicateRequest row, String runId, @Nullable String key) {
        RunRequestView request = RunRequestView.of(row);
        return new RequestView(
                runId,
                request.kind(),
                request.at(),
                request.statusCode(),
                request.actorId(),
                request.times(),
                request.changed(),
                key);
    }
}
