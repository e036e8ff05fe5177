package dev.semel.server.cli;

import static dev.semel.server.cli.ScriptedServer.HANG_UP;
import static dev.semel.server.cli.ScriptedServer.json;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class InboundEventCommandTest {
    private static final String EVENTS = "POST /v1/events";

    private ScriptedServer server;
    private CliTestTerminal client;

    @BeforeEach
    void open() throws IOException {
        server = new ScriptedServer();
        client = new CliTestTerminal(server);
    }

    @AfterEach
    void close() {
        server.close();
    }

    private static ScriptedServer.ScriptedResponse answer(boolean replayed) {
        return json(
                200,
                "{\"event\":{\"event_id\":\"evt_1\"},\"matched\":1,\"runs\":[{\"workflow\":\"pay\",\"run_id\":\"run_1\","
                    + "\"idempotent_replayed\":" + replayed + "}]}");
    }

    @Test
    void an_event_carries_its_attributes_and_data_as_typed() {
        server.on(EVENTS, answer(false));
        var result = client.run(
                "event", "send", "paid", "--id", "1", "--source", "/shop", "--data", "{\"id\":9007199254740993}");
        assertEquals(0, result.exit(), result.err());
        assertEquals(
                "{\"type\":\"paid\",\"source\":\"/shop\",\"id\":\"1\",\"data\":{\"id\":9007199254740993}}",
                server.seen.getFirst().body());
        assertEquals("run_1 pay\n", result.out());
        assertTrue(result.err().contains("next: semel event show evt_1"), result.err());
    }

    @Test
    void an_event_sent_twice_is_replayed() {
        server.on(EVENTS, answer(false), answer(true));
        var result = client.run("event", "send", "paid", "--id", "1", "--times", "2", "--plain");
        assertEquals("pay\trun_1\tnew\npay\trun_1\treplayed\n", result.out());
    }

    @Test
    void an_event_without_a_response_is_resent_because_it_has_an_id() {
        server.on(EVENTS, HANG_UP, answer(true));
        var result = client.run("event", "send", "paid", "--id", "1");
        assertEquals(0, result.exit(), result.err());
        assertEquals(2, server.seen.size());
        assertEquals(server.seen.get(0).body(), server.seen.get(1).body());
    }

    @Test
    void a_rejection_by_a_workflow_is_shown_and_fails_the_command() {
        server.on(
                EVENTS,
                json(
                        200,
                        "{\"event\":{\"event_id\":\"evt_1\"},\"matched\":1,\"runs\":[{\"workflow\":\"pay\",\"run_id\":null,\"problem\":{\"detail\":\"It"
                            + " does not fit.\"}}]}"));
        var result = client.run("event", "send", "paid", "--id", "1");
        assertEquals(1, result.exit());
        assertTrue(result.err().contains("pay: It does not fit."), result.err());
    }

    @Test
    void an_id_is_required() {
        assertEquals(2, client.run("event", "send", "paid").exit());
        assertEquals(
                2,
                client.run("event", "send", "paid", "--id", "1", "--times", "0").exit());
    }

    @Test
    void events_are_listed_by_filter() {
        server.on(
                "GET /v1/events",
                json(
                        200,
                        "{\"items\":[{\"event_id\":\"evt_1\",\"type\":\"paid\",\"source\":\"/shop\",\"id\":\"1\","
                                + "\"matched\":0}],\"next\":null}"));
        var result = client.run("event", "list", "--unmatched", "--since", "2h");
        assertEquals(0, result.exit(), result.err());
        assertTrue(result.out().contains("evt_1"), result.out());
    }

    @Test
    void reprocessing_sends_the_filter_and_labels_a_dry_run() {
        server.on("POST /v1/events/reprocess", json(200, "{\"items\":[],\"next\":null,\"dry_run\":true}"));
        var result = client.run("event", "reprocess", "--unmatched", "--type", "paid", "--dry-run");
        assertEquals(0, result.exit(), result.err());
        assertEquals(
                "{\"dry_run\":true,\"unmatched\":true,\"type\":\"paid\",\"limit\":50}",
                server.seen.getFirst().body());
    }
}
