package dev.semel.server.cli;

import static dev.semel.server.cli.ScriptedServer.json;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.server.cli.command.TerminalJsonFormatter;
import java.io.IOException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** `semel webhook`. */
class WebhookCommandTest {
    private static final String HOOK =
            "{\"name\":\"stripe\",\"version\":3,\"path\":\"/v1/webhooks/src_x-1-stripe\",\"warnings\":[\"mind this\"],"
                    + "\"document\":{\"preset\":\"stripe\",\"secrets\":[\"a\",\"b\"],\"source\":\"src_x-1-stripe\"}}";

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
    void create_adds_only_missing_webhooks_and_prints_the_url() {
        server.on("PUT /v1/webhooks/stripe", json(200, HOOK));
        var result =
                client.run("webhook", "create", "stripe", "--preset", "stripe", "--secret", "signing", "--keep", "1d");
        assertEquals(0, result.exit(), result.err());
        assertTrue(result.out().startsWith("webhook stripe v3\nhttp://"), result.out());
        assertTrue(result.out().endsWith("/v1/webhooks/src_x-1-stripe\n"), result.out());
        assertTrue(result.err().contains("mind this"), result.err());
        var put = server.seen.getFirst();
        assertEquals("{\"preset\":\"stripe\",\"secrets\":[\"signing\"],\"keep\":\"1d\"}", put.body());
        assertTrue(put.headers().containsValue("*"), "an existing hook is not replaced");
    }

    @Test
    void rotate_puts_the_new_secret_first_and_keeps_one_old_secret() {
        server.on("GET /v1/webhooks/stripe", json(200, HOOK));
        server.on("PUT /v1/webhooks/stripe", json(200, HOOK));
        assertEquals(
                0, client.run("webhook", "rotate", "stripe", "--secret", "c").exit());
        assertEquals("[\"c\",\"a\"]", secrets(1));
        assertEquals(0, client.run("webhook", "rotate", "stripe", "--only").exit());
        assertEquals("[\"a\"]", secrets(3));
        assertTrue(server.seen.get(3).headers().containsValue("\"3\""), "over the version that was read");
        assertEquals(2, client.run("webhook", "rotate", "stripe").exit());
    }

    private String secrets(int seen) {
        return TerminalJsonFormatter.parse(server.seen.get(seen).body())
                .path("secrets")
                .toString();
    }

    @Test
    void test_sends_the_sample_twice_without_our_token() {
        server.on(
                "POST /v1/webhooks/stripe/sample",
                json(
                        200,
                        "{\"path\":\"/v1/webhooks/src_x\",\"headers\":{\"Stripe-Signature\":\"t=1,v1=2\"},\"body\":\"{}\"}"));
        server.on(
                "POST /v1/webhooks/src_x",
                json(200, "{\"delivery_id\":\"dlv_1\",\"idempotent_replayed\":false,\"run_ids\":[\"run_1\"]}"),
                json(200, "{\"delivery_id\":\"dlv_2\",\"idempotent_replayed\":true,\"run_ids\":[\"run_1\"]}"));
        var result = client.run("webhook", "test", "stripe");
        assertEquals(0, result.exit(), result.err());
        assertEquals("accepted  dlv_1  1 run  run_1\nreplayed  dlv_2  1 run  run_1\n", result.out());
        for (int sent = 1; sent <= 2; sent++) {
            var receivedRequest = server.seen.get(sent);
            assertTrue(receivedRequest.headers().containsValue("t=1,v1=2"));
            assertTrue(receivedRequest.headers().keySet().stream().noneMatch("authorization"::equalsIgnoreCase));
        }
        assertEquals(
                2,
                client.run("webhook", "test", "stripe", "--json")
                        .json()
                        .path("items")
                        .size());
    }

    @Test
    void test_without_a_webhook_shows_the_sample_and_sends_nothing() {
        server.on(
                "POST /v1/webhooks/github/sample",
                json(
                        200,
                        "{\"path\":null,\"preset\":\"github\",\"secret\":\"worthless\",\"headers\":{\"X-GitHub-Event\":"
                                + "\"push\"},\"body\":\"{}\"}"));
        var result = client.run("webhook", "test", "github");
        assertEquals(0, result.exit(), result.err());
        assertEquals("X-GitHub-Event: push\n\n{}\n", result.out());
        assertTrue(result.err().contains("semel webhook create github --preset github"), result.err());
        assertEquals(1, server.seen.size(), "nothing was sent");
    }

    @Test
    void deliveries_are_a_table_and_an_empty_one_says_how_to_test() {
        server.on(
                "GET /v1/webhooks/stripe/deliveries",
                json(
                        200,
                        "{\"items\":[{\"delivery_id\":\"dlv_1\",\"at\":\"2026-11-15T09:00:00Z\",\"outcome\":\"invalid_signature\"}],"
                            + "\"next\":null}"),
                json(200, "{\"items\":[],\"next\":null}"));
        assertTrue(client.run("webhook", "deliveries", "stripe").out().contains("invalid_signature"));
        var none = client.run("webhook", "deliveries", "stripe");
        assertTrue((none.out() + none.err()).contains("semel webhook test stripe"), none.err());
    }
}
