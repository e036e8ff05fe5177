package dev.semel.server.cli;

import static dev.semel.server.cli.ScriptedServer.json;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What forms of pages do, by command: drafts, workspaces, answers of incidents, checks, decisions on many. */
class FormEquivalentCommandsTest {
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
    void a_draft_is_shown_with_its_key_and_diff(@TempDir Path folder) throws IOException {
        Path file = Files.writeString(folder.resolve("a.yaml"), "semel: 1\nworkflow: a\n");
        server.on("POST /v1/drafts", json(200, """
            {"text":"semel: 1\\nworkflow: a\\n","workflow":"a","errors":[],"warnings":["no owner"],
             "diff":{"unified":"-old\\n+new\\n"},"preview":{"run_id":"run_1","key":"a/1","problem":null}}
            """));
        var result = client.run("workflow", "draft", file.toString(), "--workflow", "a", "--step", "s");
        assertEquals("-old\n+new\n", result.out());
        assertTrue(result.err().contains("warning: no owner"), result.err());
        assertTrue(result.err().contains("key of step s, computed from the data of run_1: a/1"), result.err());
        assertEquals(
                "{\"text\":\"semel: 1\\nworkflow: a\\n\",\"workflow\":\"a\",\"step\":\"s\"}",
                server.seen.getFirst().body());
        assertEquals(0, result.exit());
    }

    @Test
    void an_edited_draft_is_printed_as_a_file_and_errors_are_failures(@TempDir Path folder) throws IOException {
        Path file = Files.writeString(folder.resolve("a.yaml"), "semel: 1\nworkflow: a\n");
        server.on("POST /v1/drafts", json(200, """
            {"text":"semel: 1\\nworkflow: b\\n","workflow":"b","errors":[{"line":2,"message":"no steps"}],"warnings":[]}
            """));
        var result = client.run("workflow", "draft", file.toString(), "--edit", "{\"op\":\"delete\",\"step\":\"x\"}");
        assertEquals("semel: 1\nworkflow: b\n", result.out());
        assertTrue(result.err().contains("error, line 2: no steps"), result.err());
        assertTrue(server.seen.getFirst().body().contains("\"edits\":[{\"op\":\"delete\",\"step\":\"x\"}]"));
        assertEquals(1, result.exit());
    }

    @Test
    void workspaces_are_listed() {
        server.on("GET /v1/workspaces", json(200, """
            {"items":[{"workspace":"default","current":true},{"workspace":"shop","current":false}],"next":null}
            """));
        assertEquals("""
            WORKSPACE  OWN
            default    this one
            shop
            """, client.run("workspace", "list").out());
    }

    @Test
    void an_incident_report_is_answered_based_on_the_version_seen() {
        server.on("PUT /v1/incidents/inc_1", json(200, """
            {"incident_id":"inc_1","title":"outage","since":"a","until":"b","answers":{"add":"a second one"}}
            """));
        var result = client.run("incident", "answer", "inc_1", "--title", "outage", "--over", "3", "add=a second one");
        assertTrue(result.out().contains("a second one"), result.out() + result.err());
        assertEquals(
                "{\"title\":\"outage\",\"answers\":{\"add\":\"a second one\"}}",
                server.seen.getFirst().body());
        assertEquals("\"3\"", server.seen.getFirst().header("If-Match"));
    }

    @Test
    void the_provider_is_queried_about_one_review() {
        server.on("POST /v1/reviews/rev_1/check", json(200, """
            {"review_id":"rev_1","title":"Did it?","kind":"in_doubt","status":"closed","workflow":"w","run_id":"run_1","to":"x"}
            """));
        var result = client.run("review", "check", "rev_1");
        assertTrue(result.out().startsWith("Did it?"), result.out() + result.err());
        assertEquals(2, client.run("review", "check").exit());
        assertEquals(1, server.seen.size());
    }

    @Test
    void several_reviews_are_decided_together_with_a_result_each() {
        server.on("POST /v1/reviews/decide", json(200, """
            {"items":[{"review_id":"rev_1","decided":{"decision":"stop"}},{"review_id":"rev_2","detail":"Too late."}],"decided":1}
            """));
        var result = client.run("review", "decide", "rev_1,rev_2@3", "stop");
        assertEquals("rev_1 stop\nrev_2 not decided: Too late.\n", result.out());
        assertEquals(1, result.exit());
        assertTrue(server.seen.getFirst().body().contains("\"ids\":[\"rev_1\",\"rev_2@3\"]"));
    }
}
