package dev.semel.trials.attacks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.ConcurrentCalls;
import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.OnDevServers;
import dev.semel.trials.support.ProblemResponseChecks;
import dev.semel.trials.support.ServerFixture;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A secret that has hosts is sent to them and to nobody else. */
class SecretReceiversTest extends OnDevServers {
    private static final String VALUE = "bound-to-its-host";

    private final Queue<String> received = new ConcurrentLinkedQueue<>();
    private HttpServer receiver;

    SecretReceiversTest(ServerFixture stage) {
        super(stage);
    }

    @BeforeEach
    void open() throws IOException {
        receiver = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        receiver.createContext("/", exchange -> {
            received.add(String.valueOf(exchange.getRequestHeaders().getFirst("Authorization")));
            exchange.getRequestBody().readAllBytes();
            exchange.sendResponseHeaders(204, -1);
            exchange.close();
        });
        receiver.start();
    }

    @AfterEach
    void close() {
        receiver.stop(0);
    }

    private ApiCaller admin() {
        return stage.admin();
    }

    private HttpReply store(String members) {
        return admin().put("/v1/secrets/bound", "{\"value\":\"" + VALUE + "\"" + members + "}");
    }

    private HttpReply publish(String auth) {
        return admin().publish("""
            semel: 1
            workflow: sends_secret
            owner: o
            steps:
              - id: call
                http: { method: POST, url: "http://127.0.0.1:%d/x", auth: %s, body: {a: 1} }
                protect: at_most_once
            """.formatted(receiver.getAddress().getPort(), auth))
                .expect(200);
    }

    private HttpReply ended() {
        String run =
                admin().trigger("sends_secret", stage.key(), "{}").expect(200).runId();
        ConcurrentCalls.until(
                "the run ends",
                () -> List.of("completed", "failed")
                        .contains(admin().get("/v1/runs/" + run).text("status")));
        return admin().get("/v1/runs/" + run);
    }

    @Test
    void item18_a_step_that_would_send_a_secret_to_another_host_fails_before_sending() {
        store(",\"hosts\":[\"api.example.com\"]").expect(200);
        HttpReply warned = publish("\"${ secret.bound }\"");
        assertTrue(
                warned.json()
                        .path("warnings")
                        .toString()
                        .contains("may be sent only to api.example.com, not to 127.0.0.1"),
                warned::body);
        HttpReply failed = ended();
        assertEquals("failed", failed.text("status"));
        assertTrue(
                failed.body().contains("the secret bound may be sent only to api.example.com, not to 127.0.0.1"),
                failed::body);
        assertEquals(List.of(), List.copyOf(received));
        store(",\"hosts\":[\"127.0.0.1:" + receiver.getAddress().getPort() + "\"]")
                .expect(200);
        assertFalse(publish("\"${ secret.bound }\"").body().contains("may be sent only to"));
        assertEquals("completed", ended().text("status"));
        assertEquals(List.of("Bearer " + VALUE), List.copyOf(received));
    }

    @Test
    void item18_the_client_secret_of_oauth_goes_only_to_the_token_server() {
        store(",\"hosts\":[\"127.0.0.1:1\"]").expect(200);
        publish(
                "{oauth2: {token_url: \"http://127.0.0.1:%d/token\", client_id: c, client_secret: \"${ secret.bound }\"}}"
                        .formatted(receiver.getAddress().getPort()));
        assertEquals("failed", ended().text("status"));
        assertEquals(List.of(), List.copyOf(received));
    }

    @Test
    void item18_hosts_change_only_with_the_value_and_stay_with_a_new_value() {
        HttpReply first =
                store(",\"hosts\":[\"API.example.com\",\"b.example:8443\"]").expect(200);
        assertEquals(
                "[\"api.example.com\",\"b.example:8443\"]",
                first.json().path("hosts").toString());
        ProblemResponseChecks.expect(admin().put("/v1/secrets/bound", "{\"hosts\":[]}"), 400, "invalid-input");
        HttpReply other = admin().put("/v1/secrets/bound", "{\"value\":\"another value\"}")
                .expect(200);
        assertEquals(first.json().path("hosts"), other.json().path("hosts"));
        for (String wrong :
                List.of("\"https://a.example\"", "\"*.example\"", "\"a.example/x\"", "\"\"", "7", "\"a b\"")) {
            ProblemResponseChecks.expect(store(",\"hosts\":[" + wrong + "]"), 400, "invalid-input");
        }
        assertEquals(
                "[]", store(",\"hosts\":[]").expect(200).json().path("hosts").toString());
    }
}
