package dev.semel.schedule;

import dev.semel.schedule.CronField.CronFieldKind;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A cron expression in a time zone. ADR 0027 defines daylight-saving changes. With fixed hours, every listed time fires
 * once: at the end of a gap, and at the first of two equal times. With {@code *} or steps as hours, it follows the wall
 * clock.
 */
public final class CronRule implements ScheduleRule {
    /** A 29 February can be eight years away, around a year such as 2100. */
    private static final int MOST_DAYS = 366 * 8 + 2;

    /** The longest overlap of any time zone is a day. */
    private static final int MOST_IN_AN_OVERLAP = 90_000;

    private static final Map<String, String> WORDS = Map.of(
            "@yearly", "0 0 1 1 *",
            "@annually", "0 0 1 1 *",
            "@monthly", "0 0 1 * *",
            "@weekly", "0 0 * * 0",
            "@daily", "0 0 * * *",
            "@midnight", "0 0 * * *",
            "@hourly", "0 * * * *");

    private static final List<CronFieldKind> FIELDS = List.of(
            CronFieldKind.SECOND,
            CronFieldKind.MINUTE,
            CronFieldKind.HOUR,
            CronFieldKind.DAY,
            CronFieldKind.MONTH,
            CronFieldKind.WEEKDAY);

    private final String text;
    private final ZoneId zone;
    private final CronField seconds;
    private final CronField minutes;
    private final CronField hours;
    private final CronField days;
    private final CronField months;
    private final CronField weekdays;

    private CronRule(String text, ZoneId zone, List<CronField> fields) {
        this.text = text;
        this.zone = zone;
        this.seconds = fields.get(0);
        this.minutes = fields.get(1);
        this.hours = fields.get(2);
        this.days = fields.get(3);
        this.months = fields.get(4);
        this.weekdays = fields.get(5);
    }

    /** Parses five fields, or six with seconds first; a {@link CronSyntaxException} names the error and its position. */
    public static CronRule of(String text, ZoneId zone) {
        String word = WORDS.get(text.strip().toLowerCase(Locale.ROOT));
        if (word == null && text.strip().startsWith("@")) {
            throw new CronSyntaxException(
                    "Unknown cron shorthand. Use @yearly, @monthly, @weekly, @daily or @hourly.", 0, text.length());
        }
        String source = word == null ? text : word;
        List<CronField> fields = new ArrayList<>();
        List<String> parts = new ArrayList<>();
        List<Integer> places = new ArrayList<>();
        split(source, parts, places);
        if (parts.size() != 5 && parts.size() != 6) {
            throw new CronSyntaxException(
                    "A cron expression has five fields (minute, hour, day of the month, month, day of the week), or six"
                            + " with seconds first; this one has " + parts.size() + ".",
                    0,
                    Math.max(1, text.length()));
        }
        int shift = FIELDS.size() - parts.size();
        if (shift == 1) {
            fields.add(CronField.read(CronFieldKind.SECOND, "0", 0));
        }
        for (int i = 0; i < parts.size(); i++) {
            fields.add(CronField.read(FIELDS.get(i + shift), parts.get(i), places.get(i)));
        }
        CronRule cron = new CronRule(text, zone, fields);
        if (cron.nextLocal(LocalDateTime.of(2000, 1, 1, 0, 0)) == null) {
            throw new CronSyntaxException(
                    "The day in this cron expression never occurs: none of its months has that day.",
                    places.get(3 - shift),
                    parts.get(3 - shift).length());
        }
        return cron;
    }

    private static void split(String text, List<String> parts, List<Integer> places) {
        int from = 0;
        while (from < text.length()) {
            int to = from;
            while (to < text.length() && !Character.isWhitespace(text.charAt(to))) {
                to++;
            }
            if (to > from) {
                parts.add(text.substring(from, to));
                places.add(from);
            }
            from = to + 1;
        }
    }

    /** As it was written. */
    public String text() {
        return text;
    }

    public ZoneId zone() {
        return zone;
    }

    /** Whether every listed time of a day fires exactly once, whatever the clock does. */
    boolean hasFixedHours() {
        return !hours.steps() && Long.bitCount(hours.values()) < 24;
    }

    @Override
    public @Nullable Instant nextAfter(Instant time) {
        Instant next = hasFixedHours() ? fixed(time) : shown(time);
        return next != null && next.isBefore(END_OF_TIME) ? next : null;
    }

    /** The next instant at which the wall clock shows a matching time. */
    private @Nullable Instant shown(Instant time) {
        ZoneRules rules = zone.getRules();
        Instant from = Instant.ofEpochSecond(time.getEpochSecond() + 1);
        while (from.isBefore(END_OF_TIME)) {
            ZoneOffset offset = rules.getOffset(from);
            LocalDateTime next = nextLocal(LocalDateTime.ofEpochSecond(from.getEpochSecond(), 0, offset));
            if (next == null) {
                return null;
            }
            Instant found = next.toInstant(offset);
            ZoneOffsetTransition change = rules.nextTransition(from);
            if (change == null || found.isBefore(change.getInstant())) {
                return found;
            }
            from = change.getInstant();
        }
        return null;
    }

    /** Each matching local time maps to one instant, in order. */
    private @Nullable Instant fixed(Instant time) {
        ZoneRules rules = zone.getRules();
        LocalDateTime from = LocalDateTime.ofEpochSecond(time.getEpochSecond(), 0, rules.getOffset(time));
        for (int i = 0; i < MOST_IN_AN_OVERLAP; i++) {
            LocalDateTime next = nextLocal(from);
            if (next == null) {
                return null;
            }
            Instant found = moment(next, rules);
            if (found.isAfter(time)) {
                return found;
            }
            from = next.plusSeconds(1);
        }
        throw new IllegalStateException("an overlap of more than a day in " + zone);
    }

    private static Instant moment(LocalDateTime local, ZoneRules rules) {
        List<ZoneOffset> offsets = rules.getValidOffsets(local);
        return offsets.isEmpty()
                ? Objects.requireNonNull(rules.getTransition(local)).getInstant()
                : local.toInstant(offsets.getFirst());
    }

    /** Null if no clock change of this zone skips one within these years, or if the hours are not fixed. */
    public @Nullable LocalDateTime skippedLocalTime(Instant from, int years) {
        if (!hasFixedHours()) {
            return null;
        }
        ZoneRules rules = zone.getRules();
        Instant end = from.plusSeconds(years * 31_557_600L);
        ZoneOffsetTransition change = rules.nextTransition(from);
        while (change != null && change.getInstant().isBefore(end)) {
            if (change.isGap()) {
                LocalDateTime next = nextLocal(change.getDateTimeBefore());
                if (next != null && next.isBefore(change.getDateTimeAfter())) {
                    return next;
                }
            }
            change = rules.nextTransition(change.getInstant());
        }
        return null;
    }

    /** The first matching local time at or after this one; null if there is none within eight years. */
    private @Nullable LocalDateTime nextLocal(LocalDateTime from) {
        LocalDate day = from.toLocalDate();
        if (fits(day)) {
            LocalTime time = timeFrom(from.toLocalTime());
            if (time != null) {
                return day.atTime(time);
            }
        }
        LocalDate last = day.plusDays(MOST_DAYS);
        day = day.plusDays(1);
        while (!day.isAfter(last)) {
            if (!months.has(day.getMonthValue())) {
                day = day.withDayOfMonth(1).plusMonths(1);
            } else if (fits(day)) {
                return day.atTime(hours.first(), minutes.first(), seconds.first());
            } else {
                day = day.plusDays(1);
            }
        }
        return null;
    }

    /** If day of month and day of week are both given, either may match, as usual in cron. */
    private boolean fits(LocalDate day) {
        if (!months.has(day.getMonthValue())) {
            return false;
        }
        if (days.any() || weekdays.any()) {
            return (days.any() || fitsDay(day)) && (weekdays.any() || fitsWeekday(day));
        }
        return fitsDay(day) || fitsWeekday(day);
    }

    private boolean fitsDay(LocalDate day) {
        return days.has(day.getDayOfMonth()) || (days.last() && day.getDayOfMonth() == day.lengthOfMonth());
    }

    private boolean fitsWeekday(LocalDate day) {
        int weekday = day.getDayOfWeek().getValue() % 7;
        boolean isLast = day.getDayOfMonth() + 7 > day.lengthOfMonth();
        return weekdays.has(weekday) || (isLast && (weekdays.lastOf() & 1L << weekday) != 0);
    }

    private @Nullable LocalTime timeFrom(LocalTime from) {
        int hour = hours.from(from.getHour());
        if (hour < 0) {
            return null;
        }
        if (hour > from.getHour()) {
            return LocalTime.of(hour, minutes.first(), seconds.first());
        }
        int minute = minutes.from(from.getMinute());
        if (minute == from.getMinute()) {
            int second = seconds.from(from.getSecond());
            if (second >= 0) {
                return LocalTime.of(hour, minute, second);
            }
            minute = minutes.from(from.getMinute() + 1);
        }
        if (minute >= 0) {
            return LocalTime.of(hour, minute, seconds.first());
        }
        int later = hours.from(from.getHour() + 1);
        return later < 0 ? null : LocalTime.of(later, minutes.first(), seconds.first());
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof CronRule cron && cron.text.equals(text) && cron.zone.equals(zone);
    }

    @Override
    public int hashCode() {
        return Objects.hash(text, zone);
    }

    @Override
    public String toString() {
        return text + " " + zone;
    }
}
