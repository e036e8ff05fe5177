package dev.semel.server.services;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.runtime.SemelRuntime;
import dev.semel.runtime.RuntimeOptions;
import dev.semel.json.StrictJson;
import dev.semel.server.api.FileWorkflow;
import dev.semel.server.steps.DigestCollector;
import dev.semel.server.steps.StepServices;
import dev.semel.store.StoreCommand;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** What is gathered from many runs, on a real store; the runs themselves are not there, so each next item leads. */
class WorkspaceDigestsTest {
    private static final InstantSource NOON = InstantSource.fixed(Instant.parse("2026-05-04T12:00:00Z"));

    @TempDir
    Path folder = Path.of("");

    private SemelRuntime semel;
    private DigestCollector digests;

    @BeforeEach
    void open() {
        semel = SemelRuntime.open(RuntimeOptions.of(
                "sqlite:" + folder.resolve("semel.db"),
                version -> FileWorkflow.compile(version, _ -> StepServices.UNAVAILABLE)));
        int workspace =
                semel.change(new StoreCommand.CreateWorkspace("one", new byte[32])).ws();
        digests = new WorkspaceDigests(semel, workspace, NOON);
    }

    @AfterEach
    void close() {
        semel.close();
    }

    private static DigestCollector.DigestItem item(String id) {
        return new DigestCollector.DigestItem("sales", id, "run-of-" + id, StrictJson.parse("\"" + id + "\""));
    }

    @Test
    void of_two_who_would_send_a_batch_the_one_that_closes_it_does() {
        JsonNode first = digests.collect(item("a"));
        JsonNode second = digests.collect(item("b"));
        assertTrue(first.path("leader").booleanValue() && second.path("leader").booleanValue(), second.toString());
        assertEquals("{\"items\":[\"a\",\"b\"],\"count\":2}", StrictJson.write(digests.close(item("b"), 1)));
        assertEquals("{\"sent_by\":\"run-of-b\"}", StrictJson.write(digests.close(item("a"), 1)), "and the other is told");
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
