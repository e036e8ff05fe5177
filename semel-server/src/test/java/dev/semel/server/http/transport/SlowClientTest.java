package dev.semel.server.http.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.server.http.HttpRouter;
import dev.semel.server.http.ServerHttpResponse;
import dev.semel.server.http.TokenScope;
import java.io.IOException;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Slow peers are cut. The limits here are short and the tests only wait for the close, however long that takes. */
class SlowClientTest {
    private static final Duration SHORT = Duration.ofMillis(300);
    private static final int LARGE = 64 << 20;
    private static TestHttpServer site;

    @BeforeAll
    static void open() {
        HttpServerSettings hasty = TestHttpServer.settings(
                new HttpServerSettings.Timeouts(
                        SHORT, SHORT, SHORT, SHORT, HttpServerSettings.Timeouts.DEFAULT.drain()),
                10_000,
                4_096);
        HttpRouter router = new HttpRouter()
                .add("GET", "/large", TokenScope.OPEN, _ -> ServerHttpResponse.of(200, "text/plain", new byte[LARGE]));
        site = new TestHttpServer(hasty, router);
    }

    @AfterAll
    static void close() {
        site.close();
    }

    @Test
    void a_silent_connection_is_closed() throws IOException {
        try (RawConnection wire = site.wire()) {
            assertEquals("", wire.untilClosed());
        }
    }

    @Test
    void a_slowly_dripping_head_is_disconnected() throws IOException {
        try (RawConnection wire = site.wire()) {
            wire.send("GET /healthz HTTP/1.1\r\nX: ");
            assertTrue(wire.dripUntilClosed(10_000) < 10_000);
        }
    }

    @Test
    void a_slowly_dripping_body_is_disconnected() throws IOException {
        try (RawConnection wire = site.wire()) {
            wire.send("POST /v1/workflows/w/trigger HTTP/1.1\r\nHost: x\r\n" + TestHttpServer.AUTH
                    + "Content-Length: 10000\r\n\r\n");
            assertTrue(wire.dripUntilClosed(9_999) < 9_999);
        }
    }

    @Test
    void an_idle_connection_is_closed_after_its_response() throws IOException {
        try (RawConnection wire = site.wire()) {
            wire.send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
            assertEquals("ok", wire.reply().body());
            assertEquals("", wire.untilClosed());
        }
    }

    @Test
    void a_peer_that_does_not_read_its_response_is_disconnected() throws Exception {
        try (RawConnection wire = site.wire()) {
            site.answered.clear();
            wire.send("GET /large HTTP/1.1\r\nHost: x\r\n\r\n");
            // The server says that it is done with this request only after it gave up writing.
            String done = site.answered.take();
            while (!done.startsWith("/large")) {
                done = site.answered.take();
            }
            assertTrue(wire.untilClosed().length() < LARGE);
        }
    }

    @Test
    void others_are_served_while_hundreds_are_slow() throws IOException {
        RawConnection[] slow = new RawConnection[300];
        try {
            for (int i = 0; i < slow.length; i++) {
                slow[i] = site.wire().send("GET /healthz HTTP/1.1\r\nX");
            }
            assertEquals(200, site.ask("GET", "/healthz").status());
            for (RawConnection wire : slow) {
                assertEquals("", wire.untilClosed());
            }
        } finally {
            for (RawConnection wire : slow) {
                if (wire != null) {
                    wire.close();
                }
            }
        }
    }
}
