package dev.semel.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CronExpressionTest {
    @ParameterizedTest(name = "{0}")
    @CsvSource(delimiter = '|', textBlock = """
        0 0 30 2 *        | 4  | The day in this cron expression never occurs
        0 0 31 2,4,6 *    | 4  | The day in this cron expression never occurs
        0 0 0 30 2 *      | 6  | The day in this cron expression never occurs
        60 * * * *        | 0  | is outside 0 to 59
        * 24 * * *        | 2  | is outside 0 to 23
        * * 0 * *         | 4  | is outside 1 to 31
        * * * 13 *        | 6  | is outside 1 to 12
        * * * * 8         | 8  | is outside 0 to 7
        * * * * FRY       | 8  | is not a number or a name such as MON
        */0 * * * *       | 2  | has a step outside 1 to 59
        1,,2 * * * *      | 2  | between two commas is empty
        * 22-4 * * *      | 2  | ends before it starts
        * * * *           | 0  | this one has 4
        * * * * * * *     | 0  | this one has 7
        * * 15W * *       | 4  | is not a number
        @fortnightly      | 0  | Unknown cron shorthand
        99999999999 * * * * | 0 | is not a number
        -1 * * * *        | 0  | a part is not a number
        1-99 * * * *      | 2  | "99" is outside 0 to 59
        1234 * * * *      | 0  | "1234" is outside 0 to 59
        12345 * * * *     | 0  | "12345" is not a number
        /5 * * * *        | 0  | a part is not a number
        /0 * * * *        | 1  | "0" has a step outside 1 to 59
        */60 * * * *      | 2  | "60" has a step outside 1 to 59
        ,1 * * * *        | 0  | a part between two commas is empty
        1, * * * *        | 2  | a part between two commas is empty
        ? * * * *         | 0  | "?" is not a number
        * * * * L         | 8  | "L" is not a number or a name such as MON
        * *   * 13 *      | 8  | "13" is outside 1 to 12
        """)
    void a_wrong_cron_expression_is_rejected_at_its_position(String text, int at, String why) {
        CronSyntaxException problem = assertThrows(CronSyntaxException.class, () -> CronRule.of(text, ZoneOffset.UTC));
        assertEquals(at, problem.offset());
        assertTrue(String.valueOf(problem.getMessage()).contains(why), problem.getMessage());
    }

    @ParameterizedTest(name = "{0}: {1} characters at {2}")
    @CsvSource(delimiter = '|', textBlock = """
        0 0 30 2 *     | 4 | 2
        0 0 0 31 2 *   | 6 | 2
        1-99 * * * *   | 2 | 2
        1,,2 * * * *   | 2 | 1
        * * * * FRIDAY | 8 | 6
        @fortnightly   | 0 | 12
        * * *          | 0 | 5
        ''             | 0 | 1
        """)
    void an_editor_can_mark_the_wrong_part(String text, int at, int length) {
        CronSyntaxException problem = assertThrows(CronSyntaxException.class, () -> CronRule.of(text, ZoneOffset.UTC));
        assertEquals(at, problem.offset());
        assertEquals(length, problem.length());
    }

    @ParameterizedTest(name = "{0} is {1}")
    @CsvSource(delimiter = '|', textBlock = """
        5/10 12 1 * *            | 5,15,25,35,45,55 12 1 * *
        */59 12 1 * *            | 0,59 12 1 * *
        */1 12 * * *             | 0-59 12 * * *
        5-5 12 * * *             | 5 12 * * *
        5-8/2 12 * * *           | 5,7 12 * * *
        0 12 * * 1/2             | 0 12 * * MON,WED,FRI
        0 12 * * */2             | 0 12 * * SUN,TUE,THU,SAT
        0 12 * * 5-7             | 0 12 * * FRI,SAT,SUN
        0 12 * jan,Dec mon       | 0 12 * 1,12 1
        0 12 28/2 * *            | 0 12 28,30 * *
        0 12 * * 7L              | 0 12 * * SUNL
        0 12 l * *               | 0 12 L * *
        0 12 ? * ?               | 0 12 * * *
        0	12   * * *            | 0 12 * * *
        ' 0 12 * * * '           | 0 12 * * *
        0 0 12 * * *             | 0 12 * * *
        @daily                   | 0 0 * * *
        @Monthly                 | 0 0 1 * *
        @annually                | @yearly
        """)
    void two_texts_mean_the_same_times(String text, String same) {
        Instant from = Instant.parse("2026-01-01T00:00:00Z");
        Schedule one = Schedule.of("one", CronRule.of(text, ZoneOffset.UTC));
        Schedule other = Schedule.of("other", CronRule.of(same, ZoneOffset.UTC));
        assertEquals(other.next(from, 200), one.next(from, 200));
    }

    @Test
    void two_rules_are_equal_if_text_and_zone_are() {
        ZoneId berlin = ZoneId.of("Europe/Berlin");
        CronRule rule = CronRule.of("0 9 * * *", berlin);
        assertEquals(CronRule.of("0 9 * * *", berlin), rule);
        assertEquals(CronRule.of("0 9 * * *", berlin).hashCode(), rule.hashCode());
        assertNotEquals(CronRule.of("0 8 * * *", berlin), rule);
        assertNotEquals(CronRule.of("0 8 * * *", berlin).hashCode(), rule.hashCode());
        assertNotEquals(CronRule.of("0 9 * * *", ZoneOffset.UTC), rule);
        assertNotEquals(rule, new IntervalRule(Duration.ofHours(1), Instant.EPOCH));
        assertEquals("0 9 * * *", rule.text());
        assertEquals(berlin, rule.zone());
        assertEquals("0 9 * * * Europe/Berlin", rule.toString());
    }

    @Test
    void no_rule_is_due_after_the_last_representable_year() {
        Instant last = ScheduleRule.END_OF_TIME.minusSeconds(60);
        for (String text : List.of("* * * * *", "59 23 31 12 *")) {
            CronRule rule = CronRule.of(text, ZoneOffset.UTC);
            assertEquals(last, rule.nextAfter(last.minusSeconds(1)), text);
            assertNull(rule.nextAfter(last), text);
        }
        IntervalRule every = new IntervalRule(Duration.ofMinutes(1), Instant.EPOCH);
        assertEquals(last, every.nextAfter(last.minusSeconds(1)));
        assertNull(every.nextAfter(last));
    }

    @Test
    void a_time_skipped_by_a_clock_change_is_detected_beforehand() {
        ZoneId berlin = ZoneId.of("Europe/Berlin");
        Instant from = Instant.parse("2026-01-01T00:00:00Z");
        assertEquals(
                LocalDateTime.of(2026, 3, 29, 2, 30),
                CronRule.of("30 2 * * *", berlin).skippedLocalTime(from, 3));
        assertNull(CronRule.of("30 3 * * *", berlin).skippedLocalTime(from, 3));
        assertNull(CronRule.of("30 * * * *", berlin).skippedLocalTime(from, 3), "it follows the clock as it is shown");
        assertNull(CronRule.of("30 2 * * *", ZoneOffset.UTC).skippedLocalTime(from, 3));
    }
}
