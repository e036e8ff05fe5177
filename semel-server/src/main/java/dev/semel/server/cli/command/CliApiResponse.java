package dev.semel.server.cli.command;

import java.net.http.HttpHeaders;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.Optional;
import tools.jackson.databind.JsonNode;

/** @param isJson false if the body is not JSON, so another program answered; {@code body} is then empty */
public record CliApiResponse(int status, HttpHeaders headers, boolean isJson, JsonNode body) {
    public boolean isSuccess() {
        return status / 100 == 2;
    }

    public String code() {
        return TerminalJsonFormatter.text(body, "code");
    }

    /** The server's clock, so that relative times are right on a machine whose own clock is wrong. */
    public Optional<Instant> date() {
        return headers.firstValue("Date").flatMap(CliApiResponse::httpDate);
    }

    /** The Retry-After header: seconds or a date. */
    public Optional<Duration> retryAfter(Instant now) {
        return headers.firstValue("Retry-After").flatMap(text -> {
            if (text.matches("\\d{1,9}")) {
                return Optional.of(Duration.ofSeconds(Long.parseLong(text)));
            }
            Instant from = date().orElse(now);
            return httpDate(text).map(until -> until.isBefore(from) ? Duration.ZERO : Duration.between(from, until));
        });
    }

    private static Optional<Instant> httpDate(String text) {
        try {
            return Optional.of(ZonedDateTime.parse(text, DateTimeFormatter.RFC_1123_DATE_TIME)
                    .toInstant());
        } catch (DateTimeParseException notADate) {
            return Optional.empty();
        }
    }
}
