package dev.semel.trials.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.fail;

import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Three workers, one SQLite file, and everything that may go wrong: {@code SEED=7} (or {@code -Dseed=7}) plays that
 * seed alone and prints its whole trace; {@code -Dseeds=500} plays more of them.
 *
 * <p>A seed fixes the programs and the faults, not the order in which threads come to run: see {@link Simulation}.
 */
@Tag("trial")
final class SimulationTest {
    private static final int SEEDS = 40;
    /** A worker that had lost its lease and taken the next one sent for a run that it had lost. */
    private static final long FOUND = 159;

    private static final long MORE = 10_000;
    private static final long MOST_MORE = 200;

    private static final int SEEDS_FOR_A_BUG = 15;
    private static final Logger LOG = Logger.getLogger("dev.semel");
    private static final Set<String> MUST_BE_MET = Set.of(
            "fault DOWN",
            "fault ANSWER_LOST",
            "fault COMMIT_LOST",
            "fault LOCKED",
            "killed",
            "paused",
            "closed",
            "lapsed",
            "replayed",
            "receiver ACCEPTS",
            "receiver LOSES_ANSWER",
            "receiver LOSES_REQUEST",
            "receiver DOWN",
            "receiver KILLS",
            "protection PROVIDER_KEY",
            "protection LOOKUP",
            "protection AT_MOST_ONCE",
            "protection ASK",
            "protection REPEATABLE",
            "protection ONCE",
            "protection UNDO",
            "lookup found",
            "lookup empty",
            "counted takeovers",
            "counted parkedRuns",
            "counted fencedBatches",
            "counted recovered",
            "recorded SUPPRESSED",
            "recorded INDETERMINATE",
            "recorded FOUND",
            "recorded REUSED",
            "decided: happened",
            "decided: did not happen",
            "ended COMPLETED",
            "ended FAILED",
            "ended CANCELLED",
            "ended IN_DOUBT",
            "ended WAITING");

    @TempDir
    private static Path folder;

    private static Path file(long seed, PlantedBug bug) {
        return folder.resolve(bug + "-" + seed + ".db");
    }

    @BeforeAll
    static void quiet() {
        LOG.setLevel(Level.OFF); // dead workers would complain without end
    }

    @AfterAll
    static void loud() {
        LOG.setLevel(null);
    }

    private static List<Long> seeds() {
        String given = System.getenv("SEED") != null ? System.getenv("SEED") : System.getProperty("seed");
        return given == null
                ? LongStream.concat(LongStream.rangeClosed(1, Integer.getInteger("seeds", SEEDS)), LongStream.of(FOUND))
                        .boxed()
                        .toList()
                : List.of(Long.parseLong(given));
    }

    @Test
    void every_invariant_holds_and_every_run_ends_under_any_fault() {
        List<Long> seeds = seeds();
        Set<String> met = new TreeSet<>();
        for (long seed : seeds) {
            String trace = hold(seed, met);
            if (seeds.size() == 1) {
                System.out.println("SEED=" + seed + " held. Its trace, by the store's clock:\n" + trace);
            }
        }
        if (seeds.size() >= SEEDS) {
            Set<String> missed = new TreeSet<>(MUST_BE_MET);
            missed.removeAll(met);
            // What is rare may take more seeds than were asked for.
            for (long seed = MORE; !missed.isEmpty() && seed < MORE + MOST_MORE; seed++) {
                hold(seed, met);
                missed.removeAll(met);
            }
            assertEquals(Set.of(), missed, "what no seed met shows nothing");
        }
    }

    /** Plays one seed, which must keep every promise; its trace. */
    private static String hold(long seed, Set<String> met) {
        Simulation simulation = new Simulation(seed, PlantedBug.NONE, file(seed, PlantedBug.NONE));
        List<String> broken = simulation.play();
        met.addAll(simulation.world().met());
        String trace = SimulationChecks.lines(simulation.world().trace());
        if (!broken.isEmpty()) {
            fail("SEED=" + seed + " broke:\n" + SimulationChecks.lines(broken) + "\nIts trace, by the store's clock:\n"
                    + trace);
        }
        return trace;
    }

    @ParameterizedTest
    @EnumSource(value = PlantedBug.class, names = "NONE", mode = EnumSource.Mode.EXCLUDE)
    void a_planted_bug_is_found(PlantedBug bug) {
        String sign = sign(bug);
        for (long seed = 1; seed <= SEEDS_FOR_A_BUG; seed++) {
            List<String> broken = new Simulation(seed, bug, file(seed, bug)).play();
            if (broken.stream().anyMatch(line -> line.contains(sign))) {
                return;
            }
        }
        fail(bug + " went through " + SEEDS_FOR_A_BUG + " seeds without: " + sign);
    }

    private static String sign(PlantedBug bug) {
        return switch (bug) {
            case NONE -> throw new IllegalArgumentException("no bug has no sign");
            case KEY_PER_ATTEMPT -> "the key of a effect changed";
            case FENCE_IGNORED -> "a zombie sent";
            case RETRY_WITHOUT_KEY -> "two runs for one key";
            case SENT_AGAIN -> "requests under AT_MOST_ONCE";
            case RECORD_LOST -> "not the end of its program";
        };
    }
}
