package dev.semel.server.http.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.server.http.HttpRouter;
import dev.semel.server.http.ServerHttpResponse;
import dev.semel.server.http.TokenScope;
import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

class StopTest {
    private final CountDownLatch arrived = new CountDownLatch(1);
    private final CountDownLatch release = new CountDownLatch(1);
    private final CountDownLatch interrupted = new CountDownLatch(1);
    private final HttpRouter router = new HttpRouter().add("GET", "/slow", TokenScope.OPEN, _ -> {
        arrived.countDown();
        try {
            release.await();
        } catch (InterruptedException e) {
            interrupted.countDown();
        }
        return ServerHttpResponse.empty(204);
    });

    @Test
    void requests_in_flight_finish_new_ones_get_503_and_no_connection_is_accepted() throws Exception {
        TestHttpServer site = new TestHttpServer(HttpServerSettings.defaults("127.0.0.1", 0), router);
        try (RawConnection slow = site.wire();
                RawConnection rawConnection = site.wire()) {
            rawConnection.send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
            assertEquals(200, rawConnection.reply().status());
            slow.send("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n");
            arrived.await();
            Thread stopping = Thread.ofPlatform().start(site::close);
            untilRefused(site);

            rawConnection.send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
            RawConnection.RawResponse refused = rawConnection.reply();
            assertEquals(503, refused.status());
            assertTrue(refused.body().contains("\"code\":\"shutting-down\""), refused.body());
            assertEquals("1", refused.header("retry-after"));
            assertEquals("close", refused.header("connection"));
            assertEquals("", rawConnection.untilClosed());

            assertTrue(stopping.isAlive());
            release.countDown();
            assertEquals(204, slow.reply().status());
            stopping.join();
        }
    }

    @Test
    void a_stop_does_not_wait_for_idle_connections() throws Exception {
        TestHttpServer site = new TestHttpServer(TestHttpServer.drainingFor(Duration.ofHours(1)), router);
        try (RawConnection rawConnection = site.wire()) {
            rawConnection.send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n").reply();
            site.close();
            assertEquals("", rawConnection.untilClosed());
        }
    }

    @Test
    void a_request_that_exceeds_the_drain_time_is_interrupted() throws Exception {
        TestHttpServer site = new TestHttpServer(TestHttpServer.drainingFor(Duration.ofMillis(100)), router);
        try (RawConnection slow = site.wire()) {
            slow.send("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n");
            arrived.await();
            site.close();
            interrupted.await();
            assertFalse(slow.untilClosed().contains("200"));
        }
    }

    @Test
    void an_occupied_port_is_a_startup_error() {
        try (TestHttpServer first = new TestHttpServer()) {
            HttpServerSettings same = HttpServerSettings.defaults("127.0.0.1", first.server.port());
            assertThrows(RuntimeException.class, () -> new TestHttpServer(same));
        }
    }

    private static void untilRefused(TestHttpServer site) throws IOException {
        while (true) {
            try (RawConnection wire = site.wire()) {
                // Before the stop has begun this is a 200, then a 503 or nothing.
                wire.send("GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                        .untilClosed();
            } catch (ConnectException e) {
                return;
            } catch (SocketException e) {
                // Accepted by the system and reset by the closing listener: try again.
            }
        }
    }
}
