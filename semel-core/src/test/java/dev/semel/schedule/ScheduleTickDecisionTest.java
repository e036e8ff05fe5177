package dev.semel.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.schedule.Schedule.CatchUpMode;
import dev.semel.schedule.Schedule.CatchUpPolicy;
import dev.semel.schedule.Schedule.OverlapPolicy;
import dev.semel.schedule.ScheduleTickDecision.SkipReason;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.node.JsonNodeFactory;

class ScheduleTickDecisionTest {
    private static final Instant NINE = Instant.parse("2026-11-16T09:00:00Z");

    private static Schedule hourly(OverlapPolicy overlap, CatchUpMode mode, Duration jitter) {
        return new Schedule(
                "hourly",
                new IntervalRule(Duration.ofHours(1), Instant.EPOCH),
                null,
                null,
                overlap,
                new CatchUpPolicy(mode, Duration.ofHours(6)),
                jitter,
                JsonNodeFactory.instance.objectNode());
    }

    @ParameterizedTest(name = "{0} after its time, {1}: {2}")
    @CsvSource({
        "PT0S, last, fired",
        "PT10S, none, fired",
        "PT11S, none, missed",
        "PT11S, last, caught up",
        "PT59M59S, last, caught up",
        "PT1H, last, newer",
        "PT1H, all, caught up",
        "PT6H, all, caught up",
        "PT6H1S, all, outside",
        "PT6H1S, last, outside",
        "PT-1S, all, waits",
    })
    void a_late_tick_follows_the_catch_up_policy(Duration late, String mode, String expected) {
        Schedule schedule =
                hourly(OverlapPolicy.SKIP, CatchUpMode.valueOf(mode.toUpperCase(Locale.ROOT)), Duration.ZERO);
        ScheduleTickDecision tick = ScheduleTickDecision.decide(
                schedule, NINE, new ScheduleTickDecision.ScheduleStatus("wf_1", false, false, NINE.plus(late)));
        assertEquals(
                expected,
                switch (tick) {
                    case ScheduleTickDecision.Wait _ -> "waits";
                    case ScheduleTickDecision.Fire fire -> fire.late() ? "caught up" : "fired";
                    case ScheduleTickDecision.Skip skip -> skip.reason().word();
                });
    }

    @Test
    void a_tick_during_an_unfinished_run_follows_the_overlap_policy() {
        ScheduleTickDecision.ScheduleStatus busy = new ScheduleTickDecision.ScheduleStatus("wf_1", false, true, NINE);
        assertEquals(
                new ScheduleTickDecision.Skip(SkipReason.OVERLAP),
                ScheduleTickDecision.decide(hourly(OverlapPolicy.SKIP, CatchUpMode.ALL, Duration.ZERO), NINE, busy));
        assertEquals(
                new ScheduleTickDecision.Fire(false),
                ScheduleTickDecision.decide(hourly(OverlapPolicy.QUEUE, CatchUpMode.ALL, Duration.ZERO), NINE, busy));
        assertEquals(
                new ScheduleTickDecision.Fire(false),
                ScheduleTickDecision.decide(hourly(OverlapPolicy.ALLOW, CatchUpMode.ALL, Duration.ZERO), NINE, busy));
    }

    @Test
    void a_paused_schedule_skips_on_time_and_records_the_reason() {
        Schedule schedule = hourly(OverlapPolicy.SKIP, CatchUpMode.ALL, Duration.ZERO);
        assertEquals(
                new ScheduleTickDecision.Skip(SkipReason.PAUSED),
                ScheduleTickDecision.decide(
                        schedule, NINE, new ScheduleTickDecision.ScheduleStatus("wf_1", true, false, NINE)));
        assertInstanceOf(
                ScheduleTickDecision.Wait.class,
                ScheduleTickDecision.decide(
                        schedule,
                        NINE,
                        new ScheduleTickDecision.ScheduleStatus("wf_1", true, false, NINE.minusSeconds(1))));
    }

    @Test
    void jitter_is_deterministic_and_moves_no_nominal_time() {
        Schedule schedule = hourly(OverlapPolicy.SKIP, CatchUpMode.ALL, Duration.ofSeconds(30));
        Schedule plain = hourly(OverlapPolicy.SKIP, CatchUpMode.ALL, Duration.ZERO);
        Set<Long> amounts = new HashSet<>();
        Instant time = NINE;
        for (int i = 0; i < 100; i++) {
            Instant next = schedule.nextAfter(time);
            assertEquals(plain.nextAfter(time), next);
            time = java.util.Objects.requireNonNull(next);
            Duration later = Duration.between(time, schedule.firesAt("wf_1", time));
            assertFalse(later.isNegative() || later.compareTo(Duration.ofSeconds(30)) > 0);
            assertEquals(schedule.firesAt("wf_1", time), schedule.firesAt("wf_1", time));
            amounts.add(later.toMillis());
        }
        assertTrue(amounts.size() > 50, "each tick has an amount of its own: " + amounts.size());
        assertNotEquals(schedule.firesAt("wf_1", NINE), schedule.firesAt("wf_2", NINE));
    }

    @Test
    void nothing_is_due_before_the_start_or_after_the_end() {
        Schedule schedule = new Schedule(
                "hourly",
                new IntervalRule(Duration.ofHours(1), Instant.EPOCH),
                NINE,
                NINE.plus(Duration.ofHours(2)),
                OverlapPolicy.SKIP,
                CatchUpPolicy.DEFAULT,
                Duration.ZERO,
                JsonNodeFactory.instance.objectNode());
        assertEquals(
                java.util.List.of(NINE, NINE.plus(Duration.ofHours(1))),
                schedule.next(NINE.minus(Duration.ofDays(3)), 10));
        assertNull(schedule.nextAfter(NINE.plus(Duration.ofHours(1))));
    }
}
