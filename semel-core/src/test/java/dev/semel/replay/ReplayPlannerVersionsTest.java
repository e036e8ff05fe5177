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
import dev.semel.effect.EffectLedger.EffectState;
import dev.semel.journal.JournalEntry;
import dev.semel.journal.JournalEntry.EntryKind;
import dev.semel.journal.JournalEntry.StepOutcome;
import dev.semel.json.StrictJsonCodec;
import dev.semel.run.RunState;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What other versions, other runs and other people have to do with a replay, without a store. */
final class ReplayPlannerVersionsTest {
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
    void an_effect_in_doubt_needs_a_user_if_the_next_version_protects_it_differently(
            EffectState state, String was, String now, SafeReplayStepAction action) {
        ReplayDeclaredStepsByVersion versions =
                new ReplayDeclaredStepsByVersion(List.of(declares("pay", now)), List.of(List.of(declares("pay", was))));
        ReplayPlannerInput source = past(
                RunState.FAILED,
                List.of(begun("pay", EntryKind.EFFECT)),
                List.of(row("pay", state, was, 2_000)),
                versions);
        assertEquals(action, only(source, OTHER));
    }

    @ParameterizedTest
    @CsvSource({"DONE, ask, ASK", "UNKNOWN, provider_key, ASK", "FREE, none, ASK", "FREE, ask,", "DONE, repeatable,"})
    void an_effect_that_the_next_version_moved_needs_a_user(
            EffectState state, String was, @Nullable SafeReplayStepAction old) {
        ReplayDeclaredStepsByVersion versions = new ReplayDeclaredStepsByVersion(
                List.of(declares("both[card]/pay", was)), List.of(List.of(declares("pay", was))));
        ReplayPlannerInput source = past(
                RunState.FAILED,
                List.of(begun("pay", EntryKind.EFFECT)),
                List.of(row("pay", state, was, 2_000)),
                versions);
        List<PlannedReplayStep> all = ReplayStepPlanner.plan(source, OTHER);
        List<String> steps = all.stream().map(PlannedReplayStep::step).toList();
        assertEquals(old == null ? List.of("both[card]/pay") : List.of("pay", "both[card]/pay"), steps);
        if (old != null) {
            assertEquals(old, all.getFirst().action());
            assertTrue(all.getFirst().why().contains("no such step"), all.getFirst()::why);
        }
    }

    @Test
    void items_with_other_keys_in_the_next_version_need_a_user() {
        DeclaredStep byId =
                new DeclaredStep(new DeclaredStep.StepLocation("all[]/pay", false, true, "id"), "effect", "ask", "ask");
        DeclaredStep byNumber =
                new DeclaredStep(new DeclaredStep.StepLocation("all[]/pay", false, true, "n"), "effect", "ask", "ask");
        List<JournalEntry> entries = List.of(done("all[a\\]b]/pay", EntryKind.EFFECT));
        List<EffectLedger.EffectRow> rows = List.of(row("all[a\\]b]/pay", EffectState.DONE, "ask", 0));
        ReplayPlannerInput same = past(
                RunState.FAILED,
                entries,
                rows,
                new ReplayDeclaredStepsByVersion(List.of(byId), List.of(List.of(byId))));
        assertEquals(
                List.of(SafeReplayStepAction.REUSE, SafeReplayStepAction.SEND),
                actions(ReplayStepPlanner.plan(same, OTHER)));
        ReplayPlannerInput other = past(
                RunState.FAILED,
                entries,
                rows,
                new ReplayDeclaredStepsByVersion(List.of(byNumber), List.of(List.of(byId))));
        assertEquals(
                List.of(SafeReplayStepAction.ASK, SafeReplayStepAction.SEND),
                actions(ReplayStepPlanner.plan(other, OTHER)));
    }

    @Test
    void effects_of_java_code_in_another_version_need_a_user() {
        List<JournalEntry> entries =
                List.of(done("tx", EntryKind.TX), done("pay", EntryKind.EFFECT), done("say", EntryKind.SIGNAL));
        ReplayDeclaredStepsByVersion versions = new ReplayDeclaredStepsByVersion(null, List.of(List.of()));
        ReplayPlannerInput source =
                past(RunState.FAILED, entries, List.of(row("pay", EffectState.DONE, "ask", 0)), versions);
        assertEquals(
                List.of(SafeReplayStepAction.ASK, SafeReplayStepAction.ASK, SafeReplayStepAction.ASK),
                actions(ReplayStepPlanner.plan(source, OTHER)));
        assertEquals(
                List.of(SafeReplayStepAction.REUSE, SafeReplayStepAction.REUSE),
                actions(ReplayStepPlanner.plan(past(entries, source.rows(), null), START)),
                "by the same one it finds them, and the signal has its key");
    }

    @Test
    void effects_of_an_earlier_run_in_the_lineage_are_listed_even_if_the_last_did_not_reach_them() {
        ReplayPlannerInput source = past(
                List.of(failed("read", EntryKind.STEP)), List.of(row("pay", EffectState.UNKNOWN, "none", 0)), null);
        List<PlannedReplayStep> all = ReplayStepPlanner.plan(source, ReplayOptions.DEFAULT);
        assertEquals(List.of(SafeReplayStepAction.RUN_AGAIN, SafeReplayStepAction.UNPROTECTED), actions(all));
        assertFalse(all.getLast().certain());
        ReplayPlannerInput file = past(source.entries(), source.rows(), List.of(declares("pay", "none")));
        assertTrue(ReplayStepPlanner.plan(file, ReplayOptions.DEFAULT).getLast().certain());
    }

    @Test
    void steps_undone_by_an_earlier_run_of_the_lineage_need_a_user() {
        List<JournalEntry> entries = List.of(done("pay", EntryKind.EFFECT), failed("read", EntryKind.STEP));
        List<EffectLedger.EffectRow> rows =
                List.of(row("pay", EffectState.DONE, "ask", 0), row("/undo/pay/refund", EffectState.DONE, "ask", 0));
        assertEquals(
                List.of(SafeReplayStepAction.ASK, SafeReplayStepAction.RUN_AGAIN),
                actions(ReplayStepPlanner.plan(past(entries, rows, null), ReplayOptions.DEFAULT)));
    }

    private static ReplayPlannerInput calling(List<JournalEntry> entries, @Nullable ChildRunState called) {
        Map<String, ChildRunState> there = called == null ? Map.of() : Map.of("run_c", called);
        return new ReplayPlannerInput(
                LINE,
                RunState.FAILED,
                entries,
                List.of(),
                ReplayDeclaredStepsByVersion.single(null),
                there,
                Set.of(),
                NOW);
    }

    @ParameterizedTest
    @CsvSource({
        "COMPLETED, false, REUSE, completed",
        "COMPLETED, true,  ASK,   was deleted",
        "FAILED,    false, ASK,   replay that run first",
        "CANCELLED, false, ASK,   replay that run first",
        "RUNNING,   false, REUSE, has not ended",
        "IN_DOUBT,  false, REUSE, has not ended",
        ",          false, ASK,   was deleted",
    })
    void a_child_call_is_predicted_from_the_run_that_it_finds(
            @Nullable RunState state, boolean going, SafeReplayStepAction action, String why) {
        ChildRunState called = state == null ? null : new ChildRunState("run_d", state, going);
        List<JournalEntry> failed = List.of(
                new JournalEntry.WaitStart("call", EntryKind.CALL, 4, 0, "run_c"), failed("call", EntryKind.CALL));
        PlannedReplayStep one = ReplayStepPlanner.plan(calling(failed, called), ReplayOptions.DEFAULT)
                .getFirst();
        assertEquals(action, one.action());
        assertTrue(one.why().contains(why), one::why);
        List<JournalEntry> done = List.of(
                new JournalEntry.WaitStart("call", EntryKind.CALL, 4, 0, "run_c"), done("call", EntryKind.CALL));
        assertEquals(action, only(calling(done, called), START));
        assertEquals(
                SafeReplayStepAction.REUSE,
                only(calling(done, called), ReplayOptions.DEFAULT),
                "its result is recorded");
    }

    @Test
    void a_rejected_child_call_is_made_and_its_new_run_is_not_predicted() {
        ReplayPlannerInput source = calling(List.of(failed("call", EntryKind.CALL)), null);
        assertEquals(SafeReplayStepAction.SEND, only(source, ReplayOptions.DEFAULT));
        DeclaredStep call =
                new DeclaredStep(new DeclaredStep.StepLocation("call", true, false, ""), "call", "other", "other");
        ReplayPreview prediction = ReplayPreview.of(
                past(List.of(failed("a", EntryKind.STEP)), List.of(), List.of(call)), ReplayOptions.DEFAULT);
        assertEquals(List.of(SafeReplayStepAction.RUN_AGAIN, SafeReplayStepAction.SEND), actions(prediction.steps()));
        assertTrue(prediction.steps().getLast().why().contains("a run of \"other\""), prediction::toString);
        assertTrue(prediction.incomplete());
    }

    @Test
    void a_wait_whose_signal_went_to_the_old_run_needs_a_user() {
        List<JournalEntry> journalEntries = List.of(done("go", EntryKind.AWAIT), failed("a", EntryKind.STEP));
        assertEquals(
                List.of(SafeReplayStepAction.RUN_AGAIN),
                actions(ReplayStepPlanner.plan(past(journalEntries, List.of(), null), ReplayOptions.DEFAULT)));
        assertEquals(
                List.of(SafeReplayStepAction.ASK, SafeReplayStepAction.RUN_AGAIN),
                actions(ReplayStepPlanner.plan(past(journalEntries, List.of(), null), START)));
        JournalEntry late = new JournalEntry.StepResult(
                "go", EntryKind.AWAIT, 5, StrictJsonCodec.parse("null"), StepOutcome.TIMED_OUT, 1, null);
        assertEquals(SafeReplayStepAction.RUN_AGAIN, only(past(List.of(late), List.of(), null), START));
        assertEquals(
                SafeReplayStepAction.RUN_AGAIN,
                only(past(List.of(begun("go", EntryKind.AWAIT)), List.of(), null), ReplayOptions.DEFAULT));
        DeclaredStep ahead = new DeclaredStep(new DeclaredStep.StepLocation("go", true, false, ""), "await", "", "");
        PlannedReplayStep wait = ReplayStepPlanner.plan(
                        past(List.of(), List.of(), List.of(ahead)), ReplayOptions.DEFAULT)
                .getFirst();
        assertEquals("await", wait.kind());
        assertTrue(wait.why().contains("a signal to the new run"), wait::why);
    }
}
