package dev.semel.journal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.semel.json.Json;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a run remembers comes back as it was, chunk by chunk. */
@SuppressWarnings("NullAway") // a trace that is not there fails the test
final class JournalTest {
    private static final long AT = 1_800_000_000_000_000L;

    private static Entry.Done done(String path, String result) {
        return Entry.Done.plain(path, Entry.Kind.STEP, AT, Json.parse(result));
    }

    @Test
    void entries_come_back_in_their_order_and_to_the_last_digit() {
        List<Entry> entries = List.of(
                done("a", "null"),
                done("b/c[1]", "{\"x\":[1,2.50,9007199254740993,-0.0,1E+400]}"),
                done("ü 😀 \" \\ \n", "\"\\u0000 and ü\""),
                done("", "false"));
        assertEquals(entries, Journal.decode(Journal.encode(entries)));
    }

    @Test
    void an_empty_chunk_is_an_empty_list() {
        assertEquals("[]", Journal.encode(List.of()));
        assertEquals(List.of(), Journal.decode("[]"));
    }

    @Test
    void every_kind_of_entry_comes_back_as_it_was() {
        Entry.Problem problem = new Entry.Problem("step-failed", List.of("a.B", "a.C"), "no \" luck");
        List<Entry> entries = List.of(
                new Entry.Done("a", Entry.Kind.EFFECT, AT, Json.parse("{}"), Entry.How.SUPPRESSED, 3, "run_1"),
                new Entry.Failed("b", Entry.Kind.TX, AT, problem, 2),
                new Entry.Tried("c", Entry.Kind.STEP, AT, problem, 1, AT + 5),
                new Entry.Begun("d", Entry.Kind.SLEEP, AT, AT + 7, null),
                new Entry.Begun("e", Entry.Kind.CALL, AT, 0, "run_2"),
                new Entry.Redo(AT, List.of("a")),
                new Entry.Resumed(AT, "ann", "no \" luck", List.of("b", "c"), 3));
        assertEquals(entries, Journal.decode(Journal.encode(entries)));
    }

    @Test
    void of_two_records_of_one_step_the_first_counts() {
        Memory memory = new Memory(List.of(done("a", "1"), done("b", "2"), done("a", "3")));
        assertEquals("a", memory.expected("", 0));
        assertEquals("b", memory.expected("", 1));
        assertNull(memory.expected("", 2));
        assertEquals(done("a", "1"), memory.at("a").done());
    }

    @Test
    void what_a_resumption_opened_is_asked_for_anew_and_all_else_stands() {
        Entry.Problem problem = new Entry.Problem("step-failed", List.of(), "no luck");
        List<Entry> before = List.of(
                done("a", "1"),
                new Entry.Tried("b", Entry.Kind.STEP, AT, problem, 1, AT + 5),
                new Entry.Failed("b", Entry.Kind.STEP, AT, problem, 2));
        List<Entry> opened = new java.util.ArrayList<>(before);
        opened.add(new Entry.Resumed(AT, "ann", "mended", List.of("b"), 1));
        Memory memory = new Memory(opened);
        assertEquals(done("a", "1"), memory.at("a").done());
        assertNull(memory.at("b"));
        assertNull(memory.expected("", 1));
        opened.add(done("b", "2"));
        assertEquals(done("b", "2"), new Memory(opened).at("b").done());
        assertEquals(true, new Memory(opened).stumbled(), "it failed on the way");
        assertEquals(1, Resumptions.count(opened));
        assertEquals(before, Resumptions.settled(before));
    }

    @Test
    void a_recorded_null_is_a_result() {
        assertEquals(
                done("a", "null"),
                new Memory(List.of(done("a", "null"))).at("a").done());
    }

    @Test
    void attempts_and_waits_add_up_until_the_end() {
        Entry.Problem problem = new Entry.Problem("x", List.of("y"), "z");
        Memory memory = new Memory(List.of(
                new Entry.Tried("a", Entry.Kind.STEP, AT, problem, 1, 10),
                new Entry.Tried("a", Entry.Kind.STEP, AT, problem, 2, 20),
                new Entry.Begun("w[k]/s", Entry.Kind.SLEEP, AT, 30, null)));
        assertEquals(2, memory.at("a").tries());
        assertEquals(20, memory.at("a").due());
        assertEquals("w[k]/s", memory.expected("w[k]/", 0));
        assertEquals("a", memory.leftOver(java.util.Set.of("w[k]/s")));
        assertNull(memory.leftOver(java.util.Set.of("a", "w[k]/s")));
    }

    @Test
    void a_broken_chunk_is_not_read_as_an_empty_one() {
        for (String broken : List.of("", "[", "[{}]", "[{\"step\":\"a\",\"at\":1}]")) {
            assertThrows(RuntimeException.class, () -> Journal.decode(broken), broken);
        }
    }
}
