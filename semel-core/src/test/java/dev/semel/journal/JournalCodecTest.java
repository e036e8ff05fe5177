package dev.semel.journal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.semel.json.StrictJsonCodec;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.node.ObjectNode;

/** What a run remembers comes back as it was, chunk by chunk. */
@SuppressWarnings("NullAway") // a trace that is not there fails the test
final class JournalCodecTest {
    private static final long AT = 1_800_000_000_000_000L;

    private static JournalEntry.StepResult done(String path, String result) {
        return JournalEntry.StepResult.plain(path, JournalEntry.EntryKind.STEP, AT, StrictJsonCodec.parse(result));
    }

    @Test
    void entries_keep_their_order_and_every_digit() {
        List<JournalEntry> entries = List.of(
                done("a", "null"),
                done("b/c[1]", "{\"x\":[1,2.50,9007199254740993,-0.0,1E+400]}"),
                done("ü 😀 \" \\ \n", "\"\\u0000 and ü\""),
                done("", "false"));
        assertEquals(entries, JournalCodec.decode(JournalCodec.encode(entries)));
    }

    @Test
    void an_empty_chunk_is_an_empty_list() {
        assertEquals("[]", JournalCodec.encode(List.of()));
        assertEquals(List.of(), JournalCodec.decode("[]"));
    }

    @Test
    void every_kind_of_entry_is_read_back_unchanged() {
        JournalEntry.ErrorDetails problem =
                new JournalEntry.ErrorDetails("step-failed", List.of("a.B", "a.C"), "no \" luck");
        List<JournalEntry> entries = List.of(
                new JournalEntry.StepResult(
                        "a",
                        JournalEntry.EntryKind.EFFECT,
                        AT,
                        StrictJsonCodec.parse("{}"),
                        JournalEntry.StepOutcome.SUPPRESSED,
                        3,
                        "run_1"),
                new JournalEntry.StepFailure("b", JournalEntry.EntryKind.TX, AT, problem, 2),
                new JournalEntry.AttemptFailure("c", JournalEntry.EntryKind.STEP, AT, problem, 1, AT + 5),
                new JournalEntry.WaitStart("d", JournalEntry.EntryKind.SLEEP, AT, AT + 7, null),
                new JournalEntry.WaitStart("e", JournalEntry.EntryKind.CALL, AT, 0, "run_2"),
                new JournalEntry.RedoRequest(AT, List.of("a")),
                new JournalEntry.NotificationMute(AT),
                new JournalEntry.RunResumption(AT, "ann", "no \" luck", List.of("b", "c"), 3));
        assertEquals(entries, JournalCodec.decode(JournalCodec.encode(entries)));
    }

    /** Stored journals are read after an upgrade. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "[{\"step\":\"a\",\"at\":1,\"result\":{\"x\":2.50}}]",
                "[{\"step\":\"a\",\"at\":1,\"kind\":\"effect\",\"result\":1,\"outcome\":\"found\",\"attempts\":2,\"ref\":\"r\"}]",
                "[{\"step\":\"a\",\"at\":1,\"attempts\":2,"
                        + "\"error\":{\"code\":\"step-failed\",\"message\":\"no\",\"types\":[\"a.B\"]}}]",
                "[{\"step\":\"a\",\"at\":1,\"attempt\":1,\"due\":5,"
                        + "\"error\":{\"code\":\"step-failed\",\"message\":\"no\",\"types\":[]}}]",
                "[{\"step\":\"a\",\"at\":1,\"kind\":\"sleep\",\"due\":5}]",
                "[{\"step\":\"a\",\"at\":1,\"kind\":\"call\",\"due\":0,\"ref\":\"run_2\"}]",
                "[{\"step\":\"\",\"at\":1,\"resumed_by\":\"ann\",\"reason\":\"r\",\"version\":3,\"reopened\":[\"b\"]}]",
                "[{\"step\":\"\",\"at\":1,\"redo\":[\"a\"]}]",
                "[{\"step\":\"\",\"at\":1,\"notifications_muted\":true}]",
            })
    void the_stored_form_of_a_journal_is_stable(String chunk) {
        assertEquals(chunk, JournalCodec.encode(JournalCodec.decode(chunk)));
    }

    @Test
    void a_whole_journal_is_read_chunk_by_chunk() {
        JournalEntry.WaitStart wait = new JournalEntry.WaitStart("w", JournalEntry.EntryKind.SLEEP, AT, 9, null);
        List<String> chunks = List.of(
                JournalCodec.encode(List.of(done("a", "{\"x\":[1]}"), wait)),
                JournalCodec.encode(List.of(done("b", "2"))));
        List<JournalEntry> entries = JournalCodec.decodeAll(chunks);
        assertEquals(
                List.of("a", "w", "b"), entries.stream().map(JournalEntry::path).toList());
        JournalEntry.StepResult first = (JournalEntry.StepResult) entries.getFirst();
        assertEquals(StrictJsonCodec.parse("{\"x\":[1]}"), first.result());
        ObjectNode copy = (ObjectNode) first.copyOfResult();
        copy.put("x", 2);
        assertEquals(StrictJsonCodec.parse("{\"x\":[1]}"), first.result(), "a caller changes only its copy");
        assertEquals(wait, entries.get(1));
        assertEquals(List.of(), JournalCodec.decodeAll(List.of()));
    }

    @Test
    void of_two_records_of_one_step_the_first_applies() {
        RunJournalStepIndex memory = new RunJournalStepIndex(List.of(done("a", "1"), done("b", "2"), done("a", "3")));
        assertEquals("a", memory.expectedPath("", 0));
        assertEquals("b", memory.expectedPath("", 1));
        assertNull(memory.expectedPath("", 2));
        assertEquals(done("a", "1"), memory.stepAt("a").done());
    }

    @Test
    void a_resumption_reopens_its_steps_and_keeps_the_others() {
        JournalEntry.ErrorDetails problem = new JournalEntry.ErrorDetails("step-failed", List.of(), "no luck");
        List<JournalEntry> before = List.of(
                done("a", "1"),
                new JournalEntry.AttemptFailure("b", JournalEntry.EntryKind.STEP, AT, problem, 1, AT + 5),
                new JournalEntry.StepFailure("b", JournalEntry.EntryKind.STEP, AT, problem, 2));
        List<JournalEntry> opened = new java.util.ArrayList<>(before);
        opened.add(new JournalEntry.RunResumption(AT, "ann", "mended", List.of("b"), 1));
        RunJournalStepIndex memory = new RunJournalStepIndex(opened);
        assertEquals(done("a", "1"), memory.stepAt("a").done());
        assertNull(memory.stepAt("b"));
        assertNull(memory.expectedPath("", 1));
        opened.add(done("b", "2"));
        assertEquals(done("b", "2"), new RunJournalStepIndex(opened).stepAt("b").done());
        assertEquals(true, new RunJournalStepIndex(opened).hadFailedAttempt(), "it failed on the way");
        assertEquals(1, ResumedRunJournalReader.count(opened));
        assertEquals(before, ResumedRunJournalReader.effectiveEntries(before));
    }

    @Test
    void a_recorded_null_is_a_result() {
        assertEquals(
                done("a", "null"),
                new RunJournalStepIndex(List.of(done("a", "null"))).stepAt("a").done());
    }

    @Test
    void attempts_and_waits_accumulate_until_the_end() {
        JournalEntry.ErrorDetails problem = new JournalEntry.ErrorDetails("x", List.of("y"), "z");
        RunJournalStepIndex memory = new RunJournalStepIndex(List.of(
                new JournalEntry.AttemptFailure("a", JournalEntry.EntryKind.STEP, AT, problem, 1, 10),
                new JournalEntry.AttemptFailure("a", JournalEntry.EntryKind.STEP, AT, problem, 2, 20),
                new JournalEntry.WaitStart("w[k]/s", JournalEntry.EntryKind.SLEEP, AT, 30, null)));
        assertEquals(2, memory.stepAt("a").failedAttempts());
        assertEquals(20, memory.stepAt("a").due());
        assertEquals("w[k]/s", memory.expectedPath("w[k]/", 0));
        assertEquals("a", memory.firstUnvisited(java.util.Set.of("w[k]/s")));
        assertNull(memory.firstUnvisited(java.util.Set.of("a", "w[k]/s")));
    }

    @Test
    void a_broken_chunk_is_not_read_as_an_empty_one() {
        for (String broken : List.of("", "[", "[{}]", "[{\"step\":\"a\",\"at\":1}]")) {
            assertThrows(RuntimeException.class, () -> JournalCodec.decode(broken), broken);
        }
    }
}
