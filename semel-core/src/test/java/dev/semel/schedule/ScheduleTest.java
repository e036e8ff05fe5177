package dev.semel.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.semel.json.StrictJsonCodec;
import dev.semel.schedule.Schedule.CatchUpMode;
import dev.semel.schedule.Schedule.CatchUpPolicy;
import dev.semel.schedule.Schedule.OverlapPolicy;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A schedule as a value: its limits, its stored form, and the ticks between its start and its end. */
class ScheduleTest {
    private static final Instant NINE = Instant.parse("2026-11-16T09:00:00Z");
    private static final IntervalRule EVERY_SECOND = new IntervalRule(Duration.ofSeconds(1), Instant.EPOCH);

    private static Schedule between(@Nullable Instant start, @Nullable Instant end) {
        Schedule plain = Schedule.of("ticks", EVERY_SECOND);
        return new Schedule(
                "ticks", EVERY_SECOND, start, end, plain.overlap(), plain.catchUp(), plain.jitter(), plain.input());
    }

    private static Schedule withJitter(Duration jitter) {
        Schedule plain = Schedule.of("ticks", EVERY_SECOND);
        return new Schedule("ticks", EVERY_SECOND, null, null, plain.overlap(), plain.catchUp(), jitter, plain.input());
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
        {"cron":"0 9 * * MON","zone":"Europe/Berlin","overlap":"skip","catch_up":{"mode":"last","within":"PT1H"}}
        {"every":"PT30M","overlap":"queue","catch_up":{"mode":"all","within":"PT0S"}}
        {"every":"PT30M","anchor":"2026-11-16T09:07:00Z","overlap":"allow","catch_up":{"mode":"none","within":"PT720H"}}
        {"every":"PT1H","start":"2026-11-16T09:00:00Z","overlap":"skip","catch_up":{"mode":"last","within":"PT1H"}}
        {"every":"PT1H","end":"2026-11-16T09:00:00Z","overlap":"skip","catch_up":{"mode":"last","within":"PT1H"}}
        {"every":"PT1H","overlap":"skip","catch_up":{"mode":"last","within":"PT1H"},"jitter":"PT30S"}
        {"every":"PT1H","overlap":"skip","catch_up":{"mode":"last","within":"PT1H"},"data":{"region":"eu"}}
        """)
    void the_stored_form_of_a_schedule_is_stable_and_is_read_back(String stored) {
        Schedule schedule = Schedule.parse("report", StrictJsonCodec.parse(stored));
        assertEquals(stored, schedule.toJson());
        assertEquals("report", schedule.name());
        assertEquals(schedule, Schedule.parse("report", StrictJsonCodec.parse(schedule.toJson())));
    }

    @Test
    void the_parts_of_a_stored_schedule_have_their_types() {
        Schedule schedule = Schedule.parse("report", StrictJsonCodec.parse("""
            {"every":"PT30M","anchor":"2026-11-16T09:07:00Z","start":"2026-11-16T09:00:00Z",\
            "end":"2026-11-17T09:00:00Z","overlap":"queue","catch_up":{"mode":"all","within":"PT2H"},\
            "jitter":"PT1M","data":{"region":"eu"}}\
            """));
        assertEquals(
                new Schedule(
                        "report",
                        new IntervalRule(Duration.ofMinutes(30), Instant.parse("2026-11-16T09:07:00Z")),
                        NINE,
                        NINE.plus(Duration.ofDays(1)),
                        OverlapPolicy.QUEUE,
                        new CatchUpPolicy(CatchUpMode.ALL, Duration.ofHours(2)),
                        Duration.ofMinutes(1),
                        StrictJsonCodec.parse("{\"region\":\"eu\"}")),
                schedule);
        Schedule cron = Schedule.parse("report", StrictJsonCodec.parse("""
            {"cron":"0 9 * * *","zone":"Europe/Berlin","overlap":"skip",\
            "catch_up":{"mode":"last","within":"PT1H"}}\
            """));
        assertEquals(Schedule.of("report", CronRule.of("0 9 * * *", ZoneId.of("Europe/Berlin"))), cron);
    }

    @ParameterizedTest
    @ValueSource(strings = {"a", "z", "0", "9", "_", "-", "nightly-report_2"})
    void a_name_has_lower_case_letters_digits_hyphens_and_underscores(String name) {
        assertEquals(name, Schedule.of(name, EVERY_SECOND).name());
        assertEquals(64, Schedule.of("n".repeat(64), EVERY_SECOND).name().length());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "A", "`", "{", "/", ":", "ü", "a b", "a.b"})
    void another_name_is_rejected(String name) {
        assertThrows(IllegalArgumentException.class, () -> Schedule.of(name, EVERY_SECOND));
        assertThrows(IllegalArgumentException.class, () -> Schedule.of("n".repeat(65), EVERY_SECOND));
    }

    @Test
    void durations_have_limits() {
        assertEquals(
                Schedule.LONGEST_JITTER, withJitter(Schedule.LONGEST_JITTER).jitter());
        assertThrows(IllegalArgumentException.class, () -> withJitter(Schedule.LONGEST_JITTER.plusMillis(1)));
        assertThrows(IllegalArgumentException.class, () -> withJitter(Duration.ofMillis(-1)));
        assertEquals(CatchUpPolicy.LONGEST, new CatchUpPolicy(CatchUpMode.ALL, CatchUpPolicy.LONGEST).within());
        assertThrows(
                IllegalArgumentException.class,
                () -> new CatchUpPolicy(CatchUpMode.ALL, CatchUpPolicy.LONGEST.plusMillis(1)));
        assertThrows(IllegalArgumentException.class, () -> new CatchUpPolicy(CatchUpMode.ALL, Duration.ofMillis(-1)));
    }

    @ParameterizedTest(name = "every {0} from {1}: {2}")
    @CsvSource({
        "PT1S, 1970-01-01T00:00:00Z, accepted",
        "P366D, 1970-01-01T00:00:00Z, accepted",
        "P366DT1S, 1970-01-01T00:00:00Z, rejected",
        "PT0S, 1970-01-01T00:00:00Z, rejected",
        "PT1.5S, 1970-01-01T00:00:00Z, rejected",
        "PT1S, 1970-01-01T00:00:00.5Z, rejected",
    })
    void an_interval_has_whole_seconds_up_to_a_leap_year(Duration interval, Instant anchor, String expected) {
        if (expected.equals("accepted")) {
            assertEquals(interval, new IntervalRule(interval, anchor).interval());
        } else {
            assertThrows(IllegalArgumentException.class, () -> new IntervalRule(interval, anchor));
        }
    }

    @Test
    void a_start_inside_a_second_begins_with_the_next_tick() {
        Instant start = NINE.plusMillis(500);
        assertEquals(
                List.of(NINE.plusSeconds(1), NINE.plusSeconds(2)),
                between(start, null).next(NINE, 2));
        assertEquals(NINE.plusSeconds(1), between(start, null).nextAfter(NINE.minusSeconds(60)));
    }

    @Test
    void the_start_is_a_tick_and_the_end_is_none() {
        Schedule schedule = between(NINE, NINE.plusSeconds(2));
        assertEquals(List.of(NINE, NINE.plusSeconds(1)), schedule.next(NINE.minusSeconds(60), 10));
        assertEquals(List.of(), schedule.next(NINE.minusSeconds(60), 0));
        assertEquals(List.of(NINE), schedule.next(NINE.minusSeconds(60), 1));
    }

    /** A changed amount would fire ticks of a running server at other times after an upgrade. */
    @ParameterizedTest(name = "{1} of {0}: {2}")
    @CsvSource({
        "wf_1, 2026-11-16T09:00:00Z, PT1H, 2026-11-16T09:23:17.049Z",
        "wf_1, 2026-11-16T09:00:01Z, PT1H, 2026-11-16T09:48:44.012Z",
        "wf_2, 2026-11-16T09:00:00Z, PT1H, 2026-11-16T09:47:00.705Z",
        "wf_1, 2026-11-16T09:00:00Z, PT0S, 2026-11-16T09:00:00Z",
    })
    void the_jitter_of_a_tick_never_changes(String workflowId, Instant nominal, Duration jitter, Instant fires) {
        assertEquals(fires, withJitter(jitter).firesAt(workflowId, nominal));
    }

    @Test
    void the_stored_codes_of_tick_outcomes_are_stable() {
        String codes = Arrays.stream(ScheduleTickOutcome.values())
                .map(outcome -> outcome.word() + "=" + outcome.code() + (outcome.ran() ? "+run" : ""))
                .collect(Collectors.joining(" "));
        assertEquals("fired=1+run caught_up=2+run backfilled=3+run skipped=4 rejected=5", codes);
        for (ScheduleTickOutcome outcome : ScheduleTickOutcome.values()) {
            assertEquals(outcome, ScheduleTickOutcome.of(outcome.code()));
        }
        assertThrows(IllegalArgumentException.class, () -> ScheduleTickOutcome.of(0));
    }
}
