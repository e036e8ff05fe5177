package dev.semel.trials.chaos;

import dev.semel.trials.chaos.checks.Fault;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/**
 * What a trial does, all of it drawn from its seed. What it meets is not: processes run as they like, so a seed that
 * failed once may pass the next time, and a few repetitions find it again.
 *
 * @param skewed which worker has the wrong clock
 */
record ChaosPlan(long seed, Duration length, PlantedBug bug, List<PlannedFault> blows, int skewed, long skewMicros) {
    static final int WORKERS = 3;
    static final int LEASE_MILLIS = 2_000;
    private static final long AN_HOUR_MICROS = 3_600_000_000L;

    /** One blow: when after the start, against whom, and for how long. */
    record PlannedFault(Duration at, Fault.Kind kind, int worker, Duration lasts) {}

    static ChaosPlan of(long seed, Duration length, PlantedBug bug) {
        Random random = new Random(seed * 1_000_003 + bug.ordinal());
        int skewed = random.nextInt(WORKERS);
        boolean ahead = bug == PlantedBug.TAKEOVER_BY_OWN_CLOCK || random.nextBoolean();
        return new ChaosPlan(
                seed,
                length,
                bug,
                bug == PlantedBug.NONE ? mixed(length, random) : aimed(length, bug, random),
                skewed,
                ahead ? AN_HOUR_MICROS : -AN_HOUR_MICROS);
    }

    /** Each kind of blow comes early once, in an order of its own for each seed; then they are drawn. */
    private static List<PlannedFault> mixed(Duration length, Random random) {
        List<Fault.Kind> first = new ArrayList<>(List.of(Fault.Kind.values()));
        Collections.shuffle(first, random);
        List<PlannedFault> blows = new ArrayList<>();
        long at = 1_500;
        while (at < length.toMillis()) {
            Fault.Kind kind = first.isEmpty() ? drawn(random) : first.removeFirst();
            blows.add(blow(at, kind, random));
            at += 1_000 + random.nextInt(1_600);
        }
        return blows;
    }

    private static List<PlannedFault> aimed(Duration length, PlantedBug bug, Random random) {
        List<PlannedFault> blows = new ArrayList<>();
        for (long at = 2_500; at < length.toMillis(); at += 2_200 + random.nextInt(800)) {
            blows.add(blow(at, bug.aimed(), random));
        }
        return blows;
    }

    private static Fault.Kind drawn(Random random) {
        List<Fault.Kind> all = new ArrayList<>();
        for (Fault.Kind kind : Fault.Kind.values()) {
            all.addAll(Collections.nCopies(weight(kind), kind));
        }
        return all.get(random.nextInt(all.size()));
    }

    private static int weight(Fault.Kind kind) {
        return switch (kind) {
            case KILLED -> 5;
            case FROZEN -> 6;
            case FROZEN_IN_A_BATCH -> 4;
            case LAPSED -> 8;
            case DATABASE_KILLED -> 2;
        };
    }

    private static PlannedFault blow(long at, Fault.Kind kind, Random random) {
        int millis = switch (kind) {
            case KILLED -> random.nextInt(800);
            // Longer than the lease, and often shorter than the database waits for an open transaction.
            case FROZEN, FROZEN_IN_A_BATCH, LAPSED -> LEASE_MILLIS + 700 + random.nextInt(LEASE_MILLIS);
            case DATABASE_KILLED -> random.nextInt(1_500);
        };
        return new PlannedFault(Duration.ofMillis(at), kind, random.nextInt(WORKERS), Duration.ofMillis(millis));
    }
}
