package dev.semel.server.operations.trigger;

import dev.semel.server.files.yaml.DurationFormat;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.http.ServerHttpResponse;
import dev.semel.server.query.ApiErrors;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** `Prefer: handling=strict, wait=30` and `?wait=30s`. The server ignores unknown preferences (RFC 7240). */
record TriggerRequestPreferences(boolean strict, @Nullable Duration maxWait, List<String> appliedPreferences) {
    private static final Duration SHORTEST_WAIT = Duration.ofSeconds(1);
    private static final Duration LONGEST_WAIT = Duration.ofSeconds(300);
    private static final Pattern DIGITS = Pattern.compile("[0-9]+");

    static TriggerRequestPreferences parse(ServerHttpRequest request) {
        boolean strict = false;
        Duration wait = null;
        List<String> honoured = new ArrayList<>();
        for (String line : request.headerLines("Prefer")) {
            for (String part : line.split(",")) {
                String word = part.split(";")[0]
                        .strip()
                        .toLowerCase(Locale.ROOT)
                        .replace("\"", "")
                        .replace(" ", "");
                if (word.equals("handling=strict")) {
                    strict = true;
                    honoured.add(word);
                } else if (word.startsWith("wait=")) {
                    wait = seconds(word.substring("wait=".length()));
                    if (wait != null) {
                        honoured.add(word);
                    }
                }
            }
        }
        String waitText = request.query("wait");
        if (waitText != null) {
            wait = duration(DIGITS.matcher(waitText).matches() ? waitText + "s" : waitText);
            if (wait == null) {
                throw ApiErrors.invalidQuery("wait must be a duration from 1s to 300s");
            }
        }
        return new TriggerRequestPreferences(strict, wait, honoured);
    }

    /** The wait of a `Prefer` header: a bare number of seconds (RFC 7240). */
    private static @Nullable Duration seconds(String text) {
        return DIGITS.matcher(text).matches() ? duration(text + "s") : null;
    }

    private static @Nullable Duration duration(String text) {
        return DurationFormat.parse(text)
                .filter(wait -> wait.compareTo(SHORTEST_WAIT) >= 0 && wait.compareTo(LONGEST_WAIT) <= 0)
                .orElse(null);
    }

    /** For a request that the server answers without waiting. */
    TriggerRequestPreferences withoutWait() {
        return new TriggerRequestPreferences(
                strict,
                null,
                appliedPreferences.stream()
                        .filter(one -> !one.startsWith("wait="))
                        .toList());
    }

    ServerHttpResponse addAppliedHeader(ServerHttpResponse answer) {
        return appliedPreferences.isEmpty()
                ? answer
                : answer.with("Preference-Applied", String.join(", ", appliedPreferences));
    }
}
