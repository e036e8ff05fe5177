package dev.semel.server.services;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.engine.EngineLimits;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJsonCodec;
import dev.semel.runtime.RuntimeOptions;
import dev.semel.runtime.SemelRuntime;
import dev.semel.server.api.PublishedYamlWorkflow;
import dev.semel.server.steps.NotificationDigestCollector;
import dev.semel.server.steps.YamlStepDependencies;
import dev.semel.store.StoreWriteCommand;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** What is gathered from many runs, on a real store; the runs themselves are not there, so each next item leads. */
class WorkspaceDigestCollectorTest {
    private static final InstantSource NOON = InstantSource.fixed(Instant.parse("2026-05-04T12:00:00Z"));

    @TempDir
    Path folder = Path.of("");

    private SemelRuntime semel;
    private NotificationDigestCollector digests;

    @BeforeEach
    void open() {
        semel = SemelRuntime.open(RuntimeOptions.of(
                "sqlite:" + folder.resolve("semel.db"),
                version -> PublishedYamlWorkflow.compile(version, _ -> YamlStepDependencies.UNAVAILABLE)));
        int workspace = semel.change(new StoreWriteCommand.CreateWorkspace("one", new byte[32]))
                .ws();
        digests = new WorkspaceDigestCollector(semel, workspace, NOON);
    }

    @AfterEach
    void close() {
        semel.close();
    }

    private static NotificationDigestCollector.DigestItem item(String id) {
        return new NotificationDigestCollector.DigestItem(
                "sales", id, "run-of-" + id, StrictJsonCodec.parse("\"" + id + "\""));
    }

    @Test
    void of_two_runs_that_would_send_a_digest_the_one_that_closes_it_sends() {
        JsonNode first = digests.collect(item("a"));
        JsonNode second = digests.collect(item("b"));
        assertTrue(first.path("leader").booleanValue() && second.path("leader").booleanValue(), second.toString());
        assertEquals("{\"items\":[\"a\",\"b\"],\"count\":2}", StrictJsonCodec.write(digests.close(item("b"), 1)));
        assertEquals(
                "{\"sent_by\":\"run-of-b\"}",
                StrictJsonCodec.write(digests.close(item("a"), 1)),
                "and the other is notified");
        assertEquals(2, digests.close(item("b"), 1).path("count").intValue(), "asked again it answers the same");
    }

    @Test
    void an_item_is_added_once_and_a_late_one_goes_into_the_next_batch() {
        digests.collect(item("a"));
        JsonNode again = digests.collect(item("a"));
        assertEquals("2026-05-04T12:00:00Z", again.path("opened_at").asString());
        assertEquals(1, digests.close(item("a"), 1).path("count").intValue());
        assertEquals(1, digests.collect(item("a")).path("batch").intValue(), "it was sent with the first");
        assertEquals(2, digests.collect(item("c")).path("batch").intValue());
    }

    @Test
    void everything_that_a_digest_accepts_fits_into_the_recorded_result_of_its_close() {
        // A quote needs two characters in JSON, so the text of the items is twice as long as the items.
        String value = "\"".repeat(20_000);
        int accepted = 0;
        SemelException full = null;
        while (full == null && accepted < 1_000) {
            try {
                digests.collect(new NotificationDigestCollector.DigestItem(
                        "sales", "i" + accepted, "run", JsonNodeFactory.instance.stringNode(value)));
                accepted++;
            } catch (SemelException rejected) {
                full = rejected;
            }
        }
        assertEquals(ErrorCode.PAYLOAD_TOO_LARGE, full == null ? null : full.code());
        JsonNode closed = digests.close(
                new NotificationDigestCollector.DigestItem(
                        "sales", "i0", "run", JsonNodeFactory.instance.stringNode(value)),
                1);
        assertEquals(accepted, closed.path("count").intValue());
        int recorded = StrictJsonCodec.write(closed).length();
        assertTrue(recorded <= EngineLimits.DEFAULT.stepResultBytes(), accepted + " items, " + recorded);
        assertTrue(recorded > EngineLimits.DEFAULT.stepResultBytes() / 2, accepted + " items, " + recorded);
    }
}
