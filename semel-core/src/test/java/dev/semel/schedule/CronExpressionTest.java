package dev.semel.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CronExpressionTest {
    @ParameterizedTest(name = "{0}")
    @CsvSource(delimiter = '|', textBlock = """
        0 0 30 2 *        | 4  | The day in this cron expression never occurs
        0 0 31 2,4,6 *    | 4  | The day in this cron expression never occurs
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
        -1 * * * *        | 0  | is not a number
        """)
    void a_wrong_cron_expression_is_rejected_at_its_position(String text, int at, String why) {
        CronSyntaxException problem = assertThrows(CronSyntaxException.class, () -> CronRule.of(text, ZoneOffset.UTC));
        assertEquals(at, problem.offset());
        assertTrue(String.valueOf(problem.getMessage()).contains(why), problem.getMessage());
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
