package dev.semel.server.http.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.server.http.HttpRouter;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.http.ServerHttpResponse;
import dev.semel.server.http.TokenScope;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** On every route, only as many large bodies are processed at once as fit into memory when parsed. */
class ParsedBodyMemoryTest {
    private static final int MIB = 1 << 20;
    /** So many bodies of 1 MiB exceed the memory for parsed bodies, but not the memory for received ones. */
    private static final int MANY = (int) (Runtime.getRuntime().maxMemory() / 4 / 20 / MIB) + 1;

    private final CountDownLatch released = new CountDownLatch(1);
    private final AtomicInteger handlers = new AtomicInteger();
    private final List<RawConnection> open = new ArrayList<>();
    private final TestHttpServer site = new TestHttpServer(
            HttpServerSettings.defaults("127.0.0.1", 0),
            new HttpRouter()
                    .add("POST", "/v1/hold", TokenScope.READ, this::hold)
                    .add("POST", "/v1/wait", TokenScope.READ, request -> {
                        request.releaseBody();
                        assertEquals(0, request.body().length);
                        return hold(request);
                    }));

    @AfterEach
    void close() throws IOException {
        released.countDown();
        for (RawConnection wire : open) {
            wire.close();
        }
        site.close();
    }

    private ServerHttpResponse hold(ServerHttpRequest request) throws InterruptedException {
        if (handlers.incrementAndGet() == MANY) {
            released.countDown();
        }
        released.await();
        return ServerHttpResponse.empty(204);
    }

    private RawConnection send(String path, int bytes) throws IOException {
        RawConnection wire = site.wire();
        open.add(wire);
        wire.send("POST " + path + " HTTP/1.1\r\nHost: x\r\n" + TestHttpServer.AUTH + "Content-Length: " + bytes
                + "\r\n\r\n");
        return wire.send(new byte[bytes]);
    }

    @Test
    void large_bodies_of_any_route_are_processed_a_few_at_a_time() throws Exception {
        for (int i = 0; i < MANY; i++) {
            send("/v1/hold", MIB);
        }
        assertEquals("/v1/hold 503", site.answered.take());
        assertTrue(handlers.get() < MANY, handlers + " of " + MANY);
        try (RawConnection small = site.wire()) {
            small.send("POST /v1/runs/query HTTP/1.1\r\nHost: x\r\n" + TestHttpServer.AUTH
                    + "Content-Length: 2\r\n\r\n{}");
            assertEquals(200, small.reply().status());
        }
        released.countDown();
        assertEquals(204, send("/v1/hold", MIB).reply().status());
    }

    @Test
    void a_handler_that_waits_without_its_body_leaves_the_memory_to_others() throws Exception {
        for (int i = 0; i < MANY; i++) {
            send("/v1/wait", MIB);
        }
        assertEquals("/v1/wait 204", site.answered.take());
    }
}
