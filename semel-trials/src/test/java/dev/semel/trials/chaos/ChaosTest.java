package dev.semel.trials.chaos;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A slice of the chaos trial, short enough for every build; {@code semel-trials/chaos} is the whole of it. */
@Tag("trial")
class ChaosTest {
    private static final Duration SLICE = Duration.ofSeconds(10);
    private static final Duration WITH_A_BUG = Duration.ofSeconds(4);

    /** Two that need no luck: a sweep of live keys, and a clock that is an hour wrong. */
    private static final List<PlantedBug> PLANTED =
            List.of(PlantedBug.SWEEPER_DELETES_LIVE_KEYS, PlantedBug.TAKEOVER_BY_OWN_CLOCK);

    @TempDir
    Path folder;

    @Test
    void three_workers_under_chaos_keep_every_invariant_and_planted_bugs_are_detected()
            throws IOException, InterruptedException {
        long seed = Long.getLong("seed", System.nanoTime() & 0xffff);
        System.out.println("chaos: seed " + seed);
        try (KillablePostgres postgres = new KillablePostgres(folder)) {
            ChaosTrial.Report good =
                    new ChaosTrial(ChaosPlan.of(seed, SLICE, PlantedBug.NONE), postgres, folder.resolve("good")).run();
            System.out.println(good.figures());
            assertEquals(
                    List.of(), good.violations(), () -> "\n" + good.broken() + "\nagain with  " + good.again() + "\n");
            assertTrue(good.figures().get("triggers acknowledged") > 50, "too little happened to show anything");
            assertTrue(good.figures().get("takeovers") > 0, "nothing was taken over");
            for (PlantedBug bug : PLANTED) {
                ChaosTrial.Report bad =
                        new ChaosTrial(ChaosPlan.of(seed, WITH_A_BUG, bug), postgres, folder.resolve(bug.name())).run();
                assertTrue(bad.planted(), () -> bug + " was in nobody's way; again with  " + bad.again());
                assertTrue(bad.caught(), () -> bug + " was not seen; again with  " + bad.again() + "\n" + bad.broken());
            }
        }
    }
}
