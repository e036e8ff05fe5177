package dev.semel.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.schedule.Schedule.CatchUp;
import dev.semel.schedule.Schedule.Mode;
import dev.semel.schedule.Schedule.Overlap;
import dev.semel.schedule.Tick.Reason;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.node.JsonNodeFactory;

class TickTest {
    private static final Instant NINE = Instant.parse("2026-11-16T09:00:00Z");

    private static Schedule hourly(Overlap overlap, Mode mode, Duration jitter) {
        return new Schedule(
                "hourly",
                new Every(Duration.ofHours(1), Instant.EPOCH),
                null,
                null,
                overlap,
                new CatchUp(mode, Duration.ofHours(6)),
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
    void a_late_tick_goes_by_the_catch_up(Duration late, String mode, String expected) {
        Schedule schedule = hourly(Overlap.SKIP, Mode.valueOf(mode.toUpperCase(Locale.ROOT)), Duration.ZERO);
        Tick tick = Tick.of(schedule, NINE, new Tick.Now("wf_1", false, false, NINE.plus(late)));
        assertEquals(
                expected,
                switch (tick) {
                    case Tick.Wait _ -> "waits";
                    case Tick.Fire fire -> fire.late() ? "caught up" : "fired";
                    case Tick.Skip skip -> skip.reason().word();
                });
    }

    @Test
    void a_tick_beside_an_unfinished_run_goes_by_the_overlap() {
        Tick.Now busy = new Tick.Now("wf_1", false, true, NINE);
        assertEquals(new Tick.Skip(Reason.OVERLAP), Tick.of(hourly(Overlap.SKIP, Mode.ALL, Duration.ZERO), NINE, busy));
        assertEquals(new Tick.Fire(false), Tick.of(hourly(Overlap.QUEUE, Mode.ALL, Duration.ZERO), NINE, busy));
        assertEquals(new Tick.Fire(false), Tick.of(hourly(Overlap.ALLOW, Mode.ALL, Duration.ZERO), NINE, busy));
    }

    @Test
    void a_paused_schedule_skips_on_time_and_says_so() {
        Schedule schedule = hourly(Overlap.SKIP, Mode.ALL, Duration.ZERO);
        assertEquals(new Tick.Skip(Reason.PAUSED), Tick.of(schedule, NINE, new Tick.Now("wf_1", true, false, NINE)));
        assertInstanceOf(
                Tick.Wait.class, Tick.of(schedule, NINE, new Tick.Now("wf_1", true, false, NINE.minusSeconds(1))));
    }

    @Test
    void jitter_is_the_same_each_time_and_moves_no_nominal_time() {
        Schedule schedule = hourly(Overlap.SKIP, Mode.ALL, Duration.ofSeconds(30));
        Schedule plain = hourly(Overlap.SKIP, Mode.ALL, Duration.ZERO);
        Set<Long> amounts = new HashSet<>();
        Instant time = NINE;
        for (int i = 0; i < 100; i++) {
            Instant next = schedule.after(time);
            assertEquals(plain.after(time), next);
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
    void nothing_is_due_before_the_start_and_from_the_end_on() {
        Schedule schedule = new Schedule(
                "hourly",
                new Every(Duration.ofHours(1), Instant.EPOCH),
                NINE,
                NINE.plus(Duration.ofHours(2)),
                Overlap.SKIP,
                CatchUp.USUAL,
                Duration.ZERO,
                JsonNodeFactory.instance.objectNode());
        assertEquals(
                java.util.List.of(NINE, NINE.plus(Duration.ofHours(1))),
                schedule.next(NINE.minus(Duration.ofDays(3)), 10));
        assertNull(schedule.after(NINE.plus(Duration.ofHours(1))));
    }
}
