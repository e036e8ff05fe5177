package dev.semel.replay;

import static dev.semel.replay.SampleRuns.LINE;
import static dev.semel.replay.SampleRuns.NOW;
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
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.definition.DeclaredStep;
import dev.semel.effect.EffectLedger;
import dev.semel.effect.EffectLedger.EffectRow;
import dev.semel.effect.EffectLedger.EffectState;
import dev.semel.journal.JournalEntry;
import dev.semel.journal.JournalEntry.EntryKind;
import dev.semel.journal.JournalEntry.StepOutcome;
import dev.semel.json.StrictJsonCodec;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Notifications in a replay: which are missing, which are sent again, and which are not sent. */
final class ReplayNotificationsTest {
    private static final ReplayDeclaredStepsByVersion CODE = ReplayDeclaredStepsByVersion.single(null);

    @Test
    void a_sent_notification_is_listed_once_and_its_event_says_what_it_does() {
        ReplayPlannerInput source = past(
                List.of(
                        done("hello.plan", EntryKind.STEP),
                        done("hello.email", EntryKind.EFFECT),
                        done("hello.event", EntryKind.STEP),
                        done("mail", EntryKind.EFFECT),
                        failed("late", EntryKind.STEP)),
                List.of(notification("hello.email", EffectState.DONE), notification("mail", EffectState.DONE)),
                List.of(declares("hello.", "ask", false, true), declares("mail", "ask", false, true)));
        assertEquals(
                List.of("hello.plan", "hello.email", "hello.event", "mail", "late"),
                ReplayStepPlanner.plan(source, ReplayOptions.DEFAULT).stream()
                        .map(PlannedReplayStep::step)
                        .toList());
        List<PlannedReplayStep> anew = ReplayStepPlanner.plan(source, START);
        assertEquals(
                List.of("hello.plan", "hello.email", "hello.event", "mail", "late", "hello"),
                anew.stream().map(PlannedReplayStep::step).toList());
        assertTrue(anew.get(2).why().contains("starts no run twice"), anew.get(2)::why);
        assertEquals("it has no external effect", anew.getFirst().why());
        assertTrue(anew.getLast().why().contains("other channels"), anew.getLast()::why);
        assertFalse(anew.getLast().certain());
    }

    private static EffectRow notification(String path, EffectState state) {
        return notification(path, state, path, null);
    }

    private static EffectRow notification(String path, EffectState state, String stepPath, @Nullable String data) {
        EffectRow row = row(path, state, "provider_key", 2_000);
        return new EffectRow(
                row.id(),
                row(stepPath, state, "provider_key", 0).holder(),
                state,
                1,
                1,
                row.firstAt(),
                row.acceptedAt(),
                0,
                row.expiresAt(),
                data,
                row.result(),
                new EffectLedger.EffectDetails("k", path, "wf", "provider_key", "notify", null, null),
                row.lastSend());
    }

    private static DeclaredStep notifies(String path, boolean always) {
        return new DeclaredStep(
                new DeclaredStep.StepLocation(path, always, false, ""), "effect", "ask", "ask", "notify", false);
    }

    private static ReplayOptions with(ReplayNotificationMode mode) {
        return new ReplayOptions("", false, false, List.of(), false, mode);
    }

    private static List<String> sentAgain(ReplayDeclaredStepsByVersion versions, EffectRow... rows) {
        ReplayPlannerInput source = past(RunState.COMPLETED, List.of(), List.of(rows), versions);
        return ReplayOptions.DEFAULT
                .notifying(ReplayNotificationMode.AGAIN, source)
                .redo();
    }

    @Test
    void the_words_of_the_modes_are_stable() {
        for (ReplayNotificationMode mode : ReplayNotificationMode.values()) {
            assertEquals(mode, ReplayNotificationMode.of(mode.word()));
        }
        assertEquals("missing", ReplayNotificationMode.MISSING.word());
    }

    @Test
    void sending_again_repeats_what_the_lineage_sent_itself() {
        assertEquals(
                List.of("a", "mail"),
                sentAgain(CODE, notification("mail", EffectState.DONE), notification("a", EffectState.DONE)));
        assertEquals(List.of(), sentAgain(CODE, notification("mail", EffectState.UNKNOWN)), "perhaps not sent");
        assertEquals(List.of(), sentAgain(CODE, notification("mail", EffectState.DONE, "x", null)), "not its own");
        assertEquals(List.of(), sentAgain(CODE, notification("/undo/a/mail", EffectState.DONE)), "a compensation");
        assertEquals(List.of(), sentAgain(CODE, notification("mail", EffectState.DONE, "mail", "noted")), "a note");
        assertEquals(
                List.of(),
                sentAgain(CODE, notification("mail", EffectState.DONE, "mail", "suppressed by run_1 5")),
                "another run sent it");
        assertEquals(List.of(), sentAgain(CODE, row("pay", EffectState.DONE, "ask", 0)), "no notification");
    }

    @Test
    void sending_again_repeats_only_steps_of_the_next_version() {
        EffectRow sent = notification("mail", EffectState.DONE);
        List<List<DeclaredStep>> before = List.of(List.of(declares("mail", "ask")));
        assertEquals(
                List.of("mail"),
                sentAgain(new ReplayDeclaredStepsByVersion(List.of(declares("mail", "lookup")), before), sent));
        assertEquals(
                List.of(), sentAgain(new ReplayDeclaredStepsByVersion(List.of(declares("post", "ask")), before), sent));
        assertEquals(List.of(), sentAgain(new ReplayDeclaredStepsByVersion(null, before), sent));
    }

    @Test
    void the_other_modes_repeat_only_what_the_caller_lists() {
        ReplayPlannerInput source =
                past(RunState.COMPLETED, List.of(), List.of(notification("mail", EffectState.DONE)), CODE);
        ReplayOptions options = new ReplayOptions("a", false, true, List.of("z", "b"), true);
        assertEquals(
                new ReplayOptions("a", false, true, List.of("b", "z"), true, ReplayNotificationMode.NONE),
                options.notifying(ReplayNotificationMode.NONE, source));
        assertEquals(
                new ReplayOptions("a", false, true, List.of("b", "mail", "z"), true, ReplayNotificationMode.AGAIN),
                options.notifying(ReplayNotificationMode.AGAIN, source));
    }

    @Test
    void a_notification_of_an_earlier_run_is_sent_again_although_the_last_run_did_not_reach_it() {
        ReplayPlannerInput source = past(
                RunState.FAILED,
                List.of(failed("a", EntryKind.STEP)),
                List.of(notification("mail", EffectState.DONE)),
                CODE);
        ReplayPreview again =
                ReplayPreview.of(source, ReplayOptions.DEFAULT.notifying(ReplayNotificationMode.AGAIN, source));
        assertEquals(List.of(SafeReplayStepAction.RUN_AGAIN, SafeReplayStepAction.ASK), actions(again.steps()));
        assertEquals(
                "step \"mail\" cannot be repeated: the run did not reach this step",
                ReplayPreview.of(source, new ReplayOptions("", false, false, List.of("mail"), true))
                        .blocked());
    }

    @ParameterizedTest(name = "{0} {1}, notify {2}: {3}")
    @CsvSource({
        "notify, UNKNOWN,  NONE,    SILENT,  may have been sent",
        "notify, RESERVED, NONE,    SILENT,  may have been sent",
        "notify, FREE,     NONE,    SILENT,  was not sent",
        "notify, DONE,     NONE,    REUSE,   has its result",
        "notify, UNKNOWN,  MISSING, RESEND,  still remembers",
        "notify, FREE,     MISSING, SEND,    rejected",
        "create, UNKNOWN,  NONE,    RESEND,  still remembers",
    })
    void a_replay_without_notifications_sends_only_other_effects(
            String does, EffectState state, ReplayNotificationMode mode, SafeReplayStepAction action, String why) {
        EffectRow row = does.equals("notify") ? notification("e", state) : row("e", state, "provider_key", 2_000);
        for (List<JournalEntry> entries : List.of(List.of(begun("e", EntryKind.EFFECT)), List.<JournalEntry>of())) {
            PlannedReplayStep one = ReplayStepPlanner.plan(
                            past(RunState.FAILED, entries, List.of(row), CODE), with(mode))
                    .getFirst();
            assertEquals(action, one.action());
            assertTrue(one.why().contains(why), one::why);
        }
    }

    @Test
    void a_replay_without_notifications_keeps_the_question_of_a_removed_step() {
        ReplayPlannerInput source = past(
                RunState.FAILED,
                List.of(begun("mail", EntryKind.EFFECT)),
                List.of(notification("mail", EffectState.UNKNOWN)),
                new ReplayDeclaredStepsByVersion(List.of(), List.of(List.of(declares("mail", "ask")))));
        ReplayOptions silent = new ReplayOptions("", false, true, List.of(), false, ReplayNotificationMode.NONE);
        assertEquals(SafeReplayStepAction.ASK, only(source, silent));
        ReplayPlannerInput changed = past(
                RunState.FAILED,
                source.entries(),
                source.rows(),
                new ReplayDeclaredStepsByVersion(
                        List.of(declares("mail", "lookup")), List.of(List.of(declares("mail", "ask")))));
        assertEquals(SafeReplayStepAction.SILENT, only(changed, silent));
    }

    @Test
    void only_a_declared_step_without_a_ledger_row_is_known_as_a_notification() {
        List<JournalEntry> entries = List.of(begun("mail", EntryKind.EFFECT));
        ReplayOptions silent = with(ReplayNotificationMode.NONE);
        PlannedReplayStep code =
                ReplayStepPlanner.plan(past(entries, List.of(), null), silent).getFirst();
        assertEquals(SafeReplayStepAction.SEND, code.action());
        assertFalse(code.certain(), "only the code knows what it does");
        assertTrue(ReplayStepPlanner.plan(past(entries, List.of(), null), ReplayOptions.DEFAULT)
                .getFirst()
                .certain());
        assertEquals(
                SafeReplayStepAction.SILENT, only(past(entries, List.of(), List.of(notifies("mail", true))), silent));
        PlannedReplayStep declared = ReplayStepPlanner.plan(
                        past(entries, List.of(), List.of(declares("mail", "ask"))), silent)
                .getFirst();
        assertEquals(SafeReplayStepAction.SEND, declared.action());
    }

    @Test
    void a_declared_notification_that_no_run_reached_is_not_sent() {
        List<DeclaredStep> declared = List.of(notifies("mail", true), notifies("sms", false), declares("pay", "ask"));
        List<PlannedReplayStep> silent =
                ReplayStepPlanner.plan(past(List.of(), List.of(), declared), with(ReplayNotificationMode.NONE));
        assertEquals(
                List.of(SafeReplayStepAction.SILENT, SafeReplayStepAction.SILENT, SafeReplayStepAction.SEND),
                actions(silent));
        assertEquals(
                List.of(true, false, true),
                silent.stream().map(PlannedReplayStep::certain).toList());
        assertEquals(
                List.of(SafeReplayStepAction.SEND, SafeReplayStepAction.SEND, SafeReplayStepAction.SEND),
                actions(ReplayStepPlanner.plan(past(List.of(), List.of(), declared), ReplayOptions.DEFAULT)));
    }

    @Test
    void a_notification_that_a_silent_replay_skipped_is_missing_in_the_next_one() {
        JournalEntry skipped = new JournalEntry.StepResult(
                "mail", EntryKind.EFFECT, 5, StrictJsonCodec.parse("null"), StepOutcome.SILENT, 1, null);
        List<JournalEntry> entries = List.of(done("a", EntryKind.STEP), skipped, done("b", EntryKind.STEP));
        assertEquals(List.of(entries.getFirst()), ReplayJournalEntrySelector.select(entries, ReplayOptions.DEFAULT));
        assertEquals(entries, ReplayJournalEntrySelector.select(entries, with(ReplayNotificationMode.NONE)));
    }

    @Test
    void an_effect_that_another_input_had_needs_a_user() {
        RunId other = new RunId(7, 7);
        for (EffectState state : List.of(EffectState.DONE, EffectState.UNKNOWN)) {
            for (String protection : List.of("provider_key", "repeatable", "none")) {
                EffectRow row = row("pay", state, protection, 2_000);
                EffectRow held = new EffectRow(
                        row.id(),
                        new EffectLedger.EffectHolder(row.holder().step(), other, 1, 1),
                        state,
                        1,
                        1,
                        row.firstAt(),
                        row.acceptedAt(),
                        0,
                        row.expiresAt(),
                        null,
                        row.result(),
                        row.details(),
                        row.lastSend());
                ReplayPlannerInput source = new ReplayPlannerInput(
                        LINE,
                        RunState.FAILED,
                        List.of(begun("pay", EntryKind.EFFECT)),
                        List.of(held),
                        CODE,
                        Map.of(),
                        Set.of(other),
                        NOW);
                SafeReplayStepAction expected = state == EffectState.DONE || protection.equals("provider_key")
                        ? SafeReplayStepAction.ASK
                        : protection.equals("repeatable")
                                ? SafeReplayStepAction.RUN_AGAIN
                                : SafeReplayStepAction.UNPROTECTED;
                assertEquals(expected, only(source, ReplayOptions.DEFAULT), state + " " + protection);
            }
        }
    }

    @ParameterizedTest(name = "{0} and {1}: {2}")
    @CsvSource({
        "DONE,    UNKNOWN,  REUSE",
        "UNKNOWN, DONE,     REUSE",
        "DONE,    FREE,     REUSE",
        "FREE,    DONE,     REUSE",
        "UNKNOWN, FREE,     RESEND",
        "FREE,    UNKNOWN,  RESEND",
        "FREE,    FREE,     SEND",
    })
    void of_the_two_rows_of_an_effect_the_done_one_decides(
            EffectState one, EffectState other, SafeReplayStepAction action) {
        List<EffectRow> rows =
                List.of(row("pay", one, "provider_key", 2_000), row("pay", other, "provider_key", 2_000));
        assertEquals(action, only(past(List.of(begun("pay", EntryKind.EFFECT)), rows, null), ReplayOptions.DEFAULT));
    }

    @Test
    void a_compensated_run_asks_only_for_side_effects() {
        List<JournalEntry> entries = List.of(
                done("read", EntryKind.STEP),
                done("ok", EntryKind.APPROVAL),
                done("tx", EntryKind.TX),
                done("child", EntryKind.CALL),
                done("pay", EntryKind.EFFECT),
                failed("ship", EntryKind.STEP),
                done("/undo/pay/refund", EntryKind.EFFECT));
        assertEquals(
                List.of(
                        SafeReplayStepAction.REUSE,
                        SafeReplayStepAction.REUSE,
                        SafeReplayStepAction.ASK,
                        SafeReplayStepAction.ASK,
                        SafeReplayStepAction.ASK,
                        SafeReplayStepAction.RUN_AGAIN),
                actions(ReplayStepPlanner.plan(past(entries, List.of(), null), ReplayOptions.DEFAULT)));
    }

    @Test
    void a_repeated_step_has_no_side_effect_to_confirm() {
        ReplayPlannerInput source = past(List.of(done("read", EntryKind.STEP)), List.of(), null);
        PlannedReplayStep one = ReplayStepPlanner.plan(
                        source, new ReplayOptions("", false, false, List.of("read"), false))
                .getFirst();
        assertEquals(SafeReplayStepAction.RUN_AGAIN, one.action());
        assertEquals("you requested to repeat this step", one.why());
    }

    @Test
    void a_call_or_signal_of_a_removed_step_needs_a_user() {
        List<JournalEntry> entries = List.of(
                new JournalEntry.WaitStart("child", EntryKind.CALL, 4, 0, "run_c"), done("say", EntryKind.SIGNAL));
        ReplayPlannerInput source = past(
                RunState.FAILED, entries, List.of(), new ReplayDeclaredStepsByVersion(List.of(), List.of(List.of())));
        List<PlannedReplayStep> all = ReplayStepPlanner.plan(source, OTHER);
        assertEquals(List.of(SafeReplayStepAction.ASK, SafeReplayStepAction.ASK), actions(all));
        assertTrue(all.getFirst().why().contains("no such step"), all.getFirst()::why);
    }

    @Test
    void a_declared_step_is_reached_by_a_record_of_its_kind_or_by_its_ledger_row() {
        DeclaredStep wait = new DeclaredStep(new DeclaredStep.StepLocation("a", true, false, ""), "await", "", "");
        List<PlannedReplayStep> kinds = ReplayStepPlanner.plan(
                past(List.of(done("a", EntryKind.STEP)), List.of(), List.of(wait)), ReplayOptions.DEFAULT);
        assertEquals(
                List.of("step", "await"),
                kinds.stream().map(PlannedReplayStep::kind).toList());
        List<EffectRow> rows = List.of(row("a", EffectState.DONE, "ask", 0));
        assertEquals(
                List.of("effect"),
                ReplayStepPlanner.plan(past(List.of(), rows, List.of(declares("a", "ask"))), ReplayOptions.DEFAULT)
                        .stream()
                        .map(PlannedReplayStep::kind)
                        .toList());
        assertEquals(
                List.of("effect", "await"),
                ReplayStepPlanner.plan(past(List.of(), rows, List.of(wait)), ReplayOptions.DEFAULT).stream()
                        .map(PlannedReplayStep::kind)
                        .toList());
        assertEquals(
                List.of("effect", "effect"),
                ReplayStepPlanner.plan(past(List.of(), rows, List.of(declares("b", "ask"))), ReplayOptions.DEFAULT)
                        .stream()
                        .map(PlannedReplayStep::kind)
                        .toList());
    }

    @ParameterizedTest(name = "cross-run {0}, always {1}: {2}")
    @CsvSource({
        "true,  true,  unless another run sent it, false",
        "false, true,  the run did not reach this step, true",
        "false, false, only if the run reaches it, false",
    })
    void a_first_send_is_certain_only_for_a_step_that_always_runs(
            boolean crossRun, boolean always, String why, boolean certain) {
        DeclaredStep declared = new DeclaredStep(
                new DeclaredStep.StepLocation("pay.", always, false, ""), "effect", "ask", "ask", "create", crossRun);
        PlannedReplayStep one = ReplayStepPlanner.plan(
                        past(List.of(), List.of(), List.of(declared)), ReplayOptions.DEFAULT)
                .getFirst();
        assertEquals("pay", one.step());
        assertTrue(one.why().contains(why), one::why);
        assertEquals(certain, one.certain());
    }
}
