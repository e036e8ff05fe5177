package dev.semel.http.response;

import java.net.http.HttpHeaders;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import org.jspecify.annotations.Nullable;

/** Parses the Retry-After header: seconds, or a date relative to the Date header of the response. */
public final class RetryAfterHeaderParser {
    private static final int MOST_DIGITS = 9;

    private RetryAfterHeaderParser() {}

    /** Null if the header is missing or malformed. */
    public static @Nullable Duration parse(HttpHeaders headers) {
        String text = headers.firstValue("Retry-After").orElse("").strip();
        if (!text.isEmpty() && text.length() <= MOST_DIGITS && text.chars().allMatch(c -> c >= '0' && c <= '9')) {
            return Duration.ofSeconds(Long.parseLong(text));
        }
        Instant then = date(text);
        Instant now = date(headers.firstValue("Date").orElse("").strip());
        return then == null || now == null ? null : then.isBefore(now) ? Duration.ZERO : Duration.between(now, then);
    }

    private static @Nullable Instant date(String text) {
        try {
            return ZonedDateTime.parse(text, DateTimeFormatter.RFC_1123_DATE_TIME)
                    .toInstant();
        } catch (DateTimeParseException e) {
            return null;
        }
    }
}
