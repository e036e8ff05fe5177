package dev.semel.replay;

import static dev.semel.replay.SampleRuns.LINE;
import static dev.semel.replay.SampleRuns.OTHER;
import static dev.semel.replay.SampleRuns.START;
import static dev.semel.replay.SampleRuns.actions;
import static dev.semel.replay.SampleRuns.begun;
import static dev.semel.replay.SampleRuns.declares;
import static dev.semel.replay.SampleRuns.done;
import static dev.semel.replay.SampleRuns.failed;
import static dev.semel.replay.SampleRuns.only;
import static dev.semel.replay.SampleRuns.past;
import static dev.semel.replay.SampleRuns.row;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.definition.DeclaredStep;
import dev.semel.effect.EffectLedger;
import dev.semel.effect.EffectLedger.EffectState;
import dev.semel.journal.JournalEntry;
import dev.semel.journal.JournalEntry.EntryKind;
import dev.semel.journal.JournalEntry.StepOutcome;
import dev.semel.json.StrictJsonCodec;
import dev.semel.run.RunState;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Every answer about a step, without a store. */
final class ReplayStepPlannerTest {
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
    void an_effect_is_predicted_from_its_ledger_row_and_protection(
            EffectState state, String protection, long until, SafeReplayStepAction action) {
        ReplayPlannerInput source =
                past(List.of(begun("pay", EntryKind.EFFECT)), List.of(row("pay", state, protection, until)), null);
        assertEquals(action, only(source, ReplayOptions.DEFAULT));
        assertEquals(action, only(source, START));
    }

    @Test
    void an_effect_without_a_ledger_row_is_sent() {
        assertEquals(
                SafeReplayStepAction.SEND,
                only(past(List.of(begun("pay", EntryKind.EFFECT)), List.of(), null), ReplayOptions.DEFAULT));
    }

    @Test
    void a_ledger_row_of_another_lineage_is_ignored() {
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
                row.details(),
                row.lastSend());
        assertEquals(
                SafeReplayStepAction.SEND,
                only(past(List.of(begun("pay", EntryKind.EFFECT)), List.of(other), null), ReplayOptions.DEFAULT));
    }

    @ParameterizedTest
    @CsvSource({
        "STEP,     REUSE, RUN_AGAIN",
        "TX,       REUSE, REUSE",
        "APPROVAL, REUSE, ASK",
    })
    void recorded_steps_are_reused_and_from_the_start_repeated_by_kind(
            EntryKind kind, SafeReplayStepAction carried, SafeReplayStepAction fromStart) {
        ReplayPlannerInput source = past(List.of(done("a", kind)), List.of(), null);
        assertEquals(carried, only(source, ReplayOptions.DEFAULT));
        assertEquals(fromStart, only(source, START));
    }

    @ParameterizedTest
    @CsvSource({"STEP, RUN_AGAIN", "TX, RUN_AGAIN"})
    void the_step_that_failed_the_run_runs_again(EntryKind kind, SafeReplayStepAction action) {
        assertEquals(action, only(past(List.of(failed("a", kind)), List.of(), null), ReplayOptions.DEFAULT));
    }

    @Test
    void a_failure_handled_by_the_code_stays() {
        List<JournalEntry> entries =
                List.of(failed("a", EntryKind.STEP), done("b", EntryKind.STEP), failed("c", EntryKind.STEP));
        assertEquals(
                List.of("a", "b"),
                ReplayJournalEntrySelector.select(entries, ReplayOptions.DEFAULT).stream()
                        .map(JournalEntry::path)
                        .toList());
        assertEquals(
                List.of(SafeReplayStepAction.REUSE, SafeReplayStepAction.REUSE, SafeReplayStepAction.RUN_AGAIN),
                ReplayStepPlanner.plan(past(entries, List.of(), null), ReplayOptions.DEFAULT).stream()
                        .map(PlannedReplayStep::action)
                        .toList());
    }

    @Test
    void finished_branches_are_carried_and_failed_or_running_ones_are_not() {
        List<JournalEntry> entries = List.of(
                done("first", EntryKind.STEP),
                done("all[a]/one", EntryKind.STEP),
                begun("all[b]/one", EntryKind.SLEEP),
                failed("all[c]/one", EntryKind.STEP),
                done("all[d]/one", EntryKind.STEP));
        assertEquals(
                List.of("first", "all[a]/one", "all[d]/one"),
                ReplayJournalEntrySelector.select(entries, ReplayOptions.DEFAULT).stream()
                        .map(JournalEntry::path)
                        .toList());
    }

    @Test
    void a_failed_branch_that_the_run_passed_stays() {
        List<JournalEntry> entries = List.of(
                failed("all[a]/one", EntryKind.STEP), done("behind", EntryKind.STEP), failed("end", EntryKind.STEP));
        assertEquals(
                List.of("all[a]/one", "behind"),
                ReplayJournalEntrySelector.select(entries, ReplayOptions.DEFAULT).stream()
                        .map(JournalEntry::path)
                        .toList());
    }

    @Test
    void from_a_step_on_no_later_record_is_carried() {
        List<JournalEntry> entries = List.of(
                done("a", EntryKind.STEP),
                failed("b", EntryKind.STEP),
                done("c", EntryKind.STEP),
                done("d", EntryKind.STEP));
        assertEquals(
                List.of("a", "b"),
                ReplayJournalEntrySelector.select(entries, new ReplayOptions("c", false, false)).stream()
                        .map(JournalEntry::path)
                        .toList());
        assertEquals(List.of(), ReplayJournalEntrySelector.select(entries, START));
        assertEquals(
                List.of(),
                ReplayJournalEntrySelector.select(entries, new ReplayOptions("", true, false)),
                "another input");
        assertEquals(
                List.of(),
                ReplayJournalEntrySelector.select(entries, new ReplayOptions("", false, true)),
                "another version");
    }

    @Test
    void a_resume_in_place_reopens_only_failed_and_attempted_steps() {
        List<JournalEntry> entries = List.of(
                failed("dealt with", EntryKind.STEP),
                done("all[a]/one", EntryKind.STEP),
                begun("all[b]/one", EntryKind.SLEEP),
                failed("all[c]/one", EntryKind.EFFECT),
                new JournalEntry.AttemptFailure("all[d]/one", EntryKind.EFFECT, 5, SampleRuns.PROBLEM, 1, 9));
        assertEquals(List.of("all[c]/one", "all[d]/one"), ReplayJournalEntrySelector.pathsToReopen(entries));
        List<JournalEntry> resumed = new java.util.ArrayList<>(entries);
        resumed.add(new JournalEntry.RunResumption(
                7, "ann", "mended", ReplayJournalEntrySelector.pathsToReopen(entries), 1));
        assertEquals(List.of(), ReplayJournalEntrySelector.pathsToReopen(resumed));
        resumed.add(done("all[c]/one", EntryKind.EFFECT));
        assertEquals(
                List.of("dealt with", "all[a]/one", "all[c]/one"),
                ReplayJournalEntrySelector.select(resumed, ReplayOptions.DEFAULT).stream()
                        .map(JournalEntry::path)
                        .toList(),
                "a replay begins with what it came to in the end");
    }

    @Test
    void a_redo_needs_a_user_unless_confirmed() {
        ReplayPlannerInput source = past(
                List.of(done("a", EntryKind.EFFECT), done("b", EntryKind.STEP)),
                List.of(row("a", EffectState.DONE, "provider_key", 0)),
                null);
        ReplayOptions replayOptions = new ReplayOptions("", false, false, List.of("a"), false);
        ReplayOptions confirmed = new ReplayOptions("", false, false, List.of("a"), true);
        assertEquals(
                List.of(SafeReplayStepAction.ASK, SafeReplayStepAction.RUN_AGAIN),
                ReplayStepPlanner.plan(source, replayOptions).stream()
                        .map(PlannedReplayStep::action)
                        .toList());
        assertEquals(
                List.of(SafeReplayStepAction.SEND_AGAIN, SafeReplayStepAction.RUN_AGAIN),
                ReplayStepPlanner.plan(source, confirmed).stream()
                        .map(PlannedReplayStep::action)
                        .toList());
        assertEquals(List.of(), ReplayJournalEntrySelector.select(source.entries(), replayOptions));
        assertNotNull(ReplayPreview.of(source, new ReplayOptions("", false, false, List.of("x"), true))
                .blocked());
    }

    @Test
    void a_run_that_did_not_reach_the_step_is_blocked() {
        ReplayPlannerInput source = past(List.of(done("a", EntryKind.STEP)), List.of(), null);
        assertEquals(
                "the run did not reach step \"x\"",
                ReplayPreview.of(source, new ReplayOptions("x", false, false)).blocked());
        assertNull(
                ReplayPreview.of(source, new ReplayOptions("a", false, false)).blocked());
    }

    @Test
    void undone_steps_need_a_user_and_the_undos_are_not_listed() {
        List<JournalEntry> entries = List.of(
                done("pay", EntryKind.EFFECT),
                failed("ship", EntryKind.EFFECT),
                done("/undo/pay/refund", EntryKind.EFFECT));
        List<PlannedReplayStep> all = ReplayStepPlanner.plan(
                past(entries, List.of(row("pay", EffectState.DONE, "ask", 0)), null), ReplayOptions.DEFAULT);
        assertEquals(
                List.of(SafeReplayStepAction.ASK, SafeReplayStepAction.SEND),
                all.stream().map(PlannedReplayStep::action).toList());
        assertEquals(
                List.of("pay"),
                ReplayJournalEntrySelector.select(entries, ReplayOptions.DEFAULT).stream()
                        .map(JournalEntry::path)
                        .toList());
    }

    @Test
    void with_another_input_every_effect_needs_a_user() {
        ReplayPlannerInput source = past(
                List.of(done("read", EntryKind.STEP), done("pay", EntryKind.EFFECT), begun("mail", EntryKind.EFFECT)),
                List.of(row("pay", EffectState.DONE, "ask", 0)),
                null);
        List<PlannedReplayStep> all = ReplayStepPlanner.plan(source, new ReplayOptions("", true, false));
        assertEquals(
                List.of(SafeReplayStepAction.RUN_AGAIN, SafeReplayStepAction.ASK, SafeReplayStepAction.ASK),
                all.stream().map(PlannedReplayStep::action).toList());
    }

    @Test
    void declared_effects_that_the_run_did_not_reach_are_sent_for_the_first_time() {
        List<DeclaredStep> expected = List.of(
                declares("pay", "provider_key"),
                declares("mail", "ask"),
                declares("read", "repeatable"),
                declares("maybe", "ask", false, false),
                declares("all[]/each", "ask", false, true));
        ReplayPlannerInput source = past(
                List.of(done("pay", EntryKind.EFFECT), done("all[x]/each", EntryKind.EFFECT)),
                List.of(row("pay", EffectState.DONE, "provider_key", 0)),
                expected);
        List<PlannedReplayStep> all = ReplayStepPlanner.plan(source, ReplayOptions.DEFAULT);
        assertEquals(
                List.of("pay", "all[x]/each", "mail", "read", "maybe", "all[]/each"),
                all.stream().map(PlannedReplayStep::step).toList());
        assertEquals(
                List.of(
                        SafeReplayStepAction.REUSE,
                        SafeReplayStepAction.REUSE,
                        SafeReplayStepAction.SEND,
                        SafeReplayStepAction.RUN_AGAIN,
                        SafeReplayStepAction.SEND,
                        SafeReplayStepAction.SEND),
                all.stream().map(PlannedReplayStep::action).toList());
        assertEquals(
                List.of(true, true, true, true, false, false),
                all.stream().map(PlannedReplayStep::certain).toList());
        assertFalse(ReplayPreview.of(source, ReplayOptions.DEFAULT).incomplete(), "a file says what it has");
    }

    @Test
    void a_completed_run_has_nothing_left_to_do() {
        List<JournalEntry> entries = List.of(done("a", EntryKind.STEP));
        ReplayDeclaredStepsByVersion versions =
                ReplayDeclaredStepsByVersion.single(List.of(declares("never", "ask", false, false)));
        ReplayPlannerInput source = past(RunState.COMPLETED, entries, List.of(), versions);
        assertEquals(SafeReplayStepAction.REUSE, only(source, ReplayOptions.DEFAULT));
    }

    @Test
    void a_completed_run_has_steps_left_if_its_record_is_not_carried() {
        List<JournalEntry> entries = List.of(done("a", EntryKind.STEP));
        ReplayDeclaredStepsByVersion versions =
                ReplayDeclaredStepsByVersion.single(List.of(declares("maybe", "ask", false, false)));
        ReplayPlannerInput source = past(RunState.COMPLETED, entries, List.of(), versions);
        for (ReplayOptions terms :
                List.of(START, new ReplayOptions("a", false, false), new ReplayOptions("", true, false))) {
            assertEquals(
                    List.of(SafeReplayStepAction.RUN_AGAIN, SafeReplayStepAction.SEND),
                    actions(ReplayStepPlanner.plan(source, terms)),
                    terms::toString);
        }
        ReplayPlannerInput code =
                past(RunState.COMPLETED, entries, List.of(), ReplayDeclaredStepsByVersion.single(null));
        assertFalse(ReplayPreview.of(code, ReplayOptions.DEFAULT).incomplete());
        assertTrue(
                ReplayPreview.of(code, new ReplayOptions("a", false, false)).incomplete(),
                "what comes behind it is done anew");
        ReplayDeclaredStepsByVersion added =
                new ReplayDeclaredStepsByVersion(List.of(declares("new", "ask")), List.of(List.of()));
        List<PlannedReplayStep> next =
                ReplayStepPlanner.plan(past(RunState.COMPLETED, entries, List.of(), added), OTHER);
        assertEquals(List.of(SafeReplayStepAction.RUN_AGAIN, SafeReplayStepAction.SEND), actions(next));
        assertTrue(next.getLast().certain());
    }

    @Test
    void the_next_steps_of_java_code_are_unknown() {
        ReplayPreview prediction =
                ReplayPreview.of(past(List.of(failed("a", EntryKind.STEP)), List.of(), null), ReplayOptions.DEFAULT);
        assertTrue(prediction.incomplete());
    }

    @Test
    void a_preview_is_read_as_written_and_lists_its_differences_from_another() {
        ReplayPlannerInput source = past(
                List.of(done("a", EntryKind.STEP), begun("pay", EntryKind.EFFECT)),
                List.of(row("pay", EffectState.UNKNOWN, "provider_key", 2_000)),
                List.of(declares("mail", "ask", false, false)));
        ReplayPreview prediction = ReplayPreview.of(source, ReplayOptions.DEFAULT);
        ReplayPreview read = ReplayPreview.parse(StrictJsonCodec.write(prediction.toJson()));
        assertEquals(prediction, read);
        assertEquals(List.of(), prediction.differencesFrom(read));
        ReplayPlannerInput later = new ReplayPlannerInput(
                LINE, RunState.FAILED, source.entries(), source.rows(), source.versions(), Map.of(), Set.of(), 2_000);
        assertEquals(
                List.of("the action of step pay was resend and is now ask"),
                prediction.differencesFrom(ReplayPreview.of(later, ReplayOptions.DEFAULT)));
        assertEquals(List.of("gone"), prediction.differencesFrom(ReplayPreview.blocked("gone")));
        ReplayPlannerInput sure = past(source.entries(), source.rows(), List.of(declares("mail", "ask")));
        assertEquals(
                List.of("the replay now certainly reaches step mail"),
                prediction.differencesFrom(ReplayPreview.of(sure, ReplayOptions.DEFAULT)));
        assertEquals(
                List.of("the later actions of the replay can no longer be predicted"),
                prediction.differencesFrom(new ReplayPreview(prediction.steps(), true, null)));
        assertEquals(SafeReplayStepAction.RESEND, prediction.worst());
        assertEquals(
                SafeReplayStepAction.REUSE.bit() | SafeReplayStepAction.RESEND.bit() | SafeReplayStepAction.SEND.bit(),
                prediction.actions());
    }

    @Test
    void only_safe_actions_are_allowed_unless_more_is_included() {
        int asks = SafeReplayStepAction.REUSE.bit() | SafeReplayStepAction.ASK.bit();
        assertTrue(ReplayPlanApplyOptions.SAFE.allows(SafeReplayStepAction.SEND.bit()
                | SafeReplayStepAction.RESEND.bit()
                | SafeReplayStepAction.CHECK.bit()));
        assertFalse(ReplayPlanApplyOptions.SAFE.allows(asks));
        ReplayPlanApplyOptions more = new ReplayPlanApplyOptions(List.of(SafeReplayStepAction.ASK), 0, 0, 0);
        assertTrue(more.allows(asks));
        assertFalse(more.allows(SafeReplayStepAction.UNPROTECTED.bit()));
        assertEquals(more, ReplayPlanApplyOptions.parse(more.toJson().toString()));
    }

    @Test
    void the_carried_results_are_the_recorded_ones() {
        JournalEntry suppressed = new JournalEntry.StepResult(
                "mail", EntryKind.EFFECT, 5, StrictJsonCodec.parse("\"m\""), StepOutcome.SUPPRESSED, 1, "run_x 5");
        assertEquals(
                List.of(suppressed), ReplayJournalEntrySelector.select(List.of(suppressed), ReplayOptions.DEFAULT));
    }
}
