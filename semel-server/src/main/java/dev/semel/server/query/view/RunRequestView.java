package dev.semel.server.query.view;

import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreWrite;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

@Described("A request that hit a run: the one that started it, a duplicate or a conflict.")
public record RunRequestView(
        Kind kind,
        Instant at,
        int statusCode,
        @Described("The id of the token or user.") String actorId,

        @Described(value = "How many equal requests within one second this row represents.", min = 1)
        long times,

        @Described("Names of the fields that differ; never their values.")
        List<String> changed) {
    public enum Kind {
        STARTED,
        REPLAYED,
        CONFLICT
    }

    /** The request that started a run. */
    public static RunRequestView started(DatabaseRows.RunRow run) {
        return new RunRequestView(
                Kind.STARTED,
                StoreTime.instant(run.createdAt()),
                200,
                run.origin().actor(),
                1,
                List.of());
    }

    public static RunRequestView of(StoreWrite.DuplicateRequest row) {
        return new RunRequestView(
                row.conflict() ? Kind.CONFLICT : Kind.REPLAYED,
                StoreTime.instant(row.at()),
                row.statusCode(),
                row.actor(),
                row.times(),
                row.changed() == null ? List.of() : List.of(row.changed().split(", ")));
    }

    /** @param next leads to older requests; null at the end */
    public record RunRequestList(
            List<RunRequestView> items,
            long replays,
            long conflicts,
            @Nullable String next) {}
}
