package dev.semel.trials.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.semel.trials.crash.CommitProxy.Cut;
import dev.semel.trials.crash.CommitProxy.Kind;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Every named write, cut before its COMMIT, at it, and after it: nothing that was answered is lost, nothing is done
 * twice, and every run ends. The suite does each write with one of the cuts; {@code -Dcrash.cuts=all} does all.
 */
@Tag("trial")
class NamedWriteCutTest {
    private static final List<Cut> CUTS = List.of(Cut.ANSWER, Cut.COMMIT, Cut.BEFORE);
    /** A tally is cut by {@link CommitCutTest}; LEASE is all of the leases together. */
    private static final Set<Kind> KINDS = EnumSet.complementOf(EnumSet.of(Kind.TALLY, Kind.LEASE));

    @Test
    void a_write_with_a_broken_commit_is_stored_once() {
        boolean all = "all".equals(System.getProperty("crash.cuts"));
        Seed seed = Seed.forTrial("cut writes");
        List<String> wrong = new ArrayList<>();
        int cells = 0;
        String database = RealPostgres.newDatabase();
        try (CommitProxy proxy = new CommitProxy(RealPostgres.port());
                CommitCutScenario scenario = new CommitCutScenario(proxy, database)) {
            for (Kind kind : KINDS) {
                Cut drawn = CUTS.get(seed.part(kind.ordinal()).nextInt(CUTS.size()));
                for (Cut cut : all ? CUTS : List.of(drawn)) {
                    wrong.addAll(scenario.play(kind, cut));
                    cells++;
                }
            }
            System.out.println(
                    "cut writes: " + cells + " of " + KINDS.size() * CUTS.size() + " cells, cuts: " + proxy.happened());
            assertEquals(List.of(), wrong);
            twiceIsSeen(scenario, RealPostgres.url(database));
        }
    }

    /** A check that cannot fail would be none. */
    private static void twiceIsSeen(CommitCutScenario scenario, String url) {
        Kind kind = Kind.ADMIT;
        String name = RealPostgres.text(url, "SELECT min(key) FROM semel_run WHERE key LIKE '" + kind + "-%'");
        assertEquals(List.of(), scenario.judge(kind, name));
        RealPostgres.execute(url, "INSERT INTO cut_row VALUES ('" + name + "')");
        RealPostgres.execute(url, "DELETE FROM semel_signal");
        assertEquals(List.of("2 rows of the user, not 1", "0 signals, not 1"), scenario.judge(kind, name));
    }
}
