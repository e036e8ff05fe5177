package dev.semel.server.cli;

import static dev.semel.server.cli.ScriptedServer.problem;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.server.cli.command.TerminalJsonFormatter;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** `tail`: each change is notified once, also over a stream that ends and begins anew. */
class RunTailCommandTest {
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

    /** @param stand its status, and how often it was replayed and met by a conflict */
    private static String event(String run, String workflow, String stand) {
        String[] parts = stand.split(" ");
        return "event: run\ndata: {\"run_id\":\"" + run + "\",\"workflow\":\"" + workflow + "\",\"key\":\"k_" + run
                + "\",\"status\":\"" + parts[0] + "\",\"replays\":" + parts[1] + ",\"conflicts\":" + parts[2] + "}\n\n";
    }

    private static ScriptedServer.ScriptedResponse stream(String... events) {
        return new ScriptedServer.ScriptedResponse(
                200, ": keep-alive\n\n" + String.join("", events), Map.of("Content-Type", "text/event-stream"));
    }

    private void script() {
        server.on(
                "GET /v1/tail",
                stream(
                        event("run_1", "pay", "started 0 0"),
                        event("run_1", "pay", "completed 0 0"),
                        event("run_2", "lead", "failed 2 0")),
                stream(
                        event("run_1", "pay", "completed 1 1"),
                        event("run_2", "lead", "failed 2 0"),
                        "data: not json\n\n"));
    }

    @Test
    void each_run_duplicate_and_conflict_is_printed_once() {
        script();
        var result = client.run("tail", "--for", "2s");
        assertEquals(0, result.exit(), result.err());
        assertEquals("""
            run_1  pay  k_run_1  started
            run_1  pay  k_run_1  completed
            run_2  lead  k_run_2  failed
            run_2  lead  k_run_2  ↺ replayed  ×2
            run_1  pay  k_run_1  ↺ replayed
            run_1  pay  k_run_1  ✗ conflict
            """, result.out());
        assertEquals(
                List.of("/v1/tail?seconds=2", "/v1/tail?seconds=1"),
                server.seen.stream().map(ScriptedServer.ReceivedRequest::target).toList());
    }

    @Test
    void filters_exclude_the_rest() {
        script();
        assertEquals(
                "run_1\tpay\tk_run_1\tconflict\n",
                client.run("tail", "--for", "2s", "--only", "conflict", "--plain")
                        .out());
        script();
        assertEquals(
                "run_2\tlead\tk_run_2\tfailed\n",
                client.run("tail", "--for", "1s", "--status", "failed", "--plain")
                        .out());
        var json = client.run("tail", "--for", "1s", "--workflow", "lead", "--only", "replayed", "--json");
        assertEquals(2, TerminalJsonFormatter.parse(json.out()).path("times").asInt(), "one JSON object a line");
        assertEquals(2, client.run("tail", "--only", "everything").exit());
        assertEquals(2, client.run("tail", "--for", "soon").exit());
    }

    @Test
    void missing_permission_or_connection_is_reported_immediately() {
        server.on("GET /v1/tail", problem(403, "forbidden", false));
        assertEquals(7, client.run("tail").exit());
        server.close();
        var gone = client.run("tail");
        assertEquals(8, gone.exit());
        assertTrue(gone.err().contains("connection refused"), gone.err());
    }

    @Test
    void a_broken_stream_is_reconnected() {
        server.on(
                "GET /v1/tail",
                stream(event("run_1", "pay", "started 0 0")),
                ScriptedServer.HANG_UP,
                stream(event("run_1", "pay", "completed 0 0")));
        var result = client.run("tail", "--for", "3s", "--plain");
        assertEquals("run_1\tpay\tk_run_1\tstarted\nrun_1\tpay\tk_run_1\tcompleted\n", result.out());
        assertTrue(result.err().contains("trying again"), result.err());
    }
}
