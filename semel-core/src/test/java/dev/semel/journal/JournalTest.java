package dev.semel.journal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.semel.json.Json;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** What a run remembers comes back as it was, chunk by chunk. */
final class JournalTest {
    private static Entry.StepDone done(String path, String result) {
        return new Entry.StepDone(path, 1_800_000_000_000_000L, Json.parse(result));
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
    void of_two_records_of_one_step_the_first_counts() {
        Map<String, JsonNode> results = Journal.results(List.of(done("a", "1"), done("b", "2"), done("a", "3")));
        assertEquals(List.of("a", "b"), List.copyOf(results.keySet()));
        assertEquals(Json.parse("1"), results.get("a"));
    }

    @Test
    void a_recorded_null_is_a_result() {
        assertEquals(
                Json.parse("null"), Journal.results(List.of(done("a", "null"))).get("a"));
    }

    @Test
    void a_broken_chunk_is_not_read_as_an_empty_one() {
        for (String broken : List.of("", "[", "[{}]", "[{\"step\":\"a\",\"at\":1}]")) {
            assertThrows(RuntimeException.class, () -> Journal.decode(broken), broken);
        }
    }
}
