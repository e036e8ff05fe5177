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

import dev.semel.effect.EffectLedger;
import dev.semel.effect.EffectLedger.EffectState;
import dev.semel.journal.JournalEntry;
import dev.semel.journal.JournalEntry.StepOutcome;
import dev.semel.journal.JournalEntry.EntryKind;
import dev.semel.json.StrictJson;
import dev.semel.workflow.RunState;
import dev.semel.definition.DeclaredStep;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Every answer about a step, without a store. */
final class ReplayPlannerTest {
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
            EffectState state, String protection, long until, ReplayAction action) {
        ReplaySource past = past(List.of(begun("pay", EntryKind.EFFECT)), List.of(row("pay", state, protection, until)), null);
        assertEquals(action, only(past, ReplayOptions.DEFAULT));
        assertEquals(action, only(past, START));
    }

    @Test
    void an_effect_that_was_asked_for_and_has_no_row_is_sent() {
        assertEquals(ReplayAction.SEND, only(past(List.of(begun("pay", EntryKind.EFFECT)), List.of(), null), ReplayOptions.DEFAULT));
    }

    @Test
    void a_row_of_another_lineage_says_nothing() {
        EffectLedger.EffectRow row = row("pay", EffectState.DONE, "ask", 0);
        EffectLedger.EffectRow other = new EffectLedger.EffectRow(
                row.id(),
                new EffectLedger.EffectHolder("another step", LINE, 1, 1),
                row.state(),
                1,
                1,
                10,
                20,
                0,
                0,
                null,
                "1",
                row.details());
        assertEquals(ReplayAction.SEND, only(past(List.of(begun("pay", EntryKind.EFFECT)), List.of(other), null), ReplayOptions.DEFAULT));
    }

    @ParameterizedTest
    @CsvSource({
        "STEP,     REUSE, RUN_AGAIN",
        "TX,       REUSE, REUSE",
        "APPROVAL, REUSE, ASK",
    })
    void what_is_on_record_is_reused_and_from_the_start_done_as_its_kind_says(
            EntryKind kind, ReplayAction carried, ReplayAction fromStart) {
        ReplaySource past = past(List.of(done("a", kind)), List.of(), null);
        assertEquals(carried, only(past, ReplayOptions.DEFAULT));
        assertEquals(fromStart, only(past, START));
    }

    @ParameterizedTest
    @CsvSource({"STEP, RUN_AGAIN", "TX, RUN_AGAIN"})
    void what_failed_and_ended_the_run_is_done_again(EntryKind kind, ReplayAction action) {
        assertEquals(action, only(past(List.of(failed("a", kind)), List.of(), null), ReplayOptions.DEFAULT));
    }

    @Test
    void a_failure_that_the_code_dealt_with_stands() {
        List<JournalEntry> entries = List.of(failed("a", EntryKind.STEP), done("b", EntryKind.STEP), failed("c", EntryKind.STEP));
        assertEquals(
                List.of("a", "b"),
                CarriedJournal.select(entries, ReplayOptions.DEFAULT).stream().map(JournalEntry::path).toList());
        assertEquals(
                List.of(ReplayAction.REUSE, ReplayAction.REUSE, ReplayAction.RUN_AGAIN),
                ReplayPlanner.plan(past(entries, List.of(), null), ReplayOptions.DEFAULT).stream()
                        .map(PlannedStep::action)
                        .toList());
    }

    @Test
    void branches_that_ended_are_carried_and_those_that_failed_or_were_under_way_are_not() {
        List<JournalEntry> entries = List.of(
                done("first", EntryKind.STEP),
                done("all[a]/one", EntryKind.STEP),
                begun("all[b]/one", EntryKind.SLEEP),
                failed("all[c]/one", EntryKind.STEP),
                done("all[d]/one", EntryKind.STEP));
        assertEquals(
                List.of("first", "all[a]/one", "all[d]/one"),
                CarriedJournal.select(entries, ReplayOptions.DEFAULT).stream().map(JournalEntry::path).toList());
    }

    @Test
    void a_failed_branch_behind_which_the_run_went_on_stands() {
        List<JournalEntry> entries =
                List.of(failed("all[a]/one", EntryKind.STEP), done("behind", EntryKind.STEP), failed("end", EntryKind.STEP));
        assertEquals(
                List.of("all[a]/one", "behind"),
                CarriedJournal.select(entries, ReplayOptions.DEFAULT).stream().map(JournalEntry::path).toList());
    }

    @Test
    void from_a_step_on_nothing_is_carried_that_came_at_it_or_behind_it() {
        List<JournalEntry> entries =
                List.of(done("a", EntryKind.STEP), failed("b", EntryKind.STEP), done("c", EntryKind.STEP), done("d", EntryKind.STEP));
        assertEquals(
                List.of("a", "b"),
                CarriedJournal.select(entries, new ReplayOptions("c", false, false)).stream()
                        .map(JournalEntry::path)
                        .toList());
        assertEquals(List.of(), CarriedJournal.select(entries, START));
        assertEquals(List.of(), CarriedJournal.select(entries, new ReplayOptions("", true, false)), "another input");
        assertEquals(List.of(), CarriedJournal.select(entries, new ReplayOptions("", false, true)), "another version");
    }

    @Test
    void in_place_what_ended_the_run_and_what_was_tried_is_opened_and_nothing_else() {
        List<JournalEntry> entries = List.of(
                failed("dealt with", EntryKind.STEP),
                done("all[a]/one", EntryKind.STEP),
                begun("all[b]/one", EntryKind.SLEEP),
                failed("all[c]/one", EntryKind.EFFECT),
                new JournalEntry.AttemptFailure("all[d]/one", EntryKind.EFFECT, 5, Samples.PROBLEM, 1, 9));
        assertEquals(List.of("all[c]/one", "all[d]/one"), CarriedJournal.pathsToReopen(entries));
        List<JournalEntry> resumed = new java.util.ArrayList<>(entries);
        resumed.add(new JournalEntry.RunResumption(7, "ann", "mended", CarriedJournal.pathsToReopen(entries), 1));
        assertEquals(List.of(), CarriedJournal.pathsToReopen(resumed));
        resumed.add(done("all[c]/one", EntryKind.EFFECT));
        assertEquals(
                List.of("dealt with", "all[a]/one", "all[c]/one"),
                CarriedJournal.select(resumed, ReplayOptions.DEFAULT).stream().map(JournalEntry::path).toList(),
                "a replay begins with what it came to in the end");
    }

    @Test
    void what_is_to_be_done_again_is_for_a_person_unless_it_is_confirmed() {
        ReplaySource past = past(
                List.of(done("a", EntryKind.EFFECT), done("b", EntryKind.STEP)),
                List.of(row("a", EffectState.DONE, "provider_key", 0)),
                null);
        ReplayOptions asked = new ReplayOptions("", false, false, List.of("a"), false);
        ReplayOptions confirmed = new ReplayOptions("", false, false, List.of("a"), true);
        assertEquals(
                List.of(ReplayAction.ASK, ReplayAction.RUN_AGAIN),
                ReplayPlanner.plan(past, asked).stream().map(PlannedStep::action).toList());
        assertEquals(
                List.of(ReplayAction.SEND, ReplayAction.RUN_AGAIN),
                ReplayPlanner.plan(past, confirmed).stream().map(PlannedStep::action).toList());
        assertEquals(List.of(), CarriedJournal.select(past.entries(), asked));
        assertNotNull(ReplayPreview.of(past, new ReplayOptions("", false, false, List.of("x"), true))
                .blocked());
    }

    @Test
    void a_run_that_did_not_come_to_the_step_is_blocked() {
        ReplaySource past = past(List.of(done("a", EntryKind.STEP)), List.of(), null);
        assertEquals(
                "the run did not reach step \"x\"",
                ReplayPreview.of(past, new ReplayOptions("x", false, false)).blocked());
        assertNull(ReplayPreview.of(past, new ReplayOptions("a", false, false)).blocked());
    }

    @Test
    void what_was_undone_is_for_a_person_and_the_undos_are_not_told() {
        List<JournalEntry> entries =
                List.of(done("pay", EntryKind.EFFECT), failed("ship", EntryKind.EFFECT), done("/undo/pay/refund", EntryKind.EFFECT));
        List<PlannedStep> all = ReplayPlanner.plan(past(entries, List.of(row("pay", EffectState.DONE, "ask", 0)), null), ReplayOptions.DEFAULT);
        assertEquals(
                List.of(ReplayAction.ASK, ReplayAction.SEND),
                all.stream().map(PlannedStep::action).toList());
        assertEquals(
                List.of("pay"),
                CarriedJournal.select(entries, ReplayOptions.DEFAULT).stream().map(JournalEntry::path).toList());
    }

    @Test
    void with_another_input_every_effect_is_for_a_person() {
        ReplaySource past = past(
                List.of(done("read", EntryKind.STEP), done("pay", EntryKind.EFFECT), begun("mail", EntryKind.EFFECT)),
                List.of(row("pay", EffectState.DONE, "ask", 0)),
                null);
        List<PlannedStep> all = ReplayPlanner.plan(past, new ReplayOptions("", true, false));
        assertEquals(
                List.of(ReplayAction.RUN_AGAIN, ReplayAction.ASK, ReplayAction.ASK),
                all.stream().map(PlannedStep::action).toList());
    }

    @Test
    void what_a_file_declares_and_the_run_did_not_come_to_is_sent_for_the_first_time() {
        List<DeclaredStep> expected = List.of(
                declares("pay", "provider_key"),
                declares("mail", "ask"),
                declares("read", "repeatable"),
                declares("maybe", "ask", false, false),
                declares("all[]/each", "ask", false, true));
        ReplaySource past = past(
                List.of(done("pay", EntryKind.EFFECT), done("all[x]/each", EntryKind.EFFECT)),
                List.of(row("pay", EffectState.DONE, "provider_key", 0)),
                expected);
        List<PlannedStep> all = ReplayPlanner.plan(past, ReplayOptions.DEFAULT);
        assertEquals(
                List.of("pay", "all[x]/each", "mail", "read", "maybe", "all[]/each"),
                all.stream().map(PlannedStep::step).toList());
        assertEquals(
                List.of(ReplayAction.REUSE, ReplayAction.REUSE, ReplayAction.SEND, ReplayAction.RUN_AGAIN, ReplayAction.SEND, ReplayAction.SEND),
                all.stream().map(PlannedStep::action).toList());
        assertEquals(
                List.of(true, true, true, true, false, false),
                all.stream().map(PlannedStep::certain).toList());
        assertFalse(ReplayPreview.of(past, ReplayOptions.DEFAULT).incomplete(), "a file says what it has");
    }

    @Test
    void a_run_that_completed_has_nothing_before_it() {
        List<JournalEntry> entries = List.of(done("a", EntryKind.STEP));
        DeclaredVersions versions = DeclaredVersions.single(List.of(declares("never", "ask", false, false)));
        ReplaySource past = past(RunState.COMPLETED, entries, List.of(), versions);
        assertEquals(ReplayAction.REUSE, only(past, ReplayOptions.DEFAULT));
    }

    @Test
    void a_run_that_completed_has_something_before_it_where_its_record_is_not_taken_along() {
        List<JournalEntry> entries = List.of(done("a", EntryKind.STEP));
        DeclaredVersions versions = DeclaredVersions.single(List.of(declares("maybe", "ask", false, false)));
        ReplaySource past = past(RunState.COMPLETED, entries, List.of(), versions);
        for (ReplayOptions terms : List.of(START, new ReplayOptions("a", false, false), new ReplayOptions("", true, false))) {
            assertEquals(List.of(ReplayAction.RUN_AGAIN, ReplayAction.SEND), actions(ReplayPlanner.plan(past, terms)), terms::toString);
        }
        ReplaySource code = past(RunState.COMPLETED, entries, List.of(), DeclaredVersions.single(null));
        assertFalse(ReplayPreview.of(code, ReplayOptions.DEFAULT).incomplete());
        assertTrue(ReplayPreview.of(code, new ReplayOptions("a", false, false)).incomplete(), "what comes behind it is done anew");
        DeclaredVersions added = new DeclaredVersions(List.of(declares("new", "ask")), List.of(List.of()));
        List<PlannedStep> next = ReplayPlanner.plan(past(RunState.COMPLETED, entries, List.of(), added), OTHER);
        assertEquals(List.of(ReplayAction.RUN_AGAIN, ReplayAction.SEND), actions(next));
        assertTrue(next.getLast().certain());
    }

    @Test
    void what_code_does_next_is_not_known() {
        ReplayPreview outlook = ReplayPreview.of(past(List.of(failed("a", EntryKind.STEP)), List.of(), null), ReplayOptions.DEFAULT);
        assertTrue(outlook.incomplete());
    }

    @Test
    void an_outlook_is_read_as_it_was_written_and_says_how_another_one_differs() {
        ReplaySource past = past(
                List.of(done("a", EntryKind.STEP), begun("pay", EntryKind.EFFECT)),
                List.of(row("pay", EffectState.UNKNOWN, "provider_key", 2_000)),
                List.of(declares("mail", "ask", false, false)));
        ReplayPreview outlook = ReplayPreview.of(past, ReplayOptions.DEFAULT);
        ReplayPreview read = ReplayPreview.parse(StrictJson.write(outlook.toJson()));
        assertEquals(outlook, read);
        assertEquals(List.of(), outlook.differencesFrom(read));
        ReplaySource later = new ReplaySource(LINE, RunState.FAILED, past.entries(), past.rows(), past.versions(), Map.of(), 2_000);
        assertEquals(List.of("pay was resend and is ask"), outlook.differencesFrom(ReplayPreview.of(later, ReplayOptions.DEFAULT)));
        assertEquals(List.of("gone"), outlook.differencesFrom(ReplayPreview.blocked("gone")));
        ReplaySource sure = past(past.entries(), past.rows(), List.of(declares("mail", "ask")));
        assertEquals(List.of("mail was possible and is certain"), outlook.differencesFrom(ReplayPreview.of(sure, ReplayOptions.DEFAULT)));
        assertEquals(
                List.of("its further actions can no longer be predicted"),
                outlook.differencesFrom(new ReplayPreview(outlook.steps(), true, null)));
        assertEquals(ReplayAction.RESEND, outlook.worst());
        assertEquals(ReplayAction.REUSE.bit() | ReplayAction.RESEND.bit() | ReplayAction.SEND.bit(), outlook.actions());
    }

    @Test
    void only_what_is_safe_is_allowed_unless_more_is_included() {
        int asks = ReplayAction.REUSE.bit() | ReplayAction.ASK.bit();
        assertTrue(ApplyOptions.SAFE.allows(ReplayAction.SEND.bit() | ReplayAction.RESEND.bit() | ReplayAction.CHECK.bit()));
        assertFalse(ApplyOptions.SAFE.allows(asks));
        ApplyOptions more = new ApplyOptions(List.of(ReplayAction.ASK), 0, 0, 0);
        assertTrue(more.allows(asks));
        assertFalse(more.allows(ReplayAction.UNPROTECTED.bit()));
        assertEquals(more, ApplyOptions.parse(more.toJson().toString()));
    }

    @Test
    void the_results_that_are_carried_are_those_that_were_recorded() {
        JournalEntry suppressed = new JournalEntry.StepResult("mail", EntryKind.EFFECT, 5, StrictJson.parse("\"m\""), StepOutcome.SUPPRESSED, 1, "run_x 5");
        assertEquals(List.of(suppressed), CarriedJournal.select(List.of(suppressed), ReplayOptions.DEFAULT));
    }
}
