package dev.semel.effect;

import dev.semel.run.MicrosecondConverter;
import java.time.Duration;
import java.time.LocalDate;
import java.time.temporal.ChronoUnit;
import java.time.temporal.IsoFields;

/**
 * The generation of an effect with a window: the ISO week and a counter, in one number that only rises. A row that
 * retention deleted and a later effect creates again therefore starts above all generations that were sent before.
 *
 * <p>The row of a step needs no week: it lives as long as its lineage, and the counter with it.
 */
public final class EffectGeneration {
    /** How long a row stays after its window. */
    public static final long KEPT_AFTER_WINDOW = MicrosecondConverter.of(Duration.ofDays(7));

    /** One week has room for a window of one second at all times; beyond it the numbers of later weeks are used. */
    private static final int COUNTER_BITS = 20;

    private static final int LAST_WEEK = (1 << (Integer.SIZE - 1 - COUNTER_BITS)) - 1;

    /** Monday of the ISO week 2024-W01, which has the number 1. */
    private static final LocalDate FIRST_WEEK = LocalDate.of(2024, 1, 1);

    private static final long WEEK = MicrosecondConverter.of(Duration.ofDays(7));
    private static final long FIRST_WEEK_MICROS = FIRST_WEEK.toEpochDay() * MicrosecondConverter.of(Duration.ofDays(1));

    private EffectGeneration() {}

    /** The generation that a new row gets at this time. Retention deletes a row only if it is below this number. */
    public static int first(long now) {
        long week = Math.floorDiv(now - FIRST_WEEK_MICROS, WEEK) + 1;
        return (Math.clamp(week, 0, LAST_WEEK) << COUNTER_BITS) + 1;
    }

    static int next(int generation, long now) {
        return Math.max(Math.addExact(generation, 1), first(now));
    }

    /** For users: `2026-W47.1`, or the counter alone if it has no week. */
    public static String text(int generation) {
        int week = generation >> COUNTER_BITS;
        int counter = generation & ((1 << COUNTER_BITS) - 1);
        if (week == 0) {
            return String.valueOf(counter);
        }
        LocalDate monday = FIRST_WEEK.plus(week - 1L, ChronoUnit.WEEKS);
        return "%d-W%02d.%d"
                .formatted(
                        monday.get(IsoFields.WEEK_BASED_YEAR), monday.get(IsoFields.WEEK_OF_WEEK_BASED_YEAR), counter);
    }
}
