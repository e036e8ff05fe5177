package dev.semel.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The table of ADR 0027, by hand: what a clock that is put forward or back does to nominal times. */
class ClockChangesTest {
    /** Every tick in [from, to). */
    private static List<Instant> between(ScheduleRule rule, Instant from, Instant to) {
        List<Instant> times = new ArrayList<>();
        Instant next = rule.nextAfter(from.minusSeconds(1));
        while (next != null && next.isBefore(to)) {
            times.add(next);
            next = rule.nextAfter(next);
        }
        return times;
    }

    private static List<Instant> times(String text) {
        return text.isEmpty()
                ? List.of()
                : List.of(text.split(" ")).stream().map(Instant::parse).toList();
    }

    @ParameterizedTest(name = "{0}: {1} {2}")
    @CsvSource(delimiter = '|', textBlock = """
        gap, fixed time inside         | 30 2 * * *      | Europe/Berlin    | 2026-03-29T00:00:00Z | 2026-03-30T00:00:00Z | 2026-03-29T01:00:00Z
        gap, the day before and after  | 30 2 * * *      | Europe/Berlin    | 2026-03-28T00:00:00Z | 2026-03-31T00:00:00Z | 2026-03-28T01:30:00Z 2026-03-29T01:00:00Z 2026-03-30T00:30:00Z
        gap, several inside are one    | 0,15,30 2 * * * | Europe/Berlin    | 2026-03-29T00:00:00Z | 2026-03-29T22:00:00Z | 2026-03-29T01:00:00Z
        gap, its end is a time too     | 30 2,3 * * *    | Europe/Berlin    | 2026-03-29T00:00:00Z | 2026-03-29T22:00:00Z | 2026-03-29T01:00:00Z 2026-03-29T01:30:00Z
        gap, first moment is a time    | 0 2,3 * * *     | Europe/Berlin    | 2026-03-29T00:00:00Z | 2026-03-29T22:00:00Z | 2026-03-29T01:00:00Z
        gap, steps follow the clock    | */30 * * * *    | Europe/Berlin    | 2026-03-29T00:00:00Z | 2026-03-29T02:00:00Z | 2026-03-29T00:00:00Z 2026-03-29T00:30:00Z 2026-03-29T01:00:00Z 2026-03-29T01:30:00Z
        gap, hourly at half past       | 30 * * * *      | Europe/Berlin    | 2026-03-29T00:00:00Z | 2026-03-29T03:00:00Z | 2026-03-29T00:30:00Z 2026-03-29T01:30:00Z 2026-03-29T02:30:00Z
        gap, every second hour         | 0 */2 * * *     | Europe/Berlin    | 2026-03-29T00:00:00Z | 2026-03-29T06:00:00Z | 2026-03-29T02:00:00Z 2026-03-29T04:00:00Z
        gap at midnight                | 0 0 * * *       | America/Sao_Paulo| 2018-11-04T00:00:00Z | 2018-11-05T00:00:00Z | 2018-11-04T03:00:00Z
        gap of half an hour            | 15 2 * * *      | Australia/Lord_Howe | 2026-10-03T12:00:00Z | 2026-10-04T12:00:00Z | 2026-10-03T15:30:00Z
        gap of a whole day             | 0 12 30 12 *    | Pacific/Apia     | 2011-12-29T00:00:00Z | 2012-01-02T00:00:00Z | 2011-12-30T10:00:00Z
        overlap, fixed time            | 30 2 * * *      | Europe/Berlin    | 2026-10-25T00:00:00Z | 2026-10-26T00:00:00Z | 2026-10-25T00:30:00Z
        overlap, fixed hour with steps | */30 2 * * *    | Europe/Berlin    | 2026-10-24T23:00:00Z | 2026-10-25T03:00:00Z | 2026-10-25T00:00:00Z 2026-10-25T00:30:00Z
        overlap, steps follow          | */30 * * * *    | Europe/Berlin    | 2026-10-25T00:00:00Z | 2026-10-25T02:00:00Z | 2026-10-25T00:00:00Z 2026-10-25T00:30:00Z 2026-10-25T01:00:00Z 2026-10-25T01:30:00Z
        overlap, all hours are listed  | 30 0-23 * * *   | Europe/Berlin    | 2026-10-25T00:00:00Z | 2026-10-25T02:00:00Z | 2026-10-25T00:30:00Z 2026-10-25T01:30:00Z
        overlap, every hour            | @hourly         | America/New_York | 2026-11-01T05:00:00Z | 2026-11-01T08:00:00Z | 2026-11-01T05:00:00Z 2026-11-01T06:00:00Z 2026-11-01T07:00:00Z
        overlap, time behind it        | 0 2 * * *       | America/New_York | 2026-11-01T00:00:00Z | 2026-11-02T00:00:00Z | 2026-11-01T07:00:00Z
        24:00 is 0:00 of the next day  | 0 0 1 * *       | Europe/Berlin    | 2026-01-01T00:00:00Z | 2026-02-02T00:00:00Z | 2026-01-31T23:00:00Z
        leap day                       | 0 0 29 2 *      | UTC              | 2026-01-01T00:00:00Z | 2033-01-01T00:00:00Z | 2028-02-29T00:00:00Z 2032-02-29T00:00:00Z
        leap day around 2100           | 0 0 29 2 *      | UTC              | 2097-01-01T00:00:00Z | 2105-01-01T00:00:00Z | 2104-02-29T00:00:00Z
        the 31st comes seven times     | 0 0 31 * *      | UTC              | 2026-01-01T00:00:00Z | 2026-07-01T00:00:00Z | 2026-01-31T00:00:00Z 2026-03-31T00:00:00Z 2026-05-31T00:00:00Z
        month end                      | 0 0 L * *       | UTC              | 2028-01-01T00:00:00Z | 2028-04-01T00:00:00Z | 2028-01-31T00:00:00Z 2028-02-29T00:00:00Z 2028-03-31T00:00:00Z
        last Friday                    | 0 9 ? * FRIL    | UTC              | 2026-11-01T00:00:00Z | 2027-01-01T00:00:00Z | 2026-11-27T09:00:00Z 2026-12-25T09:00:00Z
        last Friday, not the 24th      | 0 9 * * FRIL    | UTC              | 2026-07-01T00:00:00Z | 2026-08-01T00:00:00Z | 2026-07-31T09:00:00Z
        twice after midnight           | 15,45 0 * * *   | UTC              | 2026-11-15T00:00:00Z | 2026-11-16T00:00:00Z | 2026-11-15T00:15:00Z 2026-11-15T00:45:00Z
        either kind of day             | 0 0 13 * FRI    | UTC              | 2026-11-06T00:00:00Z | 2026-11-20T00:00:00Z | 2026-11-06T00:00:00Z 2026-11-13T00:00:00Z
        rules of a zone change         | 0 9 * * *       | Europe/Istanbul  | 2016-10-29T00:00:00Z | 2016-11-01T00:00:00Z | 2016-10-29T06:00:00Z 2016-10-30T06:00:00Z 2016-10-31T06:00:00Z
        seconds first                  | */20 0 12 * * * | UTC              | 2026-11-15T00:00:00Z | 2026-11-16T00:00:00Z | 2026-11-15T12:00:00Z 2026-11-15T12:00:20Z 2026-11-15T12:00:40Z
        names and ranges               | 0 12 * JAN-FEB/2 MON-WED | UTC     | 2026-01-01T00:00:00Z | 2026-01-09T00:00:00Z | 2026-01-05T12:00:00Z 2026-01-06T12:00:00Z 2026-01-07T12:00:00Z
        Sunday is 0 and 7              | 0 12 * * 7      | UTC              | 2026-11-09T00:00:00Z | 2026-11-16T00:00:00Z | 2026-11-15T12:00:00Z
        """)
    void a_cron_expression_is_due_at(String what, String cron, String zone, Instant from, Instant to, String expected) {
        assertEquals(times(expected), between(CronRule.of(cron, ZoneId.of(zone)), from, to), what);
    }

    @org.junit.jupiter.api.Test
    void an_interval_is_elapsed_time_independent_of_the_local_clock() {
        IntervalRule every = new IntervalRule(Duration.ofMinutes(30), Instant.EPOCH);
        assertEquals(
                times("2026-03-29T00:30:00Z 2026-03-29T01:00:00Z 2026-03-29T01:30:00Z"),
                between(every, Instant.parse("2026-03-29T00:10:00Z"), Instant.parse("2026-03-29T02:00:00Z")));
        IntervalRule anchored = new IntervalRule(Duration.ofMinutes(30), Instant.parse("2026-03-29T00:07:00Z"));
        assertEquals(Instant.parse("2026-03-29T00:07:00Z"), anchored.nextAfter(Instant.parse("2026-03-29T00:00:00Z")));
        assertEquals(Instant.parse("2026-03-29T00:37:00Z"), anchored.nextAfter(Instant.parse("2026-03-29T00:07:00Z")));
    }
}
