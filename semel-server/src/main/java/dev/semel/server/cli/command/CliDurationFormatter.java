package dev.semel.server.cli.command;

import java.time.Duration;
import java.time.Instant;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Formats durations for users, such as `23 h 57 m`, and parses typed ones, such as `30s`. */
public final class CliDurationFormatter {
    private static final Pattern TYPED = Pattern.compile("(\\d{1,9})(ms|s|m|h|d)?");

    private CliDurationFormatter() {}

    public static String format(Duration length) {
        Duration span = length.abs();
        if (span.toDays() > 0) {
            return join(span.toDays(), "d", span.toHoursPart(), "h");
        }
        if (span.toHours() > 0) {
            return join(span.toHours(), "h", span.toMinutesPart(), "m");
        }
        if (span.toMinutes() > 0) {
            return join(span.toMinutes(), "m", span.toSecondsPart(), "s");
        }
        return span.toSeconds() > 0 ? span.toSeconds() + " s" : span.toMillis() + " ms";
    }

    public static String formatRelative(Instant then, Instant now) {
        Duration past = Duration.between(then, now);
        if (past.toSeconds() <= 0 && past.toSeconds() > -2) {
            return "just now";
        }
        return past.isNegative() ? "in " + format(past) : format(past) + " ago";
    }

    public static boolean isDuration(String text) {
        return TYPED.matcher(text).matches();
    }

    /** A bare number means seconds. */
    public static Duration parse(String text) {
        Matcher matcher = TYPED.matcher(text);
        if (!matcher.matches()) {
            throw new IllegalArgumentException("write a duration as 500ms, 30s, 5m, 1h or 30d");
        }
        long amount = Long.parseLong(matcher.group(1));
        return switch (matcher.group(2)) {
            case "ms" -> Duration.ofMillis(amount);
            case "m" -> Duration.ofMinutes(amount);
            case "h" -> Duration.ofHours(amount);
            case "d" -> Duration.ofDays(amount);
            case null, default -> Duration.ofSeconds(amount);
        };
    }

    private static String join(long first, String firstUnit, long second, String secondUnit) {
        return first + " " + firstUnit + (second == 0 ? "" : " " + second + " " + secondUnit);
    }
}
