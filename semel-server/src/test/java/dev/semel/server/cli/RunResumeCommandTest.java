package dev.semel.server.cli;

import static dev.semel.server.cli.ScriptedServer.json;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class RunResumeCommandTest {
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
    void a_run_resumes_with_a_reason_and_a_result_for_the_skipped_step() {
        server.on(
                "POST /v1/runs/run_1/resume",
                json(200, "{\"run_id\":\"run_1\",\"status\":\"running\",\"resumed\":true}"));
        var result =
                client.run("run", "resume", "run_1", "--reason", "paid", "--skip", "charge", "--result", "{\"id\":1}");
        assertEquals(0, result.exit(), result.err());
        assertEquals("resumed run_1 (running)\n", result.out());
        String body = server.seen.getFirst().body();
        assertTrue(body.contains("\"reason\":\"paid\""), body);
        assertTrue(body.contains("\"skip\":{\"step\":\"charge\",\"result\":{\"id\":1}}"), body);
        assertTrue(result.err().contains("next: semel run timeline run_1"), result.err());
    }

    @Test
    void a_dry_run_shows_the_prediction_for_each_step() {
        server.on("POST /v1/runs/run_1/resume", json(200, """
            {"run_id":"run_1","status":"failed","resumed":false,"dry_run":true,"blocked":null,"incomplete":false,
             "steps":[{"step":"mail","kind":"effect","action":"send","reason":"the effect was rejected, or not sent","until":null}]}\
            """));
        var result = client.run("run", "resume", "run_1", "--dry-run");
        assertEquals(0, result.exit(), result.err());
        assertTrue(result.out().contains("mail  send    the effect was rejected"), result.out());
        assertTrue(server.seen.getFirst().target().endsWith("?dry_run=true"));
    }

    @Test
    void a_run_that_cannot_be_resumed_says_why() {
        server.on("POST /v1/runs/run_1/resume", json(200, """
            {"run_id":"run_1","status":"completed","resumed":false,"blocked":"it has completed","incomplete":false,
             "steps":[]}\
            """));
        var result = client.run("run", "resume", "run_1", "--dry-run");
        assertEquals(1, result.exit());
        assertTrue(result.err().contains("the run cannot be resumed: it has completed"), result.err());
    }

    @Test
    void run_show_works_as_before_and_needs_an_id() {
        assertEquals(2, client.run("run").exit());
    }
}
