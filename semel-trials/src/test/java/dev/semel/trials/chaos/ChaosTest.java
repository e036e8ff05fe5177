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
    private static final List<Bug> PLANTED = List.of(Bug.SWEEPER_DELETES_LIVE_KEYS, Bug.TAKEOVER_BY_OWN_CLOCK);

    @TempDir
    Path folder;

    @Test
    void whatever_is_done_to_three_workers_every_promise_holds_and_planted_bugs_are_seen()
            throws IOException, InterruptedException {
        long seed = Long.getLong("seed", System.nanoTime() & 0xffff);
        System.out.println("chaos: seed " + seed);
        try (Postgres postgres = new Postgres(folder)) {
            Trial.Report good = new Trial(Plan.of(seed, SLICE, Bug.NONE), postgres, folder.resolve("good")).run();
            System.out.println(good.figures());
            assertEquals(
                    List.of(), good.violations(), () -> "\n" + good.broken() + "\nagain with  " + good.again() + "\n");
            assertTrue(good.figures().get("triggers acknowledged") > 50, "too little happened to show anything");
            assertTrue(good.figures().get("takeovers") > 0, "nothing was taken over");
            for (Bug bug : PLANTED) {
                Trial.Report bad =
                        new Trial(Plan.of(seed, WITH_A_BUG, bug), postgres, folder.resolve(bug.name())).run();
                assertTrue(bad.planted(), () -> bug + " was in nobody's way; again with  " + bad.again());
                assertTrue(bad.caught(), () -> bug + " was not seen; again with  " + bad.again() + "\n" + bad.broken());
            }
        }
    }
}
