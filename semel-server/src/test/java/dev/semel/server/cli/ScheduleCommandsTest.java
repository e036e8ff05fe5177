package dev.semel.server.cli;

import static dev.semel.server.cli.ScriptedServer.json;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ScheduleCommandsTest {
    private static final String DATE = "Sun, 15 Nov 2026 09:15:00 GMT";
    private static final String ONE = """
        {"workflow_id":"wf_1","workflow":"billing","schedule":"nightly","paused":true,"next_at":"2026-11-16T01:30:00Z",
         "fires_at":"2026-11-16T01:30:07Z","last_run_id":"run_1","running":false,
         "spec":{"cron":"30 2 * * *","zone":"Europe/Berlin"},"next":["2026-11-16T01:30:00Z"],
         "ticks":[{"scheduled_at":"2026-11-15T01:30:00Z","status":"skipped","reason":"overlap","run_id":"run_1",
           "at":"2026-11-15T09:12:00Z","through":null}]}\
        """;

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

    @Test
    void schedules_lists_when_each_fires_next() {
        server.on(
                "GET /v1/schedules",
                json(200, "{\"items\":[" + ONE + "],\"next\":null}").with("Date", DATE));
        var result = client.run("schedule", "list");
        assertEquals(0, result.exit(), result.err());
        assertTrue(
                result.out().contains("billing   nightly   30 2 * * *  Europe/Berlin  paused  in 16 h 15 m"),
                result.out());
    }

    @Test
    void a_schedule_shows_its_times_and_ticks() {
        server.on("GET /v1/workflows/billing/schedules/nightly", json(200, ONE).with("Date", DATE));
        var result = client.run("schedule", "show", "billing", "nightly", "--next", "1");
        assertEquals(0, result.exit(), result.err());
        assertEquals(
                "/v1/workflows/billing/schedules/nightly?next=1",
                server.seen.getFirst().target());
        assertTrue(result.out().startsWith("billing › nightly (paused)"), result.out());
        assertTrue(result.out().contains("2026-11-15T01:30:00Z  skipped  overlap  run_1  3 m ago"), result.out());
    }

    @Test
    void a_schedule_is_paused_and_missed_ticks_are_backfilled() {
        server.on("POST /v1/workflows/billing/schedules/nightly/pause", json(200, ONE));
        assertTrue(client.run("schedule", "pause", "billing", "nightly").out().contains("is paused"));
        server.on(
                "POST /v1/workflows/billing/schedules/nightly/backfill",
                json(200, "{\"ticks\":[],\"started\":0,\"already_done\":7}"));
        var result = client.run(
                "schedule",
                "backfill",
                "billing",
                "nightly",
                "--from",
                "2026-11-01T00:00:00Z",
                "--to",
                "2026-11-08T00:00:00Z");
        assertEquals(0, result.exit(), result.err());
        assertTrue(result.out().contains("0 started, 7 had a run already"), result.out());
        assertEquals(2, client.run("schedule").exit());
    }
}
