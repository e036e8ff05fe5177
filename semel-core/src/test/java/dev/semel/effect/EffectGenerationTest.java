package dev.semel.effect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A generation is a week and a counter. */
final class EffectGenerationTest {
    private static long micros(String instant) {
        return Instant.parse(instant).getEpochSecond() * 1_000_000;
    }

    @ParameterizedTest
    @CsvSource({
        "2023-12-31T23:59:59Z, 1",
        "2024-01-01T00:00:00Z, 2024-W01.1",
        "2026-11-15T23:59:59Z, 2026-W46.1",
        "2026-11-16T00:00:00Z, 2026-W47.1",
        "2027-01-03T23:59:59Z, 2026-W53.1",
        "2027-01-04T00:00:00Z, 2027-W01.1",
    })
    void the_first_generation_of_a_row_has_the_iso_week(String now, String text) {
        assertEquals(text, EffectGeneration.text(EffectGeneration.first(micros(now))));
    }

    @Test
    void the_counter_rises_inside_a_week_and_starts_again_in_the_next() {
        int first = EffectGeneration.first(micros("2026-11-18T12:00:00Z"));
        int second = EffectGeneration.next(first, micros("2026-11-18T12:00:01Z"));
        assertEquals("2026-W47.2", EffectGeneration.text(second));
        int third = EffectGeneration.next(second, micros("2026-11-23T00:00:00Z"));
        assertEquals("2026-W48.1", EffectGeneration.text(third));
        assertEquals("2026-W48.2", EffectGeneration.text(EffectGeneration.next(third, micros("2026-11-18T12:00:00Z"))));
    }

    @Test
    void a_generation_without_a_week_is_followed_by_one_of_this_week() {
        assertEquals("2026-W47.1", EffectGeneration.text(EffectGeneration.next(2, micros("2026-11-18T12:00:00Z"))));
        assertEquals("3", EffectGeneration.text(EffectGeneration.next(2, 0)));
    }

    @Test
    void generations_rise_to_the_last_week_and_beyond() {
        int last = EffectGeneration.first(Long.MAX_VALUE / 2);
        assertTrue(last > EffectGeneration.first(micros("2060-01-01T00:00:00Z")));
        assertEquals(last + 1, EffectGeneration.next(last, Long.MAX_VALUE / 2));
    }
}
