package dev.semel.server.cli;

import static dev.semel.server.cli.ScriptedServer.json;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class MonitoringCommandsTest {
    private static final String DATE = "Sun, 15 Nov 2026 09:15:04 GMT";
    private static final String SIGNALS = """
        {"conflict_rate":{"rate":0.0002,"conflicts":2,"keyed_triggers":11731},
         "duplicates_prevented":{"count":53,"replayed_requests":51,"suppressed_effects":2,
           "amount_saved":[{"currency":"USD","amount":2433.5}]},
         "retry_recoveries":{"count":118},"expired_key_retries":{"count":3},
         "writes_versus_objects":{"writes":11740,"writes_with_object":11734,"objects":11732,"ratio":1.0002},
         "additional":{"in_doubt":{"count":3,"oldest_at":"2026-11-15T08:34:04Z"},"unprotected_effects":2,
           "requests_without_key":1,"triggers":11732},
         "advice":[{"kind":"window","workflow":"pay","message":"window: 48h would have caught all 3."}]}\
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
    void monitoring_shows_five_metrics_and_says_what_to_do() {
        server.on("GET /v1/monitoring", json(200, SIGNALS).with("Date", DATE));
        var result = client.run("monitoring", "show", "--since", "7d", "pay");
        assertEquals(0, result.exit(), result.err());
        assertEquals(
                "/v1/monitoring?since=7d&workflow=pay", server.seen.getFirst().target());
        assertTrue(result.out().contains("0.02 %"), result.out());
        assertTrue(result.out().contains("51 requests, 2 effects, amount saved 2433.5 USD"), result.out());
        assertTrue(result.out().contains("11734 : 11732"), result.out());
        assertTrue(result.err().contains("in doubt 3, the oldest 41 m ago"), result.err());
        assertTrue(result.err().contains("pay: window: 48h would have caught all 3."), result.err());
    }

    @Test
    void objects_lists_what_was_written_more_than_once() {
        server.on("GET /v1/objects", json(200, """
            {"items":[{"object":"order 10391","workflow":"pay","writes":2,"first_at":"2026-11-15T09:12:04Z",
              "last_at":"2026-11-15T09:14:04Z","list":"/v1/facts"}],"next":null}\
            """).with("Date", DATE));
        var result = client.run("object", "list");
        assertEquals(0, result.exit(), result.err());
        assertEquals(
                "/v1/objects?since=24h&having=writes%3E1&limit=50",
                server.seen.getFirst().target());
        assertTrue(result.out().contains("order 10391  2       pay       3 m ago  1 m ago"), result.out());
    }

    @Test
    void backtest_prints_a_row_for_each_window() {
        server.on("POST /v1/backtests", json(200, """
            {"workflow":"pay","step":null,"examined":40,"since":null,"window":"24h",
             "windows":[{"window":"12h","runs":31,"replayed":9},{"window":"48h","runs":28,"replayed":12}]}\
            """));
        var result = client.run("workflow", "backtest", "pay", "--window", "12h,48h");
        assertEquals(0, result.exit(), result.err());
        assertEquals(
                "{\"workflow\":\"pay\",\"windows\":[\"12h\",\"48h\"]}",
                server.seen.getFirst().body());
        assertTrue(result.out().contains("48h     28    12"), result.out());
        assertTrue(result.err().contains("40 requests evaluated; the current window is 24h"), result.err());
    }

    @Test
    void alerts_lists_firing_alerts_and_why_nobody_was_notified() {
        server.on("GET /v1/alerts", json(200, """
            {"items":[{"name":"many","version":1,"document":{"metric":"conflict_rate","above":"5%","over":"10m",
              "channel":"ops","to":"on-call"}}],"next":null}\
            """).with("Date", DATE));
        server.on("GET /v1/alerts/many/state", json(200, """
            {"name":"many","firing":true,"since":"2026-11-15T09:12:04Z","notified":false,"notify_error":"There is no channel ops."}\
            """));
        var result = client.run("alert", "list");
        assertEquals(0, result.exit(), result.err());
        assertTrue(result.out().contains("many   firing  3 m ago  conflict_rate  5%"), result.out());
        assertTrue(result.out().contains("There is no channel ops."), result.out());
    }
}
