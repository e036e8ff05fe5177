package dev.semel.server.http.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.server.http.TrustedProxies;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Requests whose body does not arrive hold their place until a deadline; one caller cannot take all places with them. */
class ConcurrentRequestLimitTest {
    private static final int REQUESTS = 16;
    private static final String HALF = "Host: x\r\nContent-Length: 10\r\nExpect: 100-continue\r\n";

    private final TestHttpServer site =
            new TestHttpServer(TestHttpServer.limitedTo(1_000, REQUESTS, TrustedProxies.of(List.of("127.0.0.1"))));
    private final List<RawConnection> open = new ArrayList<>();

    @AfterEach
    void close() throws IOException {
        for (RawConnection wire : open) {
            wire.close();
        }
        site.close();
    }

    /** Sends heads without their bodies. @return how many requests got a place and not 503 */
    private int sendHeads(String path, String headers) throws IOException {
        int accepted = 0;
        for (int i = 0; i < REQUESTS + 4; i++) {
            RawConnection wire = site.wire();
            open.add(wire);
            RawConnection.RawResponse reply = wire.send("POST " + path + " HTTP/1.1\r\n" + HALF + headers + "\r\n")
                    .head();
            assertTrue(List.of(100, 503).contains(reply.status()), "status " + reply.status());
            accepted += reply.status() == 100 ? 1 : 0;
        }
        return accepted;
    }

    private int webhookFrom(String address) throws IOException {
        try (RawConnection wire = site.wire()) {
            wire.send("POST /v1/webhooks/w HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: " + address
                    + "\r\nContent-Length: 2\r\n\r\n{}");
            return wire.reply().status();
        }
    }

    @Test
    void an_address_without_a_token_takes_an_eighth_of_the_places() throws IOException {
        assertEquals(REQUESTS / 8, sendHeads("/v1/webhooks/w", "X-Forwarded-For: 10.0.0.1\r\n"));
        assertEquals(
                200, site.ask("GET", "/v1/runs", "X-Forwarded-For: 10.0.0.1").status());
        assertEquals(503, webhookFrom("10.0.0.1"));
        assertEquals(200, webhookFrom("10.0.0.2"));
        assertEquals(
                200,
                site.askAs("", "GET", "/healthz", "X-Forwarded-For: 10.0.0.1").status());
    }

    @Test
    void many_addresses_without_a_token_take_half_of_the_places() throws IOException {
        int accepted = 0;
        for (int i = 0; i < 8; i++) {
            accepted += sendHeads("/v1/webhooks/w", "X-Forwarded-For: 10.0.1." + i + "\r\n");
        }
        assertEquals(REQUESTS / 2, accepted);
        assertEquals(200, site.ask("GET", "/v1/runs").status());
    }

    @Test
    void a_workspace_takes_three_quarters_of_the_places() throws IOException {
        assertEquals(REQUESTS / 4 * 3, sendHeads("/v1/workflows/w/trigger", TestHttpServer.AUTH));
        RawConnection.RawResponse rejected = site.ask("GET", "/v1/runs");
        assertEquals(503, rejected.status());
        assertTrue(rejected.body().contains("Workspace default has 12 requests in progress"), rejected.body());
        assertEquals(200, webhookFrom("10.0.0.2"));
    }

    @Test
    void health_checks_respond_while_all_places_are_taken() throws IOException {
        sendHeads("/v1/workflows/w/trigger", TestHttpServer.AUTH);
        for (int i = 0; i < 8; i++) {
            sendHeads("/v1/webhooks/w", "X-Forwarded-For: 10.0.1." + i + "\r\n");
        }
        assertEquals(503, webhookFrom("10.0.0.2"));
        assertEquals(200, site.askAs("", "GET", "/healthz").status());
        RawConnection chunked = site.wire();
        open.add(chunked);
        chunked.send("GET /healthz HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
        assertEquals(413, chunked.reply().status());
    }
}
