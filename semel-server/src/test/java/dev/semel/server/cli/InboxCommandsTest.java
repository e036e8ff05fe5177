package dev.semel.server.cli;

import static dev.semel.server.cli.ScriptedServer.json;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class InboxCommandsTest {
    private static final String REVIEW = """
        {"review_id":"rev_1","kind":"in_doubt","status":"open","title":"Did it leave?","workflow":"pay","run_id":"run_1",
         "to":"role:ops","overdue":true,"link":null,"shown":{"total":"7"},"evidence":["It left at noon."],
         "answers":{"happened":"It is recorded."}}\
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
    void the_inbox_is_a_table_and_a_single_review_is_shown_in_sentences() {
        server.on("GET /v1/reviews", json(200, "{\"items\":[" + REVIEW + "],\"next\":null}"))
                .on("GET /v1/reviews/rev_1", json(200, REVIEW));
        var list = client.run("review", "list", "kind:in_doubt", "--limit", "20");
        assertEquals(0, list.exit(), list.err());
        assertTrue(list.out().contains("Did it leave?") && list.out().contains("overdue"), list.out());
        var one = client.run("review", "show", "rev_1");
        assertEquals(0, one.exit(), one.err());
        assertTrue(one.out().contains("  It left at noon."), one.out());
        assertTrue(one.out().contains("happened: It is recorded."), one.out());
    }

    @Test
    void a_review_is_decided_by_its_id_and_a_run_needs_its_step() {
        String done = "{\"review_id\":\"rev_1\",\"run_id\":\"run_1\",\"decided\":{\"decision\":\"did_not_happen\"}}";
        server.on("POST /v1/reviews/rev_1/decide", json(200, done));
        var decided = client.run("review", "decide", "rev_1", "did-not-happen", "--note", "asked them");
        assertEquals(0, decided.exit(), decided.err());
        assertEquals("decided rev_1: did_not_happen (run_1)\n", decided.out());
        assertEquals(0, client.run("review", "decide", "rev_1", "approve").exit());
        assertEquals(
                0,
                client.run("review", "decide", "rev_1", "reject", "--note", "no")
                        .exit());
        assertEquals(2, client.run("review", "decide", "run_1", "approve").exit());
        assertEquals(
                2, client.run("review", "decide", "rev_1", "step", "approve").exit());
    }

    @Test
    void reviews_of_one_kind_are_decided_in_the_versions_found() {
        String listed = REVIEW.replace("\"kind\"", "\"version\":3,\"kind\"");
        server.on("GET /v1/reviews", json(200, "{\"items\":[" + listed + "],\"next\":null}"))
                .on(
                        "POST /v1/reviews/decide",
                        json(
                                200,
                                "{\"items\":[{\"review_id\":\"rev_1\",\"decided\":{\"decision\":\"happened\"}}],\"decided\":1}"));
        var decided = client.run("review", "decide", "kind:in_doubt workflow:pay", "happened");
        assertEquals(0, decided.exit(), decided.err());
        assertEquals("rev_1 happened\n", decided.out());
        assertTrue(decided.err().contains("1 of 1 reviews decided"), decided.err());
        assertTrue(
                server.seen.getLast().body().contains("\"rev_1@3\""),
                server.seen.getLast().body());
    }

    @Test
    void a_late_decision_reports_the_earlier_one() {
        server.on(
                "POST /v1/reviews/rev_1/decide",
                json(
                        409,
                        "{\"code\":\"review-decided\",\"title\":\"decided\",\"status\":409,\"detail\":\"decided before"
                                + " by ann\",\"fix\":\"Look at the run.\",\"retryable\":false}"));
        var late = client.run("review", "decide", "rev_1", "approve");
        assertEquals(1, late.exit());
        assertTrue(late.err().contains("decided before by ann"), late.err());
    }

    @Test
    void a_key_is_simulated_extended_and_inspected_before_release() {
        server.on(
                        "POST /v1/keys/k/simulate",
                        json(
                                200,
                                "{\"at\":\"then\",\"outcome\":\"new_run\",\"summary\":\"200: a new run would"
                                        + " start.\"}"))
                .on("POST /v1/keys/k/extend", json(200, "{\"expires_at\":\"tomorrow\"}"))
                .on(
                        "POST /v1/keys/k/release",
                        json(
                                200,
                                "{\"summary\":\"A new"
                                    + " run.\",\"effects\":[{\"step\":\"pay\",\"could_duplicate\":true,\"reason\":\"new"
                                    + " keys\"}]}"));
        assertEquals(
                "If k is sent at then: 200: a new run would start.\n",
                client.run("key", "simulate", "k", "--at", "30h", "--data", "{\"a\":1}")
                        .out());
        assertEquals(
                "k is active until tomorrow\n",
                client.run("key", "extend", "k", "--for", "48h", "--reason", "late")
                        .out());
        assertEquals(2, client.run("key", "extend", "k", "--for", "48h").exit());
        assertTrue(client.run("key", "release", "k", "--dry-run").out().contains("could happen twice: pay (new keys)"));
    }

    @Test
    void effects_are_a_table() {
        server.on(
                "GET /v1/effects",
                json(
                        200,
                        "{\"items\":[{\"status\":\"in_doubt\",\"path\":\"pay\",\"run_id\":\"run_1\"}],\"next\":null}"));
        var list = client.run("effect", "list", "state:in_doubt");
        assertEquals(0, list.exit(), list.err());
        assertTrue(list.out().contains("in_doubt") && list.out().contains("pay"), list.out());
    }
}
