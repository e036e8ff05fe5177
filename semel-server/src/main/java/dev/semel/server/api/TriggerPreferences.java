package dev.semel.server.api;

import dev.semel.server.http.HttpResponse;
import dev.semel.server.http.HttpRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The caller's preferences for a trigger: `Prefer: handling=strict, wait=30` and `?wait=30s`. The server ignores
 * unknown preferences (RFC 7240).
 */
record TriggerPreferences(boolean strict, @Nullable Duration maxWait, List<String> appliedPreferences) {
    private static final int MAX_WAIT_SECONDS = 300;

    static TriggerPreferences parse(HttpRequest request) {
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
            String digits = waitText.endsWith("s") ? waitText.substring(0, waitText.length() - 1) : waitText;
            wait = seconds(digits);
            if (wait == null) {
                throw PagingParameters.invalidQuery("wait must be 1s to " + MAX_WAIT_SECONDS + "s");
            }
        }
        return new TriggerPreferences(strict, wait, honoured);
    }

    private static @Nullable Duration seconds(String digits) {
        boolean number =
                !digits.isEmpty() && digits.length() <= 3 && digits.chars().allMatch(c -> c >= '0' && c <= '9');
        int seconds = number ? Integer.parseInt(digits) : 0;
        return seconds >= 1 && seconds <= MAX_WAIT_SECONDS ? Duration.ofSeconds(seconds) : null;
    }

    HttpResponse addAppliedHeader(HttpResponse answer) {
        return appliedPreferences.isEmpty() ? answer : answer.with("Preference-Applied", String.join(", ", appliedPreferences));
    }
}
