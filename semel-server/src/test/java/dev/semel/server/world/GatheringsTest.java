package dev.semel.server.world;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.Semel;
import dev.semel.Settings;
import dev.semel.json.Json;
import dev.semel.server.api.FileWorkflow;
import dev.semel.server.steps.Digests;
import dev.semel.server.steps.Outside;
import dev.semel.store.Edit;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** What is gathered from many runs, on a real store; the runs themselves are not there, so each next item leads. */
class GatheringsTest {
    private static final InstantSource NOON = InstantSource.fixed(Instant.parse("2026-05-04T12:00:00Z"));

    @TempDir
    Path folder = Path.of("");

    private Semel semel;
    private Digests digests;

    @BeforeEach
    void open() {
        semel = Semel.open(Settings.of(
                "sqlite:" + folder.resolve("semel.db"), version -> FileWorkflow.compile(version, _ -> Outside.NOWHERE)));
        int workspace =
                semel.change(new Edit.OpenWorkspace("one", new byte[32])).ws();
        digests = new Gatherings(semel, workspace, NOON);
    }

    @AfterEach
    void close() {
        semel.close();
    }

    private static Digests.Item item(String id) {
        return new Digests.Item("sales", id, "run-of-" + id, Json.parse("\"" + id + "\""));
    }

    @Test
    void of_two_who_would_send_a_batch_the_one_that_closes_it_does() {
        JsonNode first = digests.collect(item("a"));
        JsonNode second = digests.collect(item("b"));
        assertTrue(first.path("leader").booleanValue() && second.path("leader").booleanValue(), second.toString());
        assertEquals("{\"items\":[\"a\",\"b\"],\"count\":2}", Json.write(digests.close(item("b"), 1)));
        assertEquals("{\"sent_by\":\"run-of-b\"}", Json.write(digests.close(item("a"), 1)), "and the other is told");
        assertEquals(2, digests.close(item("b"), 1).path("count").intValue(), "asked again it answers the same");
    }

    @Test
    void an_item_is_there_once_and_one_that_comes_behind_the_end_goes_into_the_next_batch() {
        digests.collect(item("a"));
        JsonNode again = digests.collect(item("a"));
        assertEquals("2026-05-04T12:00:00Z", again.path("opened_at").asString());
        assertEquals(1, digests.close(item("a"), 1).path("count").intValue());
        assertEquals(1, digests.collect(item("a")).path("batch").intValue(), "it was sent with the first");
        assertEquals(2, digests.collect(item("c")).path("batch").intValue());
    }
}
