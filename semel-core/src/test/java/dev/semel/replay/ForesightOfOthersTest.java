package dev.semel.replay;

import static dev.semel.replay.Samples.LINE;
import static dev.semel.replay.Samples.NOW;
import static dev.semel.replay.Samples.OTHER;
import static dev.semel.replay.Samples.START;
import static dev.semel.replay.Samples.actions;
import static dev.semel.replay.Samples.begun;
import static dev.semel.replay.Samples.declares;
import static dev.semel.replay.Samples.done;
import static dev.semel.replay.Samples.failed;
import static dev.semel.replay.Samples.only;
import static dev.semel.replay.Samples.past;
import static dev.semel.replay.Samples.row;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.effect.Ledger;
import dev.semel.effect.Ledger.State;
import dev.semel.journal.Entry;
import dev.semel.journal.Entry.How;
import dev.semel.journal.Entry.Kind;
import dev.semel.json.Json;
import dev.semel.run.RunState;
import dev.semel.workflow.Expected;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What other versions, other runs and other people have to do with a replay, without a store. */
final class ForesightOfOthersTest {
    @ParameterizedTest
    @CsvSource({
        // What was, and what the next version has at that place.
        "UNKNOWN,  at_most_once, provider_key, ASK",
        "UNKNOWN,  at_most_once, none,         ASK",
        "UNKNOWN,  at_most_once, at_most_once, REUSE",
        "UNKNOWN,  provider_key, provider_key, RESEND",
        "RESERVED, provider_key, repeatable,   ASK",
        "FREE,     none,         provider_key, ASK",
        "FREE,     ask,          provider_key, SEND",
        "DONE,     ask,          provider_key, REUSE",
    })
    void what_may_have_happened_is_for_a_person_where_the_next_version_protects_it_in_another_way(
            State state, String was, String now, Action action) {
        Versions versions = new Versions(List.of(declares("pay", now)), List.of(List.of(declares("pay", was))));
        Past past = past(
                RunState.FAILED, List.of(begun("pay", Kind.EFFECT)), List.of(row("pay", state, was, 2_000)), versions);
        assertEquals(action, only(past, OTHER));
    }

    @ParameterizedTest
    @CsvSource({"DONE, ask, ASK", "UNKNOWN, provider_key, ASK", "FREE, none, ASK", "FREE, ask,", "DONE, repeatable,"})
    void a_deed_that_the_next_version_has_elsewhere_is_for_a_person(State state, String was, @Nullable Action old) {
        Versions versions =
                new Versions(List.of(declares("both[card]/pay", was)), List.of(List.of(declares("pay", was))));
        Past past = past(
                RunState.FAILED, List.of(begun("pay", Kind.EFFECT)), List.of(row("pay", state, was, 2_000)), versions);
        List<Foretold> all = Foresight.of(past, OTHER);
        List<String> steps = all.stream().map(Foretold::step).toList();
        assertEquals(old == null ? List.of("both[card]/pay") : List.of("pay", "both[card]/pay"), steps);
        if (old != null) {
            assertEquals(old, all.getFirst().action());
            assertTrue(all.getFirst().why().contains("no such step"), all.getFirst()::why);
        }
    }

    @Test
    void items_that_the_next_version_names_in_another_way_are_for_a_person() {
        Expected byId = new Expected(new Expected.Place("all[]/pay", false, true, "id"), "effect", "ask", "ask");
        Expected byNumber = new Expected(new Expected.Place("all[]/pay", false, true, "n"), "effect", "ask", "ask");
        List<Entry> entries = List.of(done("all[a\\]b]/pay", Kind.EFFECT));
        List<Ledger.Row> rows = List.of(row("all[a\\]b]/pay", State.DONE, "ask", 0));
        Past same = past(RunState.FAILED, entries, rows, new Versions(List.of(byId), List.of(List.of(byId))));
        assertEquals(List.of(Action.REUSE, Action.SEND), actions(Foresight.of(same, OTHER)));
        Past other = past(RunState.FAILED, entries, rows, new Versions(List.of(byNumber), List.of(List.of(byId))));
        assertEquals(List.of(Action.ASK, Action.SEND), actions(Foresight.of(other, OTHER)));
    }

    @Test
    void what_code_did_by_another_version_is_for_a_person() {
        List<Entry> entries = List.of(done("tx", Kind.TX), done("pay", Kind.EFFECT), done("say", Kind.SIGNAL));
        Versions versions = new Versions(null, List.of(List.of()));
        Past past = past(RunState.FAILED, entries, List.of(row("pay", State.DONE, "ask", 0)), versions);
        assertEquals(List.of(Action.ASK, Action.ASK, Action.ASK), actions(Foresight.of(past, OTHER)));
        assertEquals(
                List.of(Action.REUSE, Action.REUSE),
                actions(Foresight.of(past(entries, past.rows(), null), START)),
                "by the same one it finds them, and the signal has its key");
    }

    @Test
    void what_an_earlier_run_of_the_lineage_left_is_told_though_the_last_one_did_not_come_to_it() {
        Past past = past(List.of(failed("read", Kind.STEP)), List.of(row("pay", State.UNKNOWN, "none", 0)), null);
        List<Foretold> all = Foresight.of(past, Terms.USUAL);
        assertEquals(List.of(Action.RUN_AGAIN, Action.UNPROTECTED), actions(all));
        assertFalse(all.getLast().certain());
        Past file = past(past.entries(), past.rows(), List.of(declares("pay", "none")));
        assertTrue(Foresight.of(file, Terms.USUAL).getLast().certain());
    }

    @Test
    void what_an_earlier_run_of_the_lineage_undid_is_for_a_person() {
        List<Entry> entries = List.of(done("pay", Kind.EFFECT), failed("read", Kind.STEP));
        List<Ledger.Row> rows =
                List.of(row("pay", State.DONE, "ask", 0), row("/undo/pay/refund", State.DONE, "ask", 0));
        assertEquals(
                List.of(Action.ASK, Action.RUN_AGAIN), actions(Foresight.of(past(entries, rows, null), Terms.USUAL)));
    }

    private static Past calling(List<Entry> entries, @Nullable Called called) {
        Map<String, Called> there = called == null ? Map.of() : Map.of("run_c", called);
        return new Past(LINE, RunState.FAILED, entries, List.of(), Versions.one(null), there, NOW);
    }

    @ParameterizedTest
    @CsvSource({
        "COMPLETED, false, REUSE, completed",
        "COMPLETED, true,  ASK,   not kept",
        "FAILED,    false, ASK,   replay that first",
        "CANCELLED, false, ASK,   replay that first",
        "RUNNING,   false, REUSE, has not ended",
        "IN_DOUBT,  false, REUSE, has not ended",
        ",          false, ASK,   not kept",
    })
    void a_call_is_foretold_by_the_run_that_it_finds(
            @Nullable RunState state, boolean going, Action action, String why) {
        Called called = state == null ? null : new Called("run_d", state, going);
        List<Entry> failed = List.of(new Entry.Begun("call", Kind.CALL, 4, 0, "run_c"), failed("call", Kind.CALL));
        Foretold one = Foresight.of(calling(failed, called), Terms.USUAL).getFirst();
        assertEquals(action, one.action());
        assertTrue(one.why().contains(why), one::why);
        List<Entry> done = List.of(new Entry.Begun("call", Kind.CALL, 4, 0, "run_c"), done("call", Kind.CALL));
        assertEquals(action, only(calling(done, called), START));
        assertEquals(Action.REUSE, only(calling(done, called), Terms.USUAL), "its result is recorded");
    }

    @Test
    void a_call_that_was_refused_is_made_and_what_the_new_run_does_is_not_told() {
        Past past = calling(List.of(failed("call", Kind.CALL)), null);
        assertEquals(Action.SEND, only(past, Terms.USUAL));
        Expected call = new Expected(new Expected.Place("call", true, false, ""), "call", "other", "other");
        Outlook outlook = Outlook.of(past(List.of(failed("a", Kind.STEP)), List.of(), List.of(call)), Terms.USUAL);
        assertEquals(List.of(Action.RUN_AGAIN, Action.SEND), actions(outlook.steps()));
        assertTrue(outlook.steps().getLast().why().contains("a run of \"other\""), outlook::toString);
        assertTrue(outlook.open());
    }

    @Test
    void a_wait_whose_signal_went_to_the_old_run_is_for_a_person() {
        List<Entry> taken = List.of(done("go", Kind.AWAIT), failed("a", Kind.STEP));
        assertEquals(List.of(Action.RUN_AGAIN), actions(Foresight.of(past(taken, List.of(), null), Terms.USUAL)));
        assertEquals(List.of(Action.ASK, Action.RUN_AGAIN), actions(Foresight.of(past(taken, List.of(), null), START)));
        Entry late = new Entry.Done("go", Kind.AWAIT, 5, Json.parse("null"), How.TIMED_OUT, 1, null);
        assertEquals(Action.RUN_AGAIN, only(past(List.of(late), List.of(), null), START));
        assertEquals(Action.RUN_AGAIN, only(past(List.of(begun("go", Kind.AWAIT)), List.of(), null), Terms.USUAL));
        Expected ahead = new Expected(new Expected.Place("go", true, false, ""), "await", "", "");
        Foretold wait = Foresight.of(past(List.of(), List.of(), List.of(ahead)), Terms.USUAL)
                .getFirst();
        assertEquals("await", wait.kind());
        assertTrue(wait.why().contains("a signal to the new run"), wait::why);
    }
}
