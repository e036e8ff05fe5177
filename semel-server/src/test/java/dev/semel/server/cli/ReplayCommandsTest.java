package dev.semel.server.cli;

import static dev.semel.server.cli.ScriptedServer.json;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ReplayCommandsTest {
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

    private static String plan(String status, String progress) {
        return """
            {"replay_id":"rpl_2b","status":"%s","selection":"status:failed","runs":412,"safe":407,"blocked":1,"incomplete":0,
             "actions":{"reuse":{"runs":0,"steps":398},"send":{"runs":398,"steps":398},"ask":{"runs":3,"steps":3}},
             "conditional_steps":2,"needs_approval":false,"note":null,"progress":%s}\
            """.formatted(status, progress);
    }

    private static final String BEFORE = "{\"planned\":412,\"applied\":0,\"runs\":{},\"verified\":false}";
    private static final String AFTER =
            "{\"planned\":0,\"applied\":407,\"skipped\":5,\"runs\":{\"completed\":407},\"verified\":true}";

    @Test
    void a_plan_shows_its_preview_and_the_next_command() {
        server.on("POST /v1/replays", json(200, plan("planned", BEFORE)));
        var result = client.run("replay", "plan", "status:failed", "since:2h", "--from", "start");
        assertEquals(0, result.exit(), result.err());
        assertTrue(server.seen.getFirst().body().contains("\"q\":\"status:failed since:2h\""));
        assertTrue(server.seen.getFirst().body().contains("\"from\":\"start\""));
        assertTrue(result.out().startsWith("plan rpl_2b (planned) of status:failed: 412 runs, 407 safe"), result.out());
        assertTrue(result.out().contains("send for the first time    398   398"), result.out());
        assertFalse(result.out().contains("unprotected"), result.out());
        assertTrue(result.err().contains("1 runs cannot be replayed now"), result.err());
        assertTrue(result.err().contains("next: semel replay apply rpl_2b"), result.err());
    }

    @Test
    void every_filter_term_selects_runs_and_is_not_a_run_id() {
        server.on("POST /v1/replays", json(200, plan("planned", BEFORE)));
        for (String term : new String[] {"failed_since:1h", "ended_since:1h"}) {
            var result = client.run("replay", "plan", term);
            assertEquals(0, result.exit(), result.err());
            assertTrue(server.seen.getLast().body().contains("\"q\":\"" + term + "\""), term);
        }
    }

    @Test
    void apply_options_given_with_the_plan_need_not_be_repeated() {
        String reported = plan("planned", BEFORE)
                .replace(
                        "\"note\"",
                        "\"apply\":{\"include\":[\"ask\"],\"rate\":0,\"canary\":5,\"stop_after\":0},\"note\"");
        server.on("POST /v1/replays", json(200, reported));
        var result = client.run("replay", "plan", "run_1", "--approval", "--include", "ask", "--canary", "5");
        assertTrue(server.seen.getFirst().body().contains("\"include\":[\"ask\"],\"rate\":0,\"canary\":5"));
        assertTrue(
                result.err()
                        .contains("options of this plan: apply the safe actions and these unsafe actions: ask;"
                                + " runs per second: no limit; canary: 5; stop after failed runs: never"),
                result.err());
        server.on("POST /v1/replays/rpl_2b/apply", json(200, plan("done", AFTER)));
        client.run("replay", "apply", "rpl_2b");
        assertEquals("{}", server.seen.getLast().body());
    }

    @Test
    void the_notification_mode_is_shown_with_the_plan() {
        String reported = plan("planned", BEFORE).replace("\"ask\":", "\"silent\":{\"runs\":2,\"steps\":4},\"ask\":");
        server.on("POST /v1/replays", json(200, reported));
        var result = client.run("replay", "plan", "run_1", "--notify", "none");
        assertTrue(server.seen.getFirst().body().contains("\"notify\":\"none\""));
        assertTrue(result.out().contains("send no notification"), result.out());
        client.run("replay", "plan", "run_1", "--notify", "again", "--confirm-redo");
        assertTrue(server.seen.getLast().body().contains("\"confirm_redo\":true,\"notify\":\"again\""));
    }

    @Test
    void a_plan_missing_code_names_the_code_it_waits_for() {
        String waits = plan("applying", BEFORE).replace("\"note\":null", "\"note\":\"It waits for flow v1.\"");
        server.on("POST /v1/replays/rpl_2b/apply", json(200, waits));
        server.on("GET /v1/replays/rpl_2b", json(200, plan("done", AFTER)));
        var result = client.run("replay", "apply", "rpl_2b");
        assertTrue(result.err().contains("It waits for flow v1."), result.err());
    }

    @Test
    void run_ids_are_not_a_filter() {
        server.on("POST /v1/replays", json(200, plan("planned", BEFORE)));
        client.run("replay", "plan", "run_1", "run_2");
        assertTrue(server.seen.getFirst().body().contains("\"runs\":[\"run_1\",\"run_2\"]"));
    }

    @Test
    void apply_waits_for_the_end_and_shows_the_run_results() {
        server.on("POST /v1/replays/rpl_2b/apply", json(200, plan("applying", BEFORE)));
        server.on("GET /v1/replays/rpl_2b", json(200, plan("done", AFTER)));
        var result = client.run("replay", "apply", "rpl_2b", "--include", "ask,unprotected", "--rate", "20");
        assertEquals(0, result.exit(), result.err());
        assertTrue(server.seen.getFirst().body().contains("\"include\":[\"ask\",\"unprotected\"],\"rate\":20"));
        assertEquals("done: 407 replayed, 407 completed, 5 skipped\n", result.out());
        assertFalse(result.err().contains("#"), "no bar where nobody looks");
    }

    @Test
    void a_progress_bar_is_shown_on_a_terminal() {
        server.on("POST /v1/replays/rpl_2b/apply", json(200, plan("done", AFTER)));
        client.terminal = true;
        var result = client.run("replay", "apply", "rpl_2b");
        assertTrue(result.err().contains("\r[" + "#".repeat(30) + "] 412 of 412"), result.err());
    }

    @Test
    void a_rejection_has_its_own_exit_code() {
        server.on(
                "POST /v1/replays/rpl_2b/apply",
                json(412, "{\"title\":\"The replay plan is out of date\",\"code\":\"plan-out-of-date\"}"));
        assertEquals(9, client.run("replay", "apply", "rpl_2b").exit());
        server.on(
                "POST /v1/replays/rpl_2c/apply",
                json(409, "{\"title\":\"The plan has no run that is safe to replay\",\"code\":\"replay-refused\"}"));
        assertEquals(5, client.run("replay", "apply", "rpl_2c").exit());
    }

    @Test
    void the_runs_of_a_plan_are_shown_step_by_step() {
        server.on("GET /v1/replays/rpl_2b", json(200, plan("planned", BEFORE)));
        server.on("GET /v1/replays/rpl_2b/items", json(200, """
            {"items":[{"run_id":"run_1","action":"resend","blocked":null,"outcome":"planned","new_run_id":null,"steps":[
              {"step":"charge","kind":"effect","action":"resend","reason":"the provider still remembers its key",
               "until":"2026-11-16T09:00:00Z","certain":true},
              {"step":"load","kind":"step","action":"reuse","reason":"its result is recorded","until":null}]}],
             "next":null}\
            """));
        var result = client.run("replay", "show", "rpl_2b", "--only", "resend");
        assertEquals(0, result.exit(), result.err());
        assertTrue(result.out().contains("charge"), result.out());
        assertFalse(result.out().contains("load"), result.out());
        assertTrue(server.seen.getLast().target().contains("action=resend"));
    }

    @Test
    void a_plan_is_stopped_and_approved() {
        server.on("POST /v1/replays/rpl_2b/stop", json(200, plan("stopped", AFTER)));
        server.on("POST /v1/replays/rpl_2b/approve", json(200, plan("planned", BEFORE)));
        assertEquals(
                "stopped rpl_2b\n",
                client.run("replay", "stop", "rpl_2b", "--reason", "enough").out());
        assertEquals(
                "approved rpl_2b\n", client.run("replay", "approve", "rpl_2b").out());
    }
}
