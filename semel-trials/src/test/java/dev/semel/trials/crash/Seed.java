package dev.semel.trials.crash;

import java.util.Random;
import java.util.random.RandomGenerator;

/** The number that a trial draws all its chance from: printed, and given again with -Dseed=. */
record Seed(long value) {
    static Seed forTrial(String name) {
        Long given = Long.getLong("seed");
        Seed seed = new Seed(given == null ? new Random().nextLong() >>> 16 : given);
        System.out.println(name + ": replay with -Dseed=" + seed.value);
        return seed;
    }

    /** Chance of its own for one part, so that parts do not disturb each other. */
    RandomGenerator part(int number) {
        return new Random(value * 1_000_003 + number);
    }

    /** How often a trial is repeated: once in the suite, more with -Dcrash.rounds=20. */
    static int rounds() {
        return Integer.getInteger("crash.rounds", 1);
    }
}
