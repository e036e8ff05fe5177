package dev.semel.server.dashboard.page;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/** Formats times and durations for display, e.g. "5 m 3 s ago". */
public final class DashboardTimeFormatter {
    private static final String NOTHING = "–";

    private DashboardTimeFormatter() {}

    public static String relative(Instant then, Instant now) {
        Duration past = Duration.between(then, now).truncatedTo(ChronoUnit.SECONDS);
        if (past.toSeconds() <= 0 && past.toSeconds() > -2) {
            return "just now";
        }
        return past.isNegative() ? "in " + duration(past.negated()) : duration(past) + " ago";
    }

    public static String duration(Duration span) {
        if (span.toDays() > 0) {
            return join(span.toDays(), "d", span.toHoursPart(), "h");
        }
        if (span.toHours() > 0) {
            return join(span.toHours(), "h", span.toMinutesPart(), "m");
        }
        if (span.toMinutes() > 0) {
            return join(span.toMinutes(), "m", span.toSecondsPart(), "s");
        }
        if (span.toSeconds() > 0) {
            return span.toSeconds() + (span.toMillisPart() > 99 ? "." + span.toMillisPart() / 100 : "") + " s";
        }
        return span.toMillis() + " ms";
    }

    /** A duration in seconds; a dash for 0. */
    public static String seconds(long seconds) {
        return seconds == 0 ? NOTHING : duration(Duration.ofSeconds(seconds));
    }

    /** The duration between two time members; a dash if one is missing. */
    public static String between(DashboardTemplateJsonAccessor doc, String from, String to) {
        return between(doc.time(from), doc.time(to));
    }

    public static String between(@Nullable Instant begin, @Nullable Instant end) {
        return begin == null || end == null ? NOTHING : duration(Duration.between(begin, end));
    }

    public static String utc(Instant time) {
        return time.truncatedTo(ChronoUnit.MILLIS).toString().replace('T', ' ').replace("Z", " UTC");
    }

    private static String join(long first, String firstUnit, long second, String secondUnit) {
        return first + " " + firstUnit + (second == 0 ? "" : " " + second + " " + secondUnit);
    }
}
