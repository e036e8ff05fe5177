package dev.semel.trials.attacks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.LiveServer;
import dev.semel.trials.support.RawConnection;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/**
 * DNS rebinding: a web page gives its own host name the address 127.0.0.1. Its requests then reach `semel dev`, whose
 * token everybody knows, as requests of the same origin. Only the Host header shows the difference.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class DevHostTest {
    private static final List<String> OTHERS = List.of(
            "evil.com",
            "evil.com:8085",
            "localhost.evil.com",
            "127.0.0.1.evil.com",
            "evil.localhost",
            "localhost.",
            "localhost:",
            "localhost:80x",
            "localhost:8085:8085",
            "127.0.0.2",
            "127.1",
            "0.0.0.0",
            "[::]",
            "[::1].evil.com",
            "::1");
    private static final List<String> REQUESTS = List.of(
            "GET /",
            "GET /login",
            "POST /login",
            "POST /login/dev",
            "GET /runs",
            "GET /live",
            "GET /assets/style.css",
            "GET /docs/index",
            "GET /schema/workflow-1.json",
            "GET /healthz",
            "GET /readyz",
            "GET /metrics",
            "GET /v1/runs",
            "GET /v1/tail",
            "GET /v1/openapi.json",
            "POST /v1/workflows/payment_receipt/trigger",
            "POST /v1/webhooks/src_unknown",
            "OPTIONS /v1/runs",
            "PATCH /v1/runs",
            "GET /no/such/page",
            "GET /v1/no/such/page");

    private LiveServer server;
    private LiveServer serve;

    @BeforeAll
    void open(@TempDir Path folder, @TempDir Path other) {
        server = LiveServer.dev("sqlite:" + folder.resolve("semel.db"), folder);
        serve = LiveServer.first("sqlite:" + other.resolve("semel.db"), other, _ -> {});
    }

    @AfterAll
    void close() {
        server.close();
        serve.close();
    }

    private static HttpReply request(int port, String line, String host) {
        try (RawConnection wire = new RawConnection(port)) {
            return wire.send(line + " HTTP/1.1\r\nHost: " + host
                            + "\r\nAuthorization: Bearer dev\r\nAccept: text/html\r\nContent-Length: 0\r\n\r\n")
                    .reply();
        }
    }

    @Test
    void dev_rejects_every_request_for_another_host() {
        for (String line : REQUESTS) {
            HttpReply reply = request(server.port(), line, "evil.com:" + server.port());
            assertEquals(403, reply.status(), line);
            assertTrue(reply.body().contains("\"code\":\"host-not-allowed\""), line + ": " + reply.body());
            assertTrue(!reply.body().contains("evil"), reply.body());
        }
    }

    @Test
    void dev_rejects_every_spelling_of_another_host() {
        for (String host : OTHERS) {
            assertEquals(403, request(server.port(), "GET /v1/runs", host).status(), host);
        }
    }

    @Test
    void dev_serves_its_own_three_hosts_with_any_port() {
        for (String host : List.of(
                "localhost",
                "LocalHost",
                "localhost:8085",
                "127.0.0.1",
                "127.0.0.1:" + server.port(),
                "[::1]",
                "[::1]:443")) {
            assertEquals(200, request(server.port(), "GET /v1/runs", host).status(), host);
            assertEquals(200, request(server.port(), "GET /login", host).status(), host);
        }
    }

    @Test
    void the_demo_providers_of_dev_reject_other_hosts_too() {
        String url = Objects.requireNonNull(server.serve().playground()).url();
        int port = Integer.parseInt(url.substring(url.lastIndexOf(':') + 1));
        for (String line : List.of("GET /", "GET /counts", "POST /lose/email")) {
            assertEquals(403, request(port, line, "evil.com:" + port).status(), line);
        }
        assertEquals(200, request(port, "GET /counts", "127.0.0.1:" + port).status());
    }

    @Test
    void serve_has_any_host_name() {
        assertEquals(
                200, request(serve.port(), "GET /login", "semel.example.com").status());
    }
}
