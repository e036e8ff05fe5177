package dev.semel.trials.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.sun.net.httpserver.HttpServer;
import dev.semel.http.HttpEffectClient;
import dev.semel.testing.WorkflowTestKit;
import dev.semel.workflow.Workflow;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** An effect over HTTP, as the page "Effects" shows it. */
class HttpEffectTest {
    private final List<String> keys = new CopyOnWriteArrayList<>();

    /** Busy at first, then it answers. */
    private HttpServer provider() throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            keys.add(exchange.getRequestHeaders().getFirst("Idempotency-Key"));
            byte[] body = "{\"id\":\"ch_1\"}".getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            exchange.getResponseHeaders().set("Retry-After", "1");
            exchange.sendResponseHeaders(keys.size() == 1 ? 503 : 201, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
        return server;
    }

    @Test
    void a_busy_provider_is_retried_with_the_same_key() throws IOException {
        HttpServer server = provider();
        URI provider = URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/");
        try (WorkflowTestKit kit = new WorkflowTestKit();
                HttpEffectClient http = HttpEffectClient.standard()) {
            Workflow<String, String> pay = Workflow.define("pay", String.class, String.class)
                    .body((ctx, order) -> {
                        // snippet:http
                        JsonNode charge = ctx.effect("charge")
                                .providerHonoursKey(Duration.ofHours(24))
                                .call(
                                        JsonNode.class,
                                        sending -> http.send(
                                                sending,
                                                HttpRequest.newBuilder(provider).POST(BodyPublishers.ofString(order))));
                        // end
                        return charge.path("id").asString();
                    });
            kit.clock().autoAdvance();
            assertEquals("ch_1", kit.result(kit.register(pay).start(pay, "o-1")));
        } finally {
            server.stop(0);
        }
        assertEquals(2, keys.size());
        assertEquals(keys.getFirst(), keys.getLast());
    }
}
