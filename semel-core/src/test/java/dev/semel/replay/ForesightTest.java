package dev.semel.replay;

import static dev.semel.replay.Samples.LINE;
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
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Every answer about a step, without a store. */
final class ForesightTest {
    @ParameterizedTest
    @CsvSource({
        "DONE,     repeatable,   0,    REUSE",
        "DONE,     none,         0,    REUSE",
        "DONE,     ask,          0,    REUSE",
        "FREE,     provider_key, 0,    SEND",
        "FREE,     lookup,       0,    SEND",
        "FREE,     ask,          0,    SEND",
        "FREE,     at_most_once, 0,    SEND",
        "FREE,     repeatable,   0,    RUN_AGAIN",
        "FREE,     none,         0,    UNPROTECTED",
        "UNKNOWN,  repeatable,   0,    RUN_AGAIN",
        "UNKNOWN,  none,         0,    UNPROTECTED",
        "UNKNOWN,  provider_key, 1001, RESEND",
        "UNKNOWN,  provider_key, 1000, ASK",
        "RESERVED, provider_key, 1001, RESEND",
        "UNKNOWN,  lookup,       0,    CHECK",
        "UNKNOWN,  at_most_once, 0,    REUSE",
        "UNKNOWN,  ask,          0,    ASK",
        "RESERVED, ask,          0,    ASK",
    })
    void an_effect_is_foretold_by_its_row_and_its_protection(
            State state, String protection, long until, Action action) {
        Past past = past(List.of(begun("pay", Kind.EFFECT)), List.of(row("pay", state, protection, until)), null);
        assertEquals(action, only(past, Terms.USUAL));
        assertEquals(action, only(past, START));
    }

    @Test
    void an_effect_that_was_asked_for_and_has_no_row_is_sent() {
        assertEquals(Action.SEND, only(past(List.of(begun("pay", Kind.EFFECT)), List.of(), null), Terms.USUAL));
    }

    @Test
    void a_row_of_another_lineage_says_nothing() {
        Ledger.Row row = row("pay", State.DONE, "ask", 0);
        Ledger.Row other = new Ledger.Row(
                row.id(),
                new Ledger.Holder("another step", LINE, 1, 1),
                row.state(),
                1,
                1,
                10,
                20,
                0,
                0,
                null,
                "1",
                row.facts());
        assertEquals(Action.SEND, only(past(List.of(begun("pay", Kind.EFFECT)), List.of(other), null), Terms.USUAL));
    }

    @ParameterizedTest
    @CsvSource({
        "STEP,     REUSE, RUN_AGAIN",
        "TX,       REUSE, REUSE",
        "APPROVAL, REUSE, ASK",
    })
    void what_is_on_record_is_reused_and_from_the_start_done_as_its_kind_says(
            Kind kind, Action carried, Action fromStart) {
        Past past = past(List.of(done("a", kind)), List.of(), null);
        assertEquals(carried, only(past, Terms.USUAL));
        assertEquals(fromStart, only(past, START));
    }

    @ParameterizedTest
    @CsvSource({"STEP, RUN_AGAIN", "TX, RUN_AGAIN"})
    void what_failed_and_ended_the_run_is_done_again(Kind kind, Action action) {
        assertEquals(action, only(past(List.of(failed("a", kind)), List.of(), null), Terms.USUAL));
    }

    @Test
    void a_failure_that_the_code_dealt_with_stands() {
        List<Entry> entries = List.of(failed("a", Kind.STEP), done("b", Kind.STEP), failed("c", Kind.STEP));
        assertEquals(
                List.of("a", "b"),
                Carried.of(entries, Terms.USUAL).stream().map(Entry::path).toList());
        assertEquals(
                List.of(Action.REUSE, Action.REUSE, Action.RUN_AGAIN),
                Foresight.of(past(entries, List.of(), null), Terms.USUAL).stream()
                        .map(Foretold::action)
                        .toList());
    }

    @Test
    void branches_that_ended_are_carried_and_those_that_failed_or_were_under_way_are_not() {
        List<Entry> entries = List.of(
                done("first", Kind.STEP),
                done("all[a]/one", Kind.STEP),
                begun("all[b]/one", Kind.SLEEP),
                failed("all[c]/one", Kind.STEP),
                done("all[d]/one", Kind.STEP));
        assertEquals(
                List.of("first", "all[a]/one", "all[d]/one"),
                Carried.of(entries, Terms.USUAL).stream().map(Entry::path).toList());
    }

    @Test
    void a_failed_branch_behind_which_the_run_went_on_stands() {
        List<Entry> entries =
                List.of(failed("all[a]/one", Kind.STEP), done("behind", Kind.STEP), failed("end", Kind.STEP));
        assertEquals(
                List.of("all[a]/one", "behind"),
                Carried.of(entries, Terms.USUAL).stream().map(Entry::path).toList());
    }

    @Test
    void from_a_step_on_nothing_is_carried_that_came_at_it_or_behind_it() {
        List<Entry> entries =
                List.of(done("a", Kind.STEP), failed("b", Kind.STEP), done("c", Kind.STEP), done("d", Kind.STEP));
        assertEquals(
                List.of("a", "b"),
                Carried.of(entries, new Terms("c", false, false)).stream()
                        .map(Entry::path)
                        .toList());
        assertEquals(List.of(), Carried.of(entries, START));
        assertEquals(List.of(), Carried.of(entries, new Terms("", true, false)), "another input");
        assertEquals(List.of(), Carried.of(entries, new Terms("", false, true)), "another version");
    }

    @Test
    void in_place_what_ended_the_run_and_what_was_tried_is_opened_and_nothing_else() {
        List<Entry> entries = List.of(
                failed("dealt with", Kind.STEP),
                done("all[a]/one", Kind.STEP),
                begun("all[b]/one", Kind.SLEEP),
                failed("all[c]/one", Kind.EFFECT),
                new Entry.Tried("all[d]/one", Kind.EFFECT, 5, Samples.PROBLEM, 1, 9));
        assertEquals(List.of("all[c]/one", "all[d]/one"), Carried.opened(entries));
        List<Entry> resumed = new java.util.ArrayList<>(entries);
        resumed.add(new Entry.Resumed(7, "ann", "mended", Carried.opened(entries), 1));
        assertEquals(List.of(), Carried.opened(resumed));
        resumed.add(done("all[c]/one", Kind.EFFECT));
        assertEquals(
                List.of("dealt with", "all[a]/one", "all[c]/one"),
                Carried.of(resumed, Terms.USUAL).stream().map(Entry::path).toList(),
                "a replay begins with what it came to in the end");
    }

    @Test
    void what_is_to_be_done_again_is_for_a_person_unless_it_is_confirmed() {
        Past past = past(
                List.of(done("a", Kind.EFFECT), done("b", Kind.STEP)),
                List.of(row("a", State.DONE, "provider_key", 0)),
                null);
        Terms asked = new Terms("", false, false, List.of("a"), false);
        Terms confirmed = new Terms("", false, false, List.of("a"), true);
        assertEquals(
                List.of(Action.ASK, Action.RUN_AGAIN),
                Foresight.of(past, asked).stream().map(Foretold::action).toList());
        assertEquals(
                List.of(Action.SEND, Action.RUN_AGAIN),
                Foresight.of(past, confirmed).stream().map(Foretold::action).toList());
        assertEquals(List.of(), Carried.of(past.entries(), asked));
        assertNotNull(Outlook.of(past, new Terms("", false, false, List.of("x"), true))
                .blocked());
    }

    @Test
    void a_run_that_did_not_come_to_the_step_is_blocked() {
        Past past = past(List.of(done("a", Kind.STEP)), List.of(), null);
        assertEquals(
                "the run did not reach step \"x\"",
                Outlook.of(past, new Terms("x", false, false)).blocked());
        assertNull(Outlook.of(past, new Terms("a", false, false)).blocked());
    }

    @Test
    void what_was_undone_is_for_a_person_and_the_undos_are_not_told() {
        List<Entry> entries =
                List.of(done("pay", Kind.EFFECT), failed("ship", Kind.EFFECT), done("/undo/pay/refund", Kind.EFFECT));
        List<Foretold> all = Foresight.of(past(entries, List.of(row("pay", State.DONE, "ask", 0)), null), Terms.USUAL);
        assertEquals(
                List.of(Action.ASK, Action.SEND),
                all.stream().map(Foretold::action).toList());
        assertEquals(
                List.of("pay"),
                Carried.of(entries, Terms.USUAL).stream().map(Entry::path).toList());
    }

    @Test
    void with_another_input_every_effect_is_for_a_person() {
        Past past = past(
                List.of(done("read", Kind.STEP), done("pay", Kind.EFFECT), begun("mail", Kind.EFFECT)),
                List.of(row("pay", State.DONE, "ask", 0)),
                null);
        List<Foretold> all = Foresight.of(past, new Terms("", true, false));
        assertEquals(
                List.of(Action.RUN_AGAIN, Action.ASK, Action.ASK),
                all.stream().map(Foretold::action).toList());
    }

    @Test
    void what_a_file_declares_and_the_run_did_not_come_to_is_sent_for_the_first_time() {
        List<Expected> expected = List.of(
                declares("pay", "provider_key"),
                declares("mail", "ask"),
                declares("read", "repeatable"),
                declares("maybe", "ask", false, false),
                declares("all[]/each", "ask", false, true));
        Past past = past(
                List.of(done("pay", Kind.EFFECT), done("all[x]/each", Kind.EFFECT)),
                List.of(row("pay", State.DONE, "provider_key", 0)),
                expected);
        List<Foretold> all = Foresight.of(past, Terms.USUAL);
        assertEquals(
                List.of("pay", "all[x]/each", "mail", "read", "maybe", "all[]/each"),
                all.stream().map(Foretold::step).toList());
        assertEquals(
                List.of(Action.REUSE, Action.REUSE, Action.SEND, Action.RUN_AGAIN, Action.SEND, Action.SEND),
                all.stream().map(Foretold::action).toList());
        assertEquals(
                List.of(true, true, true, true, false, false),
                all.stream().map(Foretold::certain).toList());
        assertFalse(Outlook.of(past, Terms.USUAL).open(), "a file says what it has");
    }

    @Test
    void a_run_that_completed_has_nothing_before_it() {
        List<Entry> entries = List.of(done("a", Kind.STEP));
        Versions versions = Versions.one(List.of(declares("never", "ask", false, false)));
        Past past = past(RunState.COMPLETED, entries, List.of(), versions);
        assertEquals(Action.REUSE, only(past, Terms.USUAL));
    }

    @Test
    void a_run_that_completed_has_something_before_it_where_its_record_is_not_taken_along() {
        List<Entry> entries = List.of(done("a", Kind.STEP));
        Versions versions = Versions.one(List.of(declares("maybe", "ask", false, false)));
        Past past = past(RunState.COMPLETED, entries, List.of(), versions);
        for (Terms terms : List.of(START, new Terms("a", false, false), new Terms("", true, false))) {
            assertEquals(List.of(Action.RUN_AGAIN, Action.SEND), actions(Foresight.of(past, terms)), terms::toString);
        }
        Past code = past(RunState.COMPLETED, entries, List.of(), Versions.one(null));
        assertFalse(Outlook.of(code, Terms.USUAL).open());
        assertTrue(Outlook.of(code, new Terms("a", false, false)).open(), "what comes behind it is done anew");
        Versions added = new Versions(List.of(declares("new", "ask")), List.of(List.of()));
        List<Foretold> next = Foresight.of(past(RunState.COMPLETED, entries, List.of(), added), OTHER);
        assertEquals(List.of(Action.RUN_AGAIN, Action.SEND), actions(next));
        assertTrue(next.getLast().certain());
    }

    @Test
    void what_code_does_next_is_not_known() {
        Outlook outlook = Outlook.of(past(List.of(failed("a", Kind.STEP)), List.of(), null), Terms.USUAL);
        assertTrue(outlook.open());
    }

    @Test
    void an_outlook_is_read_as_it_was_written_and_says_how_another_one_differs() {
        Past past = past(
                List.of(done("a", Kind.STEP), begun("pay", Kind.EFFECT)),
                List.of(row("pay", State.UNKNOWN, "provider_key", 2_000)),
                List.of(declares("mail", "ask", false, false)));
        Outlook outlook = Outlook.of(past, Terms.USUAL);
        Outlook read = Outlook.parse(Json.write(outlook.toJson()));
        assertEquals(outlook, read);
        assertEquals(List.of(), outlook.against(read));
        Past later = new Past(LINE, RunState.FAILED, past.entries(), past.rows(), past.versions(), Map.of(), 2_000);
        assertEquals(List.of("pay was resend and is ask"), outlook.against(Outlook.of(later, Terms.USUAL)));
        assertEquals(List.of("gone"), outlook.against(Outlook.blocked("gone")));
        Past sure = past(past.entries(), past.rows(), List.of(declares("mail", "ask")));
        assertEquals(List.of("mail was possible and is certain"), outlook.against(Outlook.of(sure, Terms.USUAL)));
        assertEquals(
                List.of("its further actions can no longer be predicted"),
                outlook.against(new Outlook(outlook.steps(), true, null)));
        assertEquals(Action.RESEND, outlook.worst());
        assertEquals(Action.REUSE.bit() | Action.RESEND.bit() | Action.SEND.bit(), outlook.actions());
    }

    @Test
    void only_what_is_safe_is_allowed_unless_more_is_included() {
        int asks = Action.REUSE.bit() | Action.ASK.bit();
        assertTrue(Manner.SAFE.allows(Action.SEND.bit() | Action.RESEND.bit() | Action.CHECK.bit()));
        assertFalse(Manner.SAFE.allows(asks));
        Manner more = new Manner(List.of(Action.ASK), 0, 0, 0);
        assertTrue(more.allows(asks));
        assertFalse(more.allows(Action.UNPROTECTED.bit()));
        assertEquals(more, Manner.parse(more.toJson().toString()));
    }

    @Test
    void the_results_that_are_carried_are_those_that_were_recorded() {
        Entry suppressed = new Entry.Done("mail", Kind.EFFECT, 5, Json.parse("\"m\""), How.SUPPRESSED, 1, "run_x 5");
        assertEquals(List.of(suppressed), Carried.of(List.of(suppressed), Terms.USUAL));
    }
}
