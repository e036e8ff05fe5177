package dev.semel.server.query;

import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.server.files.yaml.DurationFormat;
import dev.semel.store.StoreQueries;
import java.time.Duration;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The run filter `q`: `status:failed workflow:x key:k correlation:c replayed:true since:2h ended_since:1h`. */
public record RunListFilter(
        @Nullable RunState state,
        @Nullable String workflow,
        @Nullable String key,
        @Nullable String correlation,
        boolean replayed,
        long ageMicros,
        long endAgeMicros) {
    private static final Duration LONGEST_AGE = Duration.ofDays(999_999);

    public static RunListFilter parse(@Nullable String text) {
        RunState state = null;
        String workflow = null;
        String key = null;
        String correlation = null;
        boolean replayed = false;
        long age = 0;
        long endAge = 0;
        boolean failed = false;
        for (String word :
                text == null || text.isBlank() ? new String[0] : text.strip().split("\\s+")) {
            int colon = word.indexOf(':');
            String value = word.substring(colon + 1);
            switch (colon < 1 || value.isEmpty() ? "" : word.substring(0, colon)) {
                case "status" -> state = state(value);
                case "workflow" -> workflow = value;
                case "key" -> key = value;
                case "replayed" -> replayed = flag(value);
                case "correlation" -> correlation = value;
                case "since" -> age = parseAge(value);
                case "ended_since" -> endAge = parseAge(value);
                case "failed_since" -> {
                    failed = true;
                    endAge = parseAge(value);
                }
                default ->
                    throw ApiErrors.invalidQuery(
                            "q accepts terms such as status:failed workflow:NAME key:KEY correlation:ID replayed:true"
                                    + " since:2h ended_since:2h failed_since:2h");
            }
        }
        if (failed && state != null && state != RunState.FAILED || endAge > 0 && state != null && !state.hasEnded()) {
            throw ApiErrors.invalidQuery("status contradicts failed_since or ended_since, so no run can match");
        }
        return new RunListFilter(failed ? RunState.FAILED : state, workflow, key, correlation, replayed, age, endAge);
    }

    /** @param workflowId the id of the workflow that the filter or the path names; null for all */
    public StoreQueries.RunFilter toQuery(int workspace, @Nullable String workflowId, long now) {
        long since = ageMicros == 0 ? 0 : now - ageMicros;
        return new StoreQueries.RunFilter(
                        workspace,
                        workflowId,
                        state,
                        key,
                        replayed,
                        since,
                        null,
                        1,
                        since == 0 ? null : RunId.lowerBoundAt(since))
                .withCorrelation(correlation)
                .withEndedSince(endAgeMicros == 0 ? 0 : now - endAgeMicros);
    }

    private static RunState state(String word) {
        for (RunState state : RunState.values()) {
            if (state.wireName().equals(word.toLowerCase(Locale.ROOT))) {
                return state;
            }
        }
        throw ApiErrors.invalidQuery(
                "status must be one of queued, started, running, waiting, held, in_doubt, completed, failed,"
                        + " cancelled");
    }

    private static boolean flag(String word) {
        if (!word.equals("true") && !word.equals("false")) {
            throw ApiErrors.invalidQuery("replayed must be true or false");
        }
        return word.equals("true");
    }

    /** Parses an age such as 2h into microseconds. */
    public static long parseAge(String word) {
        Duration age = DurationFormat.parse(word).orElse(null);
        if (age == null || age.compareTo(LONGEST_AGE) > 0) {
            throw ApiErrors.invalidQuery("since must be an age such as 500ms, 30s, 15m, 2h or 7d");
        }
        return age.toMillis() * 1_000;
    }
}
