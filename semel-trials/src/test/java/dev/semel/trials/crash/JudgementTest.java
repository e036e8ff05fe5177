package dev.semel.trials.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** The judgement itself: every broken promise it must see, on histories written by hand. */
class JudgementTest {
    private static final String NAME = "cell1";
    private static final String RUN = "run_1";

    private final List<Receiver.Line> heard = new ArrayList<>();
    private final List<Judgement.Stage> stages = new ArrayList<>();

    @Test
    void a_good_history_of_each_protection_is_not_scolded() {
        good();
        assertEquals(List.of(), of(Deed.PROVIDER_KEY));
        assertEquals(List.of(), of(Deed.LOOKUP));
        assertEquals(List.of(), of(Deed.AT_MOST_ONCE));
    }

    @Test
    void a_second_accepted_effect_is_seen() {
        heard.add(post("k", "accepted"));
        heard.add(post("k", "accepted"));
        end(remains(Remains.DONE, 2, "\"receipt\""));
        assertSees(Deed.PROVIDER_KEY, "2 accepted effects");
        assertSees(Deed.LOOKUP, "2 accepted effects");
        assertSees(Deed.ASK, "2 accepted effects");
        assertSees(Deed.AT_MOST_ONCE, "2 requests where at most one");
    }

    @Test
    void a_second_request_before_the_decision_is_seen() {
        heard.add(post("k", "dropped"));
        heard.add(post("k", "accepted"));
        stages.add(new Judgement.Stage(account("in_doubt"), inDoubt(), 2));
        end(remains(Remains.DONE, 2, "\"receipt\""));
        assertSees(Deed.ASK, "2 requests where at most one");
    }

    @Test
    void a_second_request_after_the_decision_is_what_was_decided() {
        heard.add(post("k", "dropped"));
        stages.add(new Judgement.Stage(account("in_doubt"), inDoubt(), 1));
        heard.add(post("k", "accepted"));
        end(remains(Remains.DONE, 2, "\"receipt\""));
        assertEquals(List.of(), of(Deed.ASK));
    }

    @Test
    void a_changed_key_or_body_is_seen() {
        heard.add(post("k", "accepted"));
        heard.add(post("K", "known"));
        end(remains(Remains.DONE, 2, "\"receipt\""));
        assertSees(Deed.PROVIDER_KEY, "2 keys");
        heard.set(1, new Receiver.Line("POST", "/x", "k", "other", "known"));
        assertSees(Deed.PROVIDER_KEY, "2 bodies");
        heard.set(1, post("", "known"));
        assertSees(Deed.PROVIDER_KEY, "keys");
    }

    @Test
    void a_request_without_an_intent_is_seen() {
        heard.add(post("k", "accepted"));
        stages.add(new Judgement.Stage(halted(), new Remains(List.of(run(RUN)), List.of(), 0, 0), 1));
        end(remains(Remains.DONE, 1, "\"receipt\""));
        assertSees(Deed.PROVIDER_KEY, "only 0 attempts on record");
    }

    @Test
    void a_request_after_a_recorded_result_is_seen() {
        heard.add(post("k", "accepted"));
        stages.add(new Judgement.Stage(halted(), remains(Remains.DONE, 1, ""), 1));
        heard.add(post("k", "known"));
        end(remains(Remains.DONE, 2, "\"receipt\""));
        assertSees(Deed.PROVIDER_KEY, "recorded effect was sent again");
    }

    @Test
    void a_guess_is_seen() {
        heard.add(post("k", "dropped"));
        end(remains(Remains.DONE, 1, "\"receipt\""));
        assertSees(Deed.AT_MOST_ONCE, "never accepted");
        stages.clear();
        end(remains(Remains.DONE, 1, "\"indeterminate\""));
        assertSees(Deed.AT_MOST_ONCE, "should be 3");
        assertSees(Deed.PROVIDER_KEY, "only at most once may end without knowing");
        stages.clear();
        stages.add(new Judgement.Stage(account("in_doubt"), remains(Remains.UNKNOWN, 1, ""), 1));
        end(remains(Remains.DONE, 1, "\"receipt\""));
        assertSees(Deed.ASK, "shown as something else");
    }

    @Test
    void a_lost_doubled_or_changed_run_is_seen() {
        heard.add(post("k", "accepted"));
        List<Remains.Effect> effects = List.of(new Remains.Effect(Remains.DONE, 1, "e"));
        end(new Remains(List.of(), effects, 0, 0));
        assertSees(Deed.PROVIDER_KEY, "0 runs");
        assertSees(Deed.PROVIDER_KEY, "a client was told of run_1");
        stages.clear();
        end(new Remains(List.of(run(RUN), run("run_2")), effects, 0, 0));
        assertSees(Deed.PROVIDER_KEY, "2 runs");
        stages.clear();
        end(new Remains(List.of(new Remains.Run(RUN, NAME, 1, 0, 3, 0, "")), effects, 0, 0));
        assertSees(Deed.PROVIDER_KEY, "did not complete");
        stages.clear();
        end(new Remains(List.of(new Remains.Run(RUN, NAME, 0, 1, 0, 11, "")), effects, 0, 0));
        assertSees(Deed.PROVIDER_KEY, "did not complete");
    }

    @Test
    void an_answer_that_is_new_twice_is_seen() {
        heard.add(post("k", "accepted"));
        Mortal.Account fresh = new Mortal.Account(RUN, RUN, false, "", "completed", "", Map.of());
        stages.add(new Judgement.Stage(fresh, remains(Remains.DONE, 1, "\"receipt\""), 1));
        assertSees(Deed.PROVIDER_KEY, "asked again");
    }

    @Test
    void a_second_row_or_signal_is_seen() {
        end(new Remains(List.of(run(RUN)), List.of(), 2, 2));
        assertSees(Deed.TX, "2 rows of the user");
        assertSees(Deed.SIGNAL, "2 signals");
        stages.clear();
        end(new Remains(List.of(run(RUN)), List.of(), 1, 1));
        assertEquals(List.of(), of(Deed.TX));
    }

    @Test
    void a_point_that_was_not_hit_shows_nothing() {
        good();
        Cell cell = new Cell(Cell.Kind.SQLITE, Deed.STEP, "answers", new Life.Halt("step-done", 1));
        assertEquals(false, new CrashTrial.Result(cell, heard, stages, List.of(), Set.of()).hit());
        stages.addFirst(new Judgement.Stage(halted(), remains(Remains.DONE, 1, ""), 1));
        assertEquals(true, new CrashTrial.Result(cell, heard, stages, List.of(), Set.of()).hit());
    }

    @Test
    void gaps_in_the_matrix_are_seen() {
        List<Cell> cells = Matrix.of(Cell.Kind.SQLITE);
        Set<String> labels = new TreeSet<>(Matrix.REACH.keySet());
        labels.addAll(Matrix.ELSEWHERE);
        assertEquals(List.of(), Matrix.gaps(cells, labels));
        labels.add("a-new-label");
        assertEquals(1, Matrix.gaps(cells, labels).size());
        labels.remove("a-new-label");
        List<Cell> fewer = cells.stream().filter(cell -> cell.deed() != Deed.TX).toList();
        assertTrue(Matrix.gaps(fewer, labels).contains("TX never visits tx-done"));
        assertEquals(
                List.of("STEP came to tx-done, which it is said never to reach"),
                Matrix.excuses(Deed.STEP, Set.of("tx-done", "step-done")));
    }

    private void good() {
        heard.add(post("k", "accepted"));
        end(remains(Remains.DONE, 1, "\"receipt\""));
    }

    private void end(Remains remains) {
        stages.add(new Judgement.Stage(account("completed"), remains, heard.size()));
    }

    private static Remains remains(int effect, int attempts, String output) {
        return new Remains(
                List.of(new Remains.Run(RUN, NAME, 0, 1, 0, Remains.COMPLETED, output)),
                List.of(new Remains.Effect(effect, attempts, "e")),
                0,
                0);
    }

    private static Remains inDoubt() {
        return new Remains(
                List.of(new Remains.Run(RUN, NAME, 1, 0, Remains.IN_DOUBT, 0, "")),
                List.of(new Remains.Effect(Remains.UNKNOWN, 2, "e")),
                0,
                0);
    }

    private static Remains.Run run(String id) {
        return new Remains.Run(id, NAME, 0, 1, 0, Remains.COMPLETED, "\"receipt\"");
    }

    private static Mortal.Account account(String end) {
        return new Mortal.Account(RUN, RUN, true, "", end, "", Map.of());
    }

    private static Mortal.Account halted() {
        return new Mortal.Account(RUN, "", false, "step-done", "", "", Map.of());
    }

    private static Receiver.Line post(String key, String decision) {
        return new Receiver.Line("POST", "/x", key, "body", decision);
    }

    private List<String> of(Deed deed) {
        Cell cell = new Cell(Cell.Kind.SQLITE, deed, "answers", new Life.Halt("step-done", 1));
        return Judgement.of(cell, NAME, heard, stages);
    }

    private void assertSees(Deed deed, String part) {
        List<String> seen = of(deed);
        assertTrue(seen.stream().anyMatch(violation -> violation.contains(part)), () -> part + " in " + seen);
    }
}
