package dev.semel.server.api;

import dev.semel.run.RunState;
import dev.semel.server.expressions.DurationFormat;
import java.time.Duration;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The run filter `q`: `status:failed workflow:x key:k replayed:true since:2h`. */
record RunListFilter(
        @Nullable RunState state,
        @Nullable String workflow,
        @Nullable String key,
        boolean replayed,
        long ageMicros) {
    private static final Duration LONGEST_AGE = Duration.ofDays(999_999);

    static RunListFilter parse(@Nullable String text) {
        RunState state = null;
        String workflow = null;
        String key = null;
        boolean replayed = false;
        long age = 0;
        for (String word :
                text == null || text.isBlank() ? new String[0] : text.strip().split("\\s+")) {
            int colon = word.indexOf(':');
            String value = word.substring(colon + 1);
            switch (colon < 1 || value.isEmpty() ? "" : word.substring(0, colon)) {
                case "status" -> state = state(value);
                case "workflow" -> workflow = value;
                case "key" -> key = value;
                case "replayed" -> replayed = flag(value);
                case "since" -> age = parseAge(value);
                default ->
                    throw ApiErrors.invalidQuery(
                            "q accepts terms such as status:failed workflow:NAME key:KEY replayed:true since:2h");
            }
        }
        return new RunListFilter(state, workflow, key, replayed, age);
    }

    long since(long now) {
        return ageMicros == 0 ? 0 : now - ageMicros;
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
    static long parseAge(String word) {
        Duration age = DurationFormat.parse(word).orElse(null);
        if (age == null || age.compareTo(LONGEST_AGE) > 0) {
            throw ApiErrors.invalidQuery("since must be an age such as 500ms, 30s, 15m, 2h or 7d");
        }
        return age.toMillis() * 1_000;
    }
}
