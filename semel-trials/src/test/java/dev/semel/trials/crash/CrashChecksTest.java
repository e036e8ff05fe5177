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
class CrashChecksTest {
    private static final String NAME = "cell1";
    private static final String RUN = "run_1";

    private final List<Receiver.ReceivedRequest> heard = new ArrayList<>();
    private final List<CrashChecks.LifeResult> stages = new ArrayList<>();

    @Test
    void a_correct_history_of_each_protection_has_no_violations() {
        good();
        assertEquals(List.of(), of(CrashAction.PROVIDER_KEY));
        assertEquals(List.of(), of(CrashAction.LOOKUP));
        assertEquals(List.of(), of(CrashAction.AT_MOST_ONCE));
    }

    @Test
    void a_second_accepted_effect_is_detected() {
        heard.add(post("k", "accepted"));
        heard.add(post("k", "accepted"));
        end(remains(StoreContents.DONE, 2, "\"receipt\""));
        assertSees(CrashAction.PROVIDER_KEY, "2 accepted effects");
        assertSees(CrashAction.LOOKUP, "2 accepted effects");
        assertSees(CrashAction.ASK, "2 accepted effects");
        assertSees(CrashAction.AT_MOST_ONCE, "2 requests where at most one");
    }

    @Test
    void a_second_request_before_the_decision_is_detected() {
        heard.add(post("k", "dropped"));
        heard.add(post("k", "accepted"));
        stages.add(new CrashChecks.LifeResult(account("in_doubt"), inDoubt(), 2));
        end(remains(StoreContents.DONE, 2, "\"receipt\""));
        assertSees(CrashAction.ASK, "2 requests where at most one");
    }

    @Test
    void a_second_request_after_the_decision_follows_the_decision() {
        heard.add(post("k", "dropped"));
        stages.add(new CrashChecks.LifeResult(account("in_doubt"), inDoubt(), 1));
        heard.add(post("k", "accepted"));
        end(remains(StoreContents.DONE, 2, "\"receipt\""));
        assertEquals(List.of(), of(CrashAction.ASK));
    }

    @Test
    void a_changed_key_or_body_is_detected() {
        heard.add(post("k", "accepted"));
        heard.add(post("K", "known"));
        end(remains(StoreContents.DONE, 2, "\"receipt\""));
        assertSees(CrashAction.PROVIDER_KEY, "2 keys");
        heard.set(1, new Receiver.ReceivedRequest("POST", "/x", "k", "other", "known"));
        assertSees(CrashAction.PROVIDER_KEY, "2 bodies");
        heard.set(1, post("", "known"));
        assertSees(CrashAction.PROVIDER_KEY, "keys");
    }

    @Test
    void a_request_without_an_intent_is_detected() {
        heard.add(post("k", "accepted"));
        stages.add(new CrashChecks.LifeResult(halted(), new StoreContents(List.of(run(RUN)), List.of(), 0, 0), 1));
        end(remains(StoreContents.DONE, 1, "\"receipt\""));
        assertSees(CrashAction.PROVIDER_KEY, "only 0 attempts on record");
    }

    @Test
    void a_request_after_a_recorded_result_is_detected() {
        heard.add(post("k", "accepted"));
        stages.add(new CrashChecks.LifeResult(halted(), remains(StoreContents.DONE, 1, ""), 1));
        heard.add(post("k", "known"));
        end(remains(StoreContents.DONE, 2, "\"receipt\""));
        assertSees(CrashAction.PROVIDER_KEY, "recorded effect was sent again");
    }

    @Test
    void a_guessed_outcome_is_detected() {
        heard.add(post("k", "dropped"));
        end(remains(StoreContents.DONE, 1, "\"receipt\""));
        assertSees(CrashAction.AT_MOST_ONCE, "never accepted");
        stages.clear();
        end(remains(StoreContents.DONE, 1, "\"indeterminate\""));
        assertSees(CrashAction.AT_MOST_ONCE, "should be 3");
        assertSees(CrashAction.PROVIDER_KEY, "only at most once may end without knowing");
        stages.clear();
        stages.add(new CrashChecks.LifeResult(account("in_doubt"), remains(StoreContents.UNKNOWN, 1, ""), 1));
        end(remains(StoreContents.DONE, 1, "\"receipt\""));
        assertSees(CrashAction.ASK, "shown as something else");
    }

    @Test
    void a_lost_duplicated_or_changed_run_is_detected() {
        heard.add(post("k", "accepted"));
        List<StoreContents.Effect> effects = List.of(new StoreContents.Effect(StoreContents.DONE, 1, "e"));
        end(new StoreContents(List.of(), effects, 0, 0));
        assertSees(CrashAction.PROVIDER_KEY, "0 runs");
        assertSees(CrashAction.PROVIDER_KEY, "a client was notified of run_1");
        stages.clear();
        end(new StoreContents(List.of(run(RUN), run("run_2")), effects, 0, 0));
        assertSees(CrashAction.PROVIDER_KEY, "2 runs");
        stages.clear();
        end(new StoreContents(List.of(new StoreContents.Run(RUN, NAME, 1, 0, 3, 0, "")), effects, 0, 0));
        assertSees(CrashAction.PROVIDER_KEY, "did not complete");
        stages.clear();
        end(new StoreContents(List.of(new StoreContents.Run(RUN, NAME, 0, 1, 0, 11, "")), effects, 0, 0));
        assertSees(CrashAction.PROVIDER_KEY, "did not complete");
    }

    @Test
    void two_fresh_responses_for_one_key_are_detected() {
        heard.add(post("k", "accepted"));
        CrashableProcess.ProcessReport fresh =
                new CrashableProcess.ProcessReport(RUN, RUN, false, "", "completed", "", Map.of());
        stages.add(new CrashChecks.LifeResult(fresh, remains(StoreContents.DONE, 1, "\"receipt\""), 1));
        assertSees(CrashAction.PROVIDER_KEY, "asked again");
    }

    @Test
    void a_second_row_or_signal_is_detected() {
        end(new StoreContents(List.of(run(RUN)), List.of(), 2, 2));
        assertSees(CrashAction.TX, "2 rows of the user");
        assertSees(CrashAction.SIGNAL, "2 signals");
        stages.clear();
        end(new StoreContents(List.of(run(RUN)), List.of(), 1, 1));
        assertEquals(List.of(), of(CrashAction.TX));
    }

    @Test
    void a_crash_point_that_was_not_hit_proves_nothing() {
        good();
        MatrixCell cell = new MatrixCell(
                MatrixCell.Kind.SQLITE, CrashAction.STEP, "answers", new ProcessLife.HaltPoint("step-done", 1));
        assertEquals(false, new CrashTrial.Result(cell, heard, stages, List.of(), Set.of()).hit());
        stages.addFirst(new CrashChecks.LifeResult(halted(), remains(StoreContents.DONE, 1, ""), 1));
        assertEquals(true, new CrashTrial.Result(cell, heard, stages, List.of(), Set.of()).hit());
    }

    @Test
    void gaps_in_the_matrix_are_detected() {
        List<MatrixCell> cells = CrashMatrix.of(MatrixCell.Kind.SQLITE);
        Set<String> labels = new TreeSet<>(CrashMatrix.REACH.keySet());
        labels.addAll(CrashMatrix.ELSEWHERE);
        assertEquals(List.of(), CrashMatrix.gaps(cells, labels));
        labels.add("a-new-label");
        assertEquals(1, CrashMatrix.gaps(cells, labels).size());
        labels.remove("a-new-label");
        List<MatrixCell> fewer =
                cells.stream().filter(cell -> cell.effect() != CrashAction.TX).toList();
        assertTrue(CrashMatrix.gaps(fewer, labels).contains("TX never visits tx-done"));
        assertEquals(
                List.of("STEP came to tx-done, which it is said never to reach"),
                CrashMatrix.excuses(CrashAction.STEP, Set.of("tx-done", "step-done")));
    }

    private void good() {
        heard.add(post("k", "accepted"));
        end(remains(StoreContents.DONE, 1, "\"receipt\""));
    }

    private void end(StoreContents remains) {
        stages.add(new CrashChecks.LifeResult(account("completed"), remains, heard.size()));
    }

    private static StoreContents remains(int effect, int attempts, String output) {
        return new StoreContents(
                List.of(new StoreContents.Run(RUN, NAME, 0, 1, 0, StoreContents.COMPLETED, output)),
                List.of(new StoreContents.Effect(effect, attempts, "e")),
                0,
                0);
    }

    private static StoreContents inDoubt() {
        return new StoreContents(
                List.of(new StoreContents.Run(RUN, NAME, 1, 0, StoreContents.IN_DOUBT, 0, "")),
                List.of(new StoreContents.Effect(StoreContents.UNKNOWN, 2, "e")),
                0,
                0);
    }

    private static StoreContents.Run run(String id) {
        return new StoreContents.Run(id, NAME, 0, 1, 0, StoreContents.COMPLETED, "\"receipt\"");
    }

    private static CrashableProcess.ProcessReport account(String end) {
        return new CrashableProcess.ProcessReport(RUN, RUN, true, "", end, "", Map.of());
    }

    private static CrashableProcess.ProcessReport halted() {
        return new CrashableProcess.ProcessReport(RUN, "", false, "step-done", "", "", Map.of());
    }

    private static Receiver.ReceivedRequest post(String key, String decision) {
        return new Receiver.ReceivedRequest("POST", "/x", key, "body", decision);
    }

    private List<String> of(CrashAction action) {
        MatrixCell cell =
                new MatrixCell(MatrixCell.Kind.SQLITE, action, "answers", new ProcessLife.HaltPoint("step-done", 1));
        return CrashChecks.of(cell, NAME, heard, stages);
    }

    private void assertSees(CrashAction action, String part) {
        List<String> seen = of(action);
        assertTrue(seen.stream().anyMatch(violation -> violation.contains(part)), () -> part + " in " + seen);
    }
}
