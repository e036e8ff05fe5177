package dev.semel.journal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.journal.JournalEntry.EntryKind;
import dev.semel.journal.JournalEntry.StepOutcome;
import dev.semel.journal.RunJournalStepIndex.StepRecord;
import dev.semel.json.StrictJsonCodec;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a run knows about itself after a restart: scripts of entries, and what they answer. */
@SuppressWarnings("NullAway") // a record that is not there fails the test
final class RunJournalStepIndexTest {
    private static final long AT = 1_800_000_000_000_000L;
    private static final JournalEntry.ErrorDetails PROBLEM =
            new JournalEntry.ErrorDetails("step-failed", List.of(), "no luck");

    private static JournalEntry done(String path) {
        return done(path, EntryKind.STEP, null);
    }

    private static JournalEntry done(String path, EntryKind kind, @Nullable String ref) {
        return new JournalEntry.StepResult(path, kind, AT, StrictJsonCodec.parse("1"), StepOutcome.DONE, 1, ref);
    }

    private static JournalEntry failed(String path, EntryKind kind) {
        return new JournalEntry.StepFailure(path, kind, AT, PROBLEM, 2);
    }

    private static JournalEntry tried(String path, int attempt) {
        return new JournalEntry.AttemptFailure(path, EntryKind.STEP, AT, PROBLEM, attempt, AT + attempt);
    }

    private static JournalEntry begun(String path, EntryKind kind, @Nullable String ref) {
        return new JournalEntry.WaitStart(path, kind, AT, AT + 9, ref);
    }

    private static JournalEntry resumed(int version, String... reopened) {
        return new JournalEntry.RunResumption(AT, "ann", "mended", List.of(reopened), version);
    }

    private static RunJournalStepIndex index(JournalEntry... entries) {
        return new RunJournalStepIndex(List.of(entries));
    }

    private static RunJournalStepIndex ofPaths(@Nullable String paths) {
        return new RunJournalStepIndex(
                paths == null
                        ? List.of()
                        : Arrays.stream(paths.split(" "))
                                .map(RunJournalStepIndexTest::done)
                                .toList());
    }

    @ParameterizedTest(name = "{0}: in \"{1}\" {2}")
    @CsvSource(delimiter = '|', textBlock = """
        # recorded, in this order         | scope    | expected there
        a b c                             | ''       | a b c
        a f[1]/x f[2]/x f[1]/y b          | ''       | a f[] b
        a f[1]/x f[2]/x f[1]/y b          | f[1]/    | f[1]/x f[1]/y
        a f[1]/x f[2]/x f[1]/y b          | f[2]/    | f[2]/x
        f[1]/g[1]/x f[1]/g[2]/x f[1]/y    | ''       | f[]
        f[1]/g[1]/x f[1]/g[2]/x f[1]/y    | f[1]/    | f[1]/g[] f[1]/y
        f[1]/g[1]/x f[2]/g[1]/x           | f[2]/    | f[2]/g[]
        f[1]/g[1]/x f[2]/g[1]/x           | ''       | f[]
        f[1]/g[1]/x a f[1]/y              | ''       | f[] a
        a /undo/a/x                       | ''       | a
        a /undo/a/x                       | /undo/a/ | /undo/a/x
                                          | ''       |
        """)
    void steps_are_expected_in_the_order_of_their_scope(
            @Nullable String recorded, String scope, @Nullable String expected) {
        RunJournalStepIndex index = ofPaths(recorded);
        String[] paths = expected == null ? new String[0] : expected.split(" ");
        for (int i = 0; i < paths.length; i++) {
            assertEquals(paths[i], index.expectedPath(scope, i));
        }
        assertNull(index.expectedPath(scope, paths.length));
    }

    @ParameterizedTest(name = "{0}: {1} {2}")
    @CsvSource(delimiter = '|', textBlock = """
        a         | ''       | true
        a         | f[1]/    | false
        f[1]/x    | f[1]/    | true
        f[1]/x    | ''       | true
        f[2]/x    | f[1]/    | false
        f[1]/g[1]/x | f[1]/  | true
        f[1]/x    | /undo/a/ | false
                  | ''       | false
        """)
    void a_scope_has_records_if_a_step_in_or_below_it_has(@Nullable String recorded, String scope, boolean expected) {
        assertEquals(expected, ofPaths(recorded).hasRecordsIn(scope));
    }

    @Test
    void started_compensations_are_known_by_their_scopes() {
        assertEquals(Set.of(), ofPaths("a f[1]/x").compensationScopes());
        assertEquals(
                Set.of("/undo/a/", "f[1]//undo/x/"),
                ofPaths("a /undo/a/x /undo/a/g[1]/y f[1]//undo/x/z").compensationScopes());
    }

    @Test
    void a_call_is_unfinished_until_its_end_is_recorded() {
        RunJournalStepIndex index = index(
                begun("open", EntryKind.CALL, "run_1"),
                begun("done", EntryKind.CALL, "run_2"),
                done("done", EntryKind.CALL, null),
                begun("failed", EntryKind.CALL, "run_3"),
                failed("failed", EntryKind.CALL),
                begun("unsent", EntryKind.CALL, null),
                begun("sleep", EntryKind.SLEEP, "run_4"),
                tried("tried", 1));
        assertEquals(Map.of("open", "run_1"), index.unfinishedCalls());
    }

    @Test
    void a_signal_is_consumed_by_the_wait_that_it_ended() {
        RunJournalStepIndex index = index(
                done("await", EntryKind.AWAIT, "sig_1"),
                done("approval", EntryKind.APPROVAL, "sig_2"),
                done("timed out", EntryKind.AWAIT, null),
                begun("open", EntryKind.AWAIT, "sig_3"),
                failed("failed", EntryKind.AWAIT),
                done("effect", EntryKind.EFFECT, "run_1"));
        assertEquals(Set.of("sig_1", "sig_2"), index.consumedSignals());
    }

    @Test
    void the_first_recorded_end_of_a_step_counts() {
        RunJournalStepIndex index = index(
                tried("a", 1),
                begun("a", EntryKind.STEP, "ref"),
                failed("a", EntryKind.STEP),
                done("a"),
                tried("a", 9),
                done("b"),
                failed("b", EntryKind.STEP));
        StepRecord a = index.stepAt("a");
        assertEquals(failed("a", EntryKind.STEP), a.failed());
        assertNull(a.done());
        assertEquals(1, a.failedAttempts());
        assertEquals(AT + 9, a.due());
        assertEquals(begun("a", EntryKind.STEP, "ref"), a.started());
        assertEquals(done("b"), index.stepAt("b").done());
        assertNull(index.stepAt("b").failed());
        assertEquals(
                EntryKind.EFFECT,
                index(done("e", EntryKind.EFFECT, null)).stepAt("e").kind());
    }

    @Test
    void an_empty_journal_knows_nothing() {
        RunJournalStepIndex index = index();
        assertTrue(index.isEmpty());
        assertEquals(Map.of(), index.steps());
        assertEquals(Set.of(), index.redoPaths());
        assertFalse(index.mutesNotifications());
        assertFalse(index.hadFailedAttempt());
        assertNull(index.firstUnvisited(Set.of()));
    }

    @Test
    void notes_of_a_replay_are_no_steps() {
        RunJournalStepIndex index = index(
                new JournalEntry.RedoRequest(AT, List.of("b", "a")),
                new JournalEntry.NotificationMute(AT),
                done("a"),
                new JournalEntry.RedoRequest(AT, List.of("c")));
        assertEquals(Set.of("a", "b", "c"), index.redoPaths());
        assertTrue(index.mutesNotifications());
        assertEquals(Set.of("a"), index.steps().keySet());
        assertFalse(index.isEmpty());
        assertEquals("a", index.firstUnvisited(Set.of()));
    }

    @Test
    void a_failed_attempt_stays_known_after_the_step_succeeded() {
        assertTrue(index(tried("a", 1), done("a")).hadFailedAttempt());
        assertTrue(index(failed("a", EntryKind.STEP)).hadFailedAttempt());
        assertTrue(index(done("a"), resumed(1)).hadFailedAttempt());
        assertFalse(index(done("a"), begun("b", EntryKind.SLEEP, null)).hadFailedAttempt());
    }

    @Test
    void a_resumption_takes_back_only_what_was_recorded_before_it() {
        List<JournalEntry> entries = List.of(
                new JournalEntry.NotificationMute(AT),
                tried("a", 1),
                failed("a", EntryKind.STEP),
                done("b"),
                resumed(2, "a"),
                done("a"),
                failed("c", EntryKind.STEP),
                resumed(3, "c"));
        assertEquals(List.of(done("b"), done("a")), ResumedRunJournalReader.effectiveEntries(entries));
        assertEquals(2, ResumedRunJournalReader.count(entries));
        assertEquals(resumed(3, "c"), ResumedRunJournalReader.last(entries));
        assertEquals(resumed(4), ResumedRunJournalReader.last(List.of(resumed(4))));
        assertEquals(3, ResumedRunJournalReader.effectiveVersion(entries, 1));
    }

    @Test
    void a_run_that_was_never_resumed_has_its_own_version_and_entries() {
        List<JournalEntry> entries = List.of(done("a"), failed("b", EntryKind.STEP));
        assertSame(entries, ResumedRunJournalReader.effectiveEntries(entries));
        assertEquals(0, ResumedRunJournalReader.count(entries));
        assertNull(ResumedRunJournalReader.last(entries));
        assertEquals(1, ResumedRunJournalReader.effectiveVersion(entries, 1));
        assertEquals(
                List.of(done("a")),
                ResumedRunJournalReader.effectiveEntries(
                        List.of(new JournalEntry.RedoRequest(AT, List.of("a")), done("a"))));
    }

    /** The number of an execution fences out late writes, so it only rises. */
    @Test
    void executions_after_a_resumption_have_greater_numbers_than_all_before() {
        assertEquals(0, ResumedRunJournalReader.firstClaim(0));
        for (int n = 1; n <= ResumedRunJournalReader.MAX_RESUMPTIONS; n++) {
            int claim = ResumedRunJournalReader.firstClaim(n);
            assertTrue(claim - ResumedRunJournalReader.firstClaim(n - 1) >= 1_000_000);
            assertTrue(ResumedRunJournalReader.isAfterResumption(claim + 1));
        }
        assertFalse(ResumedRunJournalReader.isAfterResumption(1));
        assertFalse(ResumedRunJournalReader.isAfterResumption(1_000_000));
    }
}
