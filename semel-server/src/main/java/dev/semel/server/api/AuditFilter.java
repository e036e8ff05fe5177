package dev.semel.server.api;

import dev.semel.run.RunId;
import dev.semel.store.Rows;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * `actor:tok_1 action:key.release target:evt_1 since:2h until:2026-11-15T09:00:00Z`, each at most once.
 *
 * @param action one action, or what stands before the dot of several
 * @param since microseconds; rows from then on
 * @param until microseconds; rows before then
 */
record AuditFilter(
        @Nullable String actor,
        @Nullable String action,
        @Nullable String target,
        long since,
        long until) {
    /** Ids are given by the clocks of servers, times by that of the store; they are never this far apart. */
    private static final long SKEW_MICROS = 3_600_000_000L;

    private static final String WORDS =
            "q takes words like actor:ID action:key.release target:KEY since:2h until:2026-11-15T09:00:00Z";

    static AuditFilter parse(@Nullable String text, long now) {
        Map<String, String> said = FilterWords.in(text, Set.of("actor", "action", "target", "since", "until"), WORDS);
        return new AuditFilter(
                said.get("actor"),
                said.get("action"),
                said.get("target"),
                moment(said, "since", now, 0),
                moment(said, "until", now, Long.MAX_VALUE));
    }

    /** What that word says; where it says nothing, the usual. */
    static long moment(Map<String, String> said, String name, long now, long usual) {
        String value = said.get(name);
        return value == null ? usual : moment(name, value, now);
    }

    /** An age such as 2h, or a time with an offset. */
    static long moment(String name, String value, long now) {
        if (value.matches("[0-9]{1,6}[smhd]")) {
            return now - Runs.Filter.age(value);
        }
        try {
            Instant time = OffsetDateTime.parse(value).toInstant();
            return ChronoUnit.MICROS.between(Instant.EPOCH, time);
        } catch (DateTimeException | ArithmeticException e) {
            throw Paging.refused(name + " is an age like 30s, 15m, 2h or 7d, or a time like 2026-11-15T09:00:00Z");
        }
    }

    /** Behind which every row is that can be wanted, so that an old time is found without all that came since. */
    @Nullable
    RunId start() {
        return until == Long.MAX_VALUE ? null : RunId.madeUntil(until);
    }

    /** Whether neither this row nor an older one can be wanted. */
    boolean isPast(Rows.Audit row) {
        return row.at() < since - SKEW_MICROS;
    }

    boolean wants(Rows.Audit row) {
        return row.at() >= since
                && row.at() < until
                && (actor == null || actor.equals(row.actor()))
                && (target == null || target.equals(row.target()))
                && (action == null
                        || row.action().equals(action)
                        || row.action().startsWith(action + "."));
    }
}
