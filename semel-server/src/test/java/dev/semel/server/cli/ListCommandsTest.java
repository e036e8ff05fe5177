package dev.semel.server.cli;

import static dev.semel.server.cli.ScriptedServer.json;
import static dev.semel.server.cli.ScriptedServer.problem;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ListCommandsTest {
    private static final String DATE = "Sun, 15 Nov 2026 09:15:04 GMT";
    private static final String RUNS = """
        {"items":[{"run_id":"run_1","workflow":"pay","status":"completed","key":"evt_1",
          "created_at":"2026-11-15T09:12:04Z","requests":[{"kind":"started"},{"kind":"replayed"},{"kind":"conflict"}],
          "replays":31,"conflicts":1}],"next":"c 2"}\
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
    void runs_shows_true_counts_and_times_by_the_servers_clock() {
        server.on("GET /v1/runs", json(200, RUNS).with("Date", DATE));
        var result = client.run("runs", "status:completed", "key:evt_1", "--limit", "5");
        assertEquals(0, result.exit(), result.err());
        assertEquals(
                "/v1/runs?limit=5&q=status%3Acompleted%20key%3Aevt_1",
                server.seen.getFirst().target());
        assertEquals(
                "RUN    STATUS     WORKFLOW  KEY    REQUESTS  CREATED",
                result.out().lines().findFirst().orElseThrow());
        assertTrue(result.out().contains("run_1  completed  pay       evt_1  1 ↺31 ✗1  3 m ago"), result.out());
        assertTrue(result.err().contains("--after 'c 2'"), result.err());
    }

    @Test
    void keys_of_one_workflow_are_listed_with_the_next_command() {
        server.on("GET /v1/keys", json(200, """
            {"items":[{"idempotency_key":"evt_1","status":"active","operation_name":"pay","run_id":"run_1",
              "run_status":"completed","replays":2,"conflicts":0,"created_at":"2026-11-15T09:12:04Z"}],"next":"c"}\
            """).with("Date", DATE));
        var result = client.run("key", "list", "evt_", "--workflow", "pay", "--limit", "1");
        assertEquals(0, result.exit(), result.err());
        assertEquals(
                "/v1/keys?prefix=evt_&workflow=pay&limit=1",
                server.seen.getFirst().target());
        assertTrue(
                result.out().contains("evt_1  active  pay       run_1  completed   2         0          3 m ago"),
                result.out());
        assertTrue(result.err().contains("semel key list evt_ --workflow pay --after c"), result.err());
    }

    private static final String WORKERS = """
        {"items":[{"worker":"7@a:8085","worker_id":"wk_0000000000000007","version":"0.1.0","status":"live","current":true,
          "started_at":"2026-11-15T09:12:04Z","renewed_at":"2026-11-15T09:15:03Z","lease_until":"2026-11-15T09:15:12Z",
          "runs":12,"clock_ahead_ms":3600000},
         {"worker":"8@b:8085","worker_id":"wk_0000000000000008","version":null,"status":"expired","current":false,
          "started_at":"2026-11-15T09:15:00Z","renewed_at":null,"lease_until":"2026-11-15T09:15:01Z",
          "runs":0,"clock_ahead_ms":-2}],"next":null,"lag_ms":61000}\
        """;

    @Test
    void workers_shows_leases_wrong_clocks_and_how_late_the_oldest_run_is() {
        server.on("GET /v1/workers", json(200, WORKERS).with("Date", DATE));
        var result = client.run("worker", "list");
        assertEquals(0, result.exit(), result.err());
        assertEquals("""
            WORKER    STATUS   VERSION  RUNS  SINCE    LEASE            CLOCK
            7@a:8085  live     0.1.0    12    3 m ago  8 s left         1 h ahead
            8@b:8085  expired           0     4 s ago  expired 3 s ago
            """, result.out());
        assertTrue(result.err().contains("has waited 1 m 1 s"), result.err());
    }

    @Test
    void workers_in_plain_mode_has_full_times_and_no_extra_text() {
        server.on("GET /v1/workers", json(200, WORKERS).with("Date", DATE));
        var result = client.run("worker", "list", "--plain");
        assertEquals(
                "7@a:8085\tlive\t0.1.0\t12\t2026-11-15T09:12:04Z\t2026-11-15T09:15:12Z\t3600000",
                result.out().lines().findFirst().orElseThrow());
        assertEquals("", result.err());
    }

    @Test
    void an_empty_worker_list_is_explained() {
        server.on("GET /v1/workers", json(200, "{\"items\":[],\"next\":null,\"lag_ms\":0}"));
        var result = client.run("worker", "list");
        assertEquals("", result.out());
        assertTrue(result.err().contains("no run is executed"), result.err());
    }

    @Test
    void plain_output_is_tabs_and_full_times_without_extra_text() {
        server.on("GET /v1/workflows/pay/runs", json(200, RUNS));
        var result = client.run("runs", "--workflow", "pay", "--plain");
        assertEquals("run_1\tcompleted\tpay\tevt_1\t1 ↺31 ✗1\t2026-11-15T09:12:04Z\n", result.out());
        assertFalse(result.err().contains("next:"));
    }

    @Test
    void an_empty_list_says_how_to_fill_it() {
        server.on("GET /v1/runs", json(200, "{\"items\":[],\"next\":null}"));
        var result = client.run("runs");
        assertEquals("", result.out());
        assertTrue(result.err().contains("semel send"), result.err());
    }

    @ParameterizedTest
    @ValueSource(strings = {"run list", "workflow list", "request list", "token list", "replay list"})
    void json_is_one_document_on_stdout(String command) {
        server.on("GET /v1/" + command.replace(" list", "s"), json(200, "{\"items\":[{\"n\":1.10}],\"next\":null}"));
        String[] words = (command + " --json").split(" ");
        var result = client.run(words);
        assertEquals(0, result.exit(), result.err());
        assertEquals(
                "1.10",
                result.json().path("items").get(0).path("n").decimalValue().toString());
        assertEquals("", result.err());
    }

    @Test
    void a_run_is_shown_with_its_error() {
        server.on("GET /v1/runs/run_1", json(200, """
            {"run_id":"run_1","workflow":"pay","version":3,"status":"failed","started_at":"2026-11-15T09:12:04Z",
             "ended_at":"2026-11-15T09:12:06.400Z","error":{"code":"http","message":"said 500","step":"mail"},
             "input":{"a":1},"output":null}\
            """));
        var result = client.run("run", "show", "run_1");
        assertEquals(0, result.exit());
        assertTrue(result.out().contains("workflow     pay v3\n"), result.out());
        assertTrue(result.out().contains("took         2 s\n"), result.out());
        assertTrue(result.out().contains("error        http in step mail\n"), result.out());
        assertFalse(result.out().contains("output"));
    }

    @Test
    void a_missing_run_is_exit_6() {
        assertEquals(6, client.run("run", "show", "run_0").exit());
    }

    @Test
    void server_text_cannot_control_the_terminal() {
        String nasty = "{\"items\":[{\"run_id\":\"run_\\u001b[2J1\",\"status\":\"\\u009b31mx\",\"workflow\":\"a\\n"
                + "b\\u202ec\"}],\"next\":null}";
        server.on("GET /v1/runs", json(200, nasty));
        client.terminal = true;
        var human = client.run("runs", "--no-color");
        var machine = client.run("runs", "--json");
        for (String text : new String[] {human.out(), human.err(), machine.out()}) {
            assertTrue(
                    text.chars().allMatch(c -> c == '\n' || (c >= 0x20 && (c < 0x7f || c > 0x9f) && c != 0x202e)),
                    text);
        }
        assertTrue(human.out().contains("a bc"), human.out());
        assertEquals(
                "\u009b31mx", machine.json().path("items").get(0).path("status").asString(), "the data is whole");
    }

    @Test
    void colour_is_for_terminals_only() {
        server.on("GET /v1/runs", json(200, RUNS));
        assertFalse(client.run("runs").out().contains("\u001b"));
        client.terminal = true;
        assertTrue(client.run("runs").out().contains("\u001b[32mcompleted"));
        assertFalse(client.run("runs", "--no-color").out().contains("\u001b"));
        assertFalse(client.run("runs", "--json").out().contains("\u001b"));
        client.environment.put("NO_COLOR", "1");
        assertFalse(client.run("runs").out().contains("\u001b"));
    }

    @Test
    void requests_of_a_run_name_the_changed_fields() {
        server.on("GET /v1/runs/run_1/requests", json(200, """
            {"items":[{"kind":"conflict","at":"2026-11-15T09:12:00Z","status_code":422,"actor_id":"tok_1",
              "changed":["amount","currency"]}],"next":null}\
            """));
        var result = client.run("request", "list", "run_1");
        assertTrue(result.out().contains("4 s ago  422     ✗ conflict"), result.out());
        assertTrue(result.out().contains("amount, currency"), result.out());
    }

    @Test
    void requests_without_a_run_are_those_of_the_workspace() {
        server.on("GET /v1/requests", json(200, "{\"items\":[],\"next\":null}"));
        client.run("request", "list");
        assertEquals("/v1/requests?limit=50", server.seen.getFirst().target());
    }

    @Test
    void requests_are_filtered_without_naming_a_run() {
        server.on("GET /v1/requests", json(200, "{\"items\":[],\"next\":\"abc\"}"));
        var result = client.run("request", "list", "kind:conflict", "since:24h");
        assertEquals(
                "/v1/requests?limit=50&q=kind%3Aconflict%20since%3A24h",
                server.seen.getFirst().target());
        assertTrue(result.err().contains("semel request list kind:conflict since:24h --after abc"), result.err());
        assertEquals(2, client.run("request", "list", "run_1", "since:24h").exit());
    }

    @Test
    void the_rows_behind_a_metric_are_listed_by_its_kind() {
        server.on("GET /v1/facts", json(200, """
            {"items":[{"kind":"expired","at":"2026-11-15T09:12:00Z","run_id":"run_2","key":"evt_1",
              "workflow":"payment_receipt"}],"next":null}\
            """));
        var result = client.run("fact", "list", "expired", "payment_receipt", "--since", "7d");
        assertEquals(
                "/v1/facts?kind=expired&workflow=payment_receipt&since=7d&limit=50",
                server.seen.getFirst().target());
        assertTrue(result.out().contains("run_2"), result.out());
        assertTrue(result.err().contains("semel run show run_2"), result.err());
    }

    @Test
    void the_message_log_shows_what_happened_to_each_message_and_why() {
        server.on("GET /v1/workflows/new_lead/log", json(200, """
            {"items":[{"at":"2026-11-15T09:12:00Z","step":"welcome","channel":"mail","status":"suppressed",
              "reason":"the same was sent before","run_id":"run_3"}],"runs":1,"next":null}\
            """));
        var result = client.run("log", "list", "new_lead");
        assertTrue(result.out().contains("welcome  mail     suppressed  the same was sent before"), result.out());
    }

    @Test
    void a_workflow_is_shown_with_effects_and_explanation_and_java_ones_without() {
        server.on("GET /v1/workflows/pay", json(200, """
            {"workflow":"pay","version":3,"owner":"payments","effects":[{"step":"charge","does":"create",
              "protection":"provider_key","key":null,"window_seconds":86400}]}\
            """));
        server.on(
                "GET /v1/workflows/pay/explanation",
                json(200, "{\"questions\":[\"What?\"],\"items\":[{\"subject\":\"charge\",\"answers\":[\"Once.\"]}]}"),
                problem(404, "not-found", false));
        var result = client.run("workflow", "show", "pay");
        assertTrue(result.out().contains("pay v3, owner payments"), result.out());
        assertTrue(result.out().contains("charge  create  provider_key  step id  1 d"), result.out());
        assertTrue(result.out().contains("  What?\n    Once."), result.out());
        assertFalse(client.run("workflow", "show", "pay").out().contains("What?"));
    }

    @Test
    void retry_later_is_exit_8_and_a_bad_token_is_exit_7() {
        server.on("GET /v1/runs", problem(503, "store-unavailable", true), problem(401, "unauthenticated", false));
        assertEquals(8, client.run("runs").exit());
        assertEquals(7, client.run("runs").exit());
    }

    @Test
    void a_redirect_is_not_followed() {
        server.on("GET /v1/runs", new ScriptedServer.ScriptedResponse(302, "", java.util.Map.of("Location", "/login")));
        var result = client.run("runs");
        assertEquals(8, result.exit());
        assertTrue(result.err().contains("a redirect to /login"), result.err());
        assertEquals(1, server.seen.size());
    }
}
