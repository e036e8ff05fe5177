package dev.semel.server.operations.access;

import dev.semel.run.RunId;
import dev.semel.server.files.yaml.DurationFormat;
import dev.semel.server.query.ApiErrors;
import dev.semel.server.query.ApiListFilterParser;
import dev.semel.server.query.RunListFilter;
import dev.semel.store.DatabaseRows;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The filter `q` of the audit list, such as `actor:tok_1 action:key.release target:evt_1 since:2h`.
 *
 * @param action one action, or the part before the dot of several
 * @param since microseconds; rows at or after this time
 * @param until microseconds; rows before this time
 */
public record AuditFilter(
        @Nullable String actor,
        @Nullable String action,
        @Nullable String target,
        long since,
        long until) {
    /** Row ids come from server clocks and times from the store clock. They never differ by this much. */
    private static final long SKEW_MICROS = 3_600_000_000L;

    private static final String WORDS =
            "q must be a filter like actor:ID action:key.release target:KEY since:2h until:2026-11-15T09:00:00Z";

    static AuditFilter parse(@Nullable String text, long now) {
        Map<String, String> words =
                ApiListFilterParser.parse(text, Set.of("actor", "action", "target", "since", "until"), WORDS);
        return new AuditFilter(
                words.get("actor"),
                words.get("action"),
                words.get("target"),
                parseTime(words, "since", now, 0),
                parseTime(words, "until", now, Long.MAX_VALUE));
    }

    /** The time of this filter word, or the default if the filter does not have it. */
    public static long parseTime(Map<String, String> words, String name, long now, long fallback) {
        String value = words.get(name);
        return value == null ? fallback : parseTime(name, value, now);
    }

    /** Parses an age such as 2h, or a time with an offset. */
    public static long parseTime(String name, String value, long now) {
        if (DurationFormat.parse(value).isPresent()) {
            return now - RunListFilter.parseAge(value);
        }
        try {
            Instant time = OffsetDateTime.parse(value).toInstant();
            return ChronoUnit.MICROS.between(Instant.EPOCH, time);
        } catch (DateTimeException | ArithmeticException e) {
            throw ApiErrors.invalidQuery(
                    name + " must be an age like 500ms, 30s, 15m, 2h or 7d, or a time like 2026-11-15T09:00:00Z");
        }
    }

    /** A cursor before the newest row that can match, so that a query for an old time skips newer rows. */
    @Nullable
    RunId firstCursor() {
        return until == Long.MAX_VALUE ? null : RunId.upperBoundAt(until);
    }

    /** Whether neither this row nor any older row can match. */
    boolean isBeforeRange(DatabaseRows.AuditRow row) {
        return row.at() < since - SKEW_MICROS;
    }

    boolean matches(DatabaseRows.AuditRow row) {
        return row.at() >= since
                && row.at() < until
                && (actor == null || actor.equals(row.actor()))
                && (target == null || target.equals(row.target()))
                && (action == null
                        || row.action().equals(action)
                        || row.action().startsWith(action + "."));
    }
}
