package dev.semel.server.http.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.server.http.HttpRoute;
import dev.semel.server.http.HttpRouteHandler;
import dev.semel.server.http.HttpRouter;
import dev.semel.server.http.ServerHttpResponse;
import dev.semel.server.http.TokenScope;
import dev.semel.server.http.TrustedProxies;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LimitsTest {
    private static final HttpServerSettings NORMAL = HttpServerSettings.defaults("127.0.0.1", 0);
    private static final HttpRouteHandler COUNT = request ->
            ServerHttpResponse.json(200, String.valueOf(request.body().length).getBytes(StandardCharsets.US_ASCII));
    private static final String CHUNKED = "Transfer-Encoding: chunked\r\n\r\n";

    private final CountDownLatch arrived = new CountDownLatch(1);
    private final CountDownLatch release = new CountDownLatch(1);
    private final TestHttpServer site = new TestHttpServer(NORMAL, router());

    private HttpRouter router() {
        return new HttpRouter()
                .add(new HttpRoute("POST", "/v1/large", TokenScope.TRIGGER, COUNT).withMaxBody(3 << 20))
                .add(new HttpRoute("POST", "/v1/small", TokenScope.TRIGGER, COUNT).withMaxBody(10))
                .add("POST", "/v1/normal", TokenScope.TRIGGER, COUNT)
                .add(new HttpRoute("POST", "/v1/picky", TokenScope.TRIGGER, COUNT).withHeaderCheck(lines -> {
                    if (!lines.apply("X-Word").equals(java.util.List.of("please"))) {
                        throw InboundRequestErrorFactory.notFound();
                    }
                }))
                .add("GET", "/v1/slow", TokenScope.READ, _ -> {
                    arrived.countDown();
                    release.await();
                    return ServerHttpResponse.empty(204);
                });
    }

    @AfterEach
    void close() {
        release.countDown();
        site.close();
    }

    @Test
    void a_declared_oversized_body_is_413_before_it_is_read() throws IOException {
        for (String length : new String[] {"1048577", "10737418240", "999999999999999"}) {
            RawConnection.RawResponse reply = site.ask("POST", "/v1/normal", "Content-Length: " + length);
            assertEquals(413, reply.status());
            assertTrue(reply.body().contains("\"limit\":1048576"), reply.body());
            assertEquals("close", reply.header("connection"));
        }
    }

    @Test
    void an_unauthenticated_large_body_is_401_and_not_413() throws IOException {
        assertEquals(
                401,
                site.askAs("", "POST", "/v1/normal", "Content-Length: 10737418240")
                        .status());
    }

    @Test
    void a_route_may_check_the_head_before_the_body_is_read() throws IOException {
        assertEquals(
                404,
                site.ask("POST", "/v1/picky", "Content-Length: 10737418240").status());
        assertEquals(
                404, site.ask("POST", "/v1/picky", "X-Word: a", "X-Word: b").status());
        assertEquals(
                413,
                site.ask("POST", "/v1/picky", "x-word: please", "Content-Length: 10737418240")
                        .status());
        assertEquals(401, site.askAs("", "POST", "/v1/picky", "X-Word: a").status());
        assertEquals(200, site.ask("POST", "/v1/picky", "X-Word: please").status());
    }

    @Test
    void a_client_that_waits_for_100_continue_gets_413_instead_of_it() throws IOException {
        assertEquals(
                413,
                site.ask("POST", "/v1/small", "Content-Length: 11", "Expect: 100-continue")
                        .status());
    }

    @Test
    void a_client_that_waits_for_100_continue_gets_it_and_then_its_response() throws IOException {
        try (RawConnection wire = site.wire()) {
            wire.send(post("/v1/small") + "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n");
            assertEquals(100, wire.head().status());
            wire.send("{}");
            assertEquals("2", wire.reply().body());
            wire.send(post("/v1/small") + "Content-Length: 3\r\n\r\n{ }");
            assertEquals("3", wire.reply().body());
        }
    }

    @Test
    void endless_chunks_are_413_at_the_limit() throws IOException {
        try (RawConnection wire = site.wire()) {
            wire.send(post("/v1/normal") + CHUNKED);
            String chunk = "10000\r\n" + "x".repeat(0x10000) + "\r\n";
            for (int i = 0; i < 17; i++) {
                wire.send(chunk);
            }
            assertEquals(413, wire.reply().status());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"7fffffff", "FFFFFFFF", "300001"})
    void one_enormous_chunk_is_413_before_it_is_buffered(String size) throws IOException {
        try (RawConnection wire = site.wire()) {
            wire.send(post("/v1/normal") + CHUNKED + size + "\r\nx");
            assertEquals(413, wire.reply().status());
        }
    }

    @Test
    void a_route_may_have_its_own_body_limit() throws IOException {
        try (RawConnection wire = site.wire()) {
            wire.send(post("/v1/large") + "Content-Length: 3145728\r\n\r\n" + "x".repeat(3 << 20));
            assertEquals("3145728", wire.reply().body());
            wire.send(post("/v1/small") + "Content-Length: 10\r\n\r\n0123456789");
            assertEquals("10", wire.reply().body());
            wire.send(post("/v1/normal") + "Content-Length: 1048576\r\n\r\n" + "x".repeat(1 << 20));
            assertEquals("1048576", wire.reply().body());
            wire.send(post("/v1/small") + CHUNKED + "b\r\n01234567890\r\n0\r\n\r\n");
            assertEquals(413, wire.reply().status());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"gzip", "br", "gzip, gzip", "identity, gzip", "x"})
    void a_content_encoding_is_415(String encoding) throws IOException {
        assertEquals(
                415,
                site.ask("POST", "/v1/normal", "Content-Encoding: " + encoding, "Content-Length: 3")
                        .status());
        assertEquals(
                200,
                site.ask("POST", "/v1/normal", "Content-Encoding: identity", "Content-Length: 0")
                        .status());
    }

    @Test
    void too_large_a_head_is_400_and_closed() throws IOException {
        String start = "GET /healthz HTTP/1.1\r\nHost: x\r\n";
        String[] heads = {
            "GET /" + "a".repeat(9_000) + " HTTP/1.1\r\nHost: x\r\n\r\n",
            start + "X: " + "a".repeat(30_000) + "\r\n\r\n",
            start + "X: y\r\n".repeat(200) + "\r\n",
            start + "X".repeat(30_000),
            "G".repeat(30_000),
        };
        for (String head : heads) {
            try (RawConnection wire = site.wire()) {
                wire.send(head);
                assertTrue(wire.untilClosed().startsWith("HTTP/1.1 400 "), head.substring(0, 40));
            }
        }
        assertTrue(site.handled.isEmpty());
    }

    @Test
    void a_head_just_inside_the_limits_is_served() throws IOException {
        assertEquals(
                200,
                site.ask("GET", "/healthz?" + "a".repeat(8_000), "X: " + "b".repeat(15_000))
                        .status());
    }

    @Test
    void concurrent_requests_over_the_limit_are_503_with_retry_after() throws Exception {
        try (TestHttpServer narrow = new TestHttpServer(TestHttpServer.limitedTo(10, 1), router());
                RawConnection slow = narrow.wire()) {
            slow.send("GET /v1/slow HTTP/1.1\r\nHost: x\r\n" + TestHttpServer.AUTH + "\r\n");
            arrived.await();
            RawConnection.RawResponse reply = narrow.ask("GET", "/v1/runs");
            assertEquals(503, reply.status());
            assertEquals("1", reply.header("retry-after"));
            assertTrue(reply.body().contains("\"code\":\"overloaded\""), reply.body());
            release.countDown();
            assertEquals(204, slow.reply().status());
        }
    }

    @Test
    void a_connection_over_the_limit_closes_the_oldest_idle_one() throws IOException {
        try (TestHttpServer narrow = new TestHttpServer(TestHttpServer.limitedTo(1, 10), router());
                RawConnection first = narrow.wire()) {
            assertEquals(200, get(first, "/healthz").reply().status());
            try (RawConnection second = narrow.wire()) {
                assertEquals(200, get(second, "/healthz").reply().status());
                assertEquals("", first.untilClosed());
            }
        }
    }

    @Test
    void a_connection_with_a_request_in_progress_is_not_closed_for_another() throws Exception {
        try (TestHttpServer narrow = new TestHttpServer(TestHttpServer.limitedTo(1, 10), router());
                RawConnection busy = narrow.wire()) {
            get(busy, "/v1/slow");
            arrived.await();
            try (RawConnection second = narrow.wire()) {
                assertEquals(200, get(second, "/healthz").reply().status());
            }
            release.countDown();
            assertEquals(204, busy.reply().status());
        }
    }

    @Test
    void one_address_has_half_of_the_connections_and_keeps_its_newest() throws IOException {
        try (TestHttpServer narrow = new TestHttpServer(TestHttpServer.limitedTo(8, 10), router())) {
            RawConnection[] all = new RawConnection[6];
            for (int i = 0; i < all.length; i++) {
                all[i] = narrow.wire();
                assertEquals(200, get(all[i], "/healthz").reply().status());
            }
            assertEquals("", all[0].untilClosed());
            assertEquals("", all[1].untilClosed());
            for (int i = 2; i < all.length; i++) {
                assertEquals(200, get(all[i], "/healthz").reply().status());
                all[i].close();
            }
        }
    }

    @Test
    void a_trusted_proxy_may_use_all_connections() throws IOException {
        HttpServerSettings proxied = TestHttpServer.limitedTo(4, 10, TrustedProxies.of(java.util.List.of("127.0.0.1")));
        try (TestHttpServer narrow = new TestHttpServer(proxied, router())) {
            RawConnection[] all = new RawConnection[4];
            for (int i = 0; i < all.length; i++) {
                all[i] = narrow.wire();
                assertEquals(200, get(all[i], "/healthz").reply().status());
            }
            for (RawConnection wire : all) {
                assertEquals(200, get(wire, "/healthz").reply().status());
                wire.close();
            }
        }
    }

    private static RawConnection get(RawConnection wire, String path) throws IOException {
        return wire.send("GET " + path + " HTTP/1.1\r\nHost: x\r\n" + TestHttpServer.AUTH + "\r\n");
    }

    private static String post(String path) {
        return "POST " + path + " HTTP/1.1\r\nHost: x\r\n" + TestHttpServer.AUTH;
    }
}
