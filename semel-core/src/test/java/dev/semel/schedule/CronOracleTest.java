package dev.semel.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.zone.ZoneOffsetTransition;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Random cron texts against an oracle that goes through every minute and reads each field in another way. */
@Tag("trial")
class CronOracleTest {
    private static final List<String> ZONES = List.of(
            "UTC",
            "Europe/Berlin",
            "America/New_York",
            "Australia/Lord_Howe",
            "America/Sao_Paulo",
            "Asia/Beirut",
            "Pacific/Apia",
            "Africa/Casablanca",
            "Asia/Kathmandu");
    private static final int TEXTS = Integer.getInteger("texts", 12);

    @Test
    void every_tick_matches_the_slow_oracle_and_none_is_missing() {
        long seed = Long.getLong("seed", new Random().nextLong());
        RandomGenerator random = new Random(seed);
        for (int i = 0; i < TEXTS; i++) {
            String text = text(random);
            String zone = ZONES.get(random.nextInt(ZONES.size()));
            Instant from = Instant.parse((2009 + random.nextInt(20)) + "-01-01T00:00:00Z");
            Instant to = from.plusSeconds(86_400L * 370);
            assertEquals(
                    slow(text, ZoneId.of(zone), from, to),
                    quick(text, zone, from, to),
                    () -> "seed " + seed + ": " + text + " in " + zone + " from " + from);
        }
    }

    private static List<Instant> quick(String text, String zone, Instant from, Instant to) {
        CronRule cron = CronRule.of(text, ZoneId.of(zone));
        List<Instant> times = new ArrayList<>();
        Instant next = cron.nextAfter(from.minusSeconds(1));
        while (next != null && next.isBefore(to)) {
            times.add(next);
            next = cron.nextAfter(next);
        }
        return times;
    }

    /** Minute by minute. A fixed time counts at the first of two, and at the end of a gap that swallowed it. */
    private static List<Instant> slow(String text, ZoneId zone, Instant from, Instant to) {
        String[] fields = text.split(" ");
        boolean fixed = !fields[1].contains("*") && !fields[1].contains("/");
        List<Instant> times = new ArrayList<>();
        for (Instant at = from; at.isBefore(to); at = at.plusSeconds(60)) {
            LocalDateTime local = LocalDateTime.ofInstant(at, zone);
            List<ZoneOffset> offsets = zone.getRules().getValidOffsets(local);
            boolean second =
                    offsets.size() == 2 && offsets.get(1).equals(zone.getRules().getOffset(at));
            boolean due = fits(fields, local) && !(fixed && second);
            ZoneOffsetTransition change = zone.getRules().getTransition(local.minusMinutes(1));
            if (!due
                    && fixed
                    && change != null
                    && change.isGap()
                    && change.getInstant().equals(at)) {
                for (LocalDateTime gone = change.getDateTimeBefore();
                        gone.isBefore(change.getDateTimeAfter());
                        gone = gone.plusMinutes(1)) {
                    due |= fits(fields, gone);
                }
            }
            if (due) {
                times.add(at);
            }
        }
        return times;
    }

    private static boolean fits(String[] fields, LocalDateTime local) {
        boolean day = has(fields[2], local.getDayOfMonth(), 1, 31)
                || (fields[2].equals("L") && local.toLocalDate().plusDays(1).getDayOfMonth() == 1);
        boolean weekday = has(fields[4], local.getDayOfWeek().getValue() % 7, 0, 6);
        boolean either = !fields[2].equals("*") && !fields[4].equals("*");
        return has(fields[0], local.getMinute(), 0, 59)
                && has(fields[1], local.getHour(), 0, 23)
                && has(fields[3], local.getMonthValue(), 1, 12)
                && (either ? day || weekday : day && weekday);
    }

    private static boolean has(String field, int value, int least, int most) {
        if (field.equals("L")) {
            return false;
        }
        Set<Integer> all = new HashSet<>();
        for (String part : field.split(",")) {
            String[] stepped = part.split("/");
            String[] ends = stepped[0].split("-");
            int from = ends[0].equals("*") ? least : Integer.parseInt(ends[0]);
            int to = ends.length == 2
                    ? Integer.parseInt(ends[1])
                    : ends[0].equals("*") || stepped.length == 2 ? most : from;
            for (int i = from; i <= to; i += stepped.length == 2 ? Integer.parseInt(stepped[1]) : 1) {
                all.add(i);
            }
        }
        return all.contains(value);
    }

    private static String text(RandomGenerator random) {
        String day = random.nextInt(6) == 0 ? "L" : field(random, 1, 28);
        return field(random, 0, 59) + " " + field(random, 0, 23) + " " + day + " " + field(random, 1, 12) + " "
                + field(random, 0, 6);
    }

    private static String field(RandomGenerator random, int least, int most) {
        int one = least + random.nextInt(most - least + 1);
        int other = one + random.nextInt(most - one + 1);
        return switch (random.nextInt(7)) {
            case 0, 1, 2 -> "*";
            case 3 -> "*/" + (1 + random.nextInt(most));
            case 4 -> one + "-" + other;
            case 5 -> one + "," + other;
            default -> one + "-" + other + "/" + (1 + random.nextInt(5));
        };
    }
}
