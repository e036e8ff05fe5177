package dev.semel.server.http.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.server.http.AllowedHosts;
import dev.semel.server.http.TrustedProxies;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The memory for request bodies: bodies that nobody sent use none, and callers without a credential use little. */
class RequestBodyMemoryTest {
    private static final int MIB = 1 << 20;
    /** So many announced bodies of 1 MiB exceed the memory for all bodies. */
    private static final int MANY = (int) (Runtime.getRuntime().maxMemory() / 16 / MIB) + 4;

    private final TestHttpServer site = new TestHttpServer(
            HttpServerSettings.defaults("127.0.0.1", 0, TrustedProxies.of(List.of("127.0.0.1")), AllowedHosts.ANY));
    private final List<RawConnection> open = new ArrayList<>();

    @AfterEach
    void close() throws IOException {
        for (RawConnection wire : open) {
            wire.close();
        }
        site.close();
    }

    /** The server sends 100 Continue when it starts to read the body. */
    private RawConnection announce(String path, String headers) throws IOException {
        RawConnection wire = site.wire();
        open.add(wire);
        wire.send("POST " + path + " HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: " + MIB + "\r\n"
                + headers + "\r\n");
        assertEquals(100, wire.head().status());
        return wire;
    }

    private int trigger() throws IOException {
        try (RawConnection wire = site.wire()) {
            wire.send("POST /v1/workflows/w/trigger HTTP/1.1\r\nHost: x\r\n" + TestHttpServer.AUTH
                    + "Content-Length: 100000\r\n\r\n" + "x".repeat(100_000));
            return wire.reply().status();
        }
    }

    @Test
    void announced_bodies_that_do_not_arrive_use_no_memory() throws IOException {
        for (int i = 0; i < MANY; i++) {
            announce("/v1/webhooks/w", "X-Forwarded-For: 10.0.0." + i % 250 + "\r\n");
        }
        assertEquals(200, trigger());
        try (RawConnection wire = site.wire()) {
            wire.send("POST /v1/webhooks/other HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}");
            assertEquals(200, wire.reply().status());
        }
    }

    @Test
    void announced_bodies_of_a_token_that_do_not_arrive_use_no_memory() throws IOException {
        for (int i = 0; i < MANY; i++) {
            announce("/v1/workflows/w/trigger", TestHttpServer.AUTH);
        }
        assertEquals(200, trigger());
    }

    @Test
    void received_bodies_without_a_credential_leave_the_memory_of_others_free() throws Exception {
        byte[] almost = new byte[MIB - 1];
        for (int i = 0; i < MANY; i++) {
            sendUnlessClosed(announce("/v1/webhooks/w", "X-Forwarded-For: 10.0." + i + ".1\r\n"), almost);
        }
        assertEquals("/v1/webhooks/{source} 503", site.answered.take());
        assertEquals(200, trigger());
    }

    @Test
    void received_bodies_of_one_address_leave_memory_to_other_addresses() throws Exception {
        byte[] almost = new byte[MIB - 1];
        for (int i = 0; i < MANY; i++) {
            sendUnlessClosed(announce("/v1/webhooks/w", "X-Forwarded-For: 10.0.0.1\r\n"), almost);
        }
        assertEquals("/v1/webhooks/{source} 503", site.answered.take());
        try (RawConnection wire = site.wire()) {
            wire.send("POST /v1/webhooks/other HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 10.0.0.2\r\n"
                    + "Content-Length: 100000\r\n\r\n" + "x".repeat(100_000));
            assertEquals(200, wire.reply().status());
        }
    }

    @Test
    void a_body_that_no_longer_fits_gets_503_and_its_memory_is_free_again() throws Exception {
        byte[] almost = new byte[MIB - 1];
        List<RawConnection> senders = new ArrayList<>();
        for (int i = 0; i < MANY; i++) {
            RawConnection wire = announce("/v1/webhooks/w", "X-Forwarded-For: 10.0.0.1\r\n");
            senders.add(wire);
            sendUnlessClosed(wire, almost);
        }
        site.answered.take();
        int accepted = 0;
        for (RawConnection wire : senders) {
            sendUnlessClosed(wire, new byte[1]);
            RawConnection.RawResponse reply = wire.replyOrNull();
            if (reply != null && reply.status() == 503) {
                assertTrue(reply.body().contains("\"code\":\"overloaded\""), reply.body());
            }
            accepted += reply != null && reply.status() == 200 ? 1 : 0;
        }
        assertTrue(accepted > 0 && accepted < MANY, accepted + " of " + MANY);
        for (int i = 0; i < 2 * MANY; i++) {
            try (RawConnection wire = announce("/v1/webhooks/w", "X-Forwarded-For: 10.0.0.1\r\n")) {
                assertEquals(200, wire.send(new byte[MIB]).reply().status());
            }
        }
    }

    private static void sendUnlessClosed(RawConnection wire, byte[] bytes) {
        try {
            wire.send(bytes);
        } catch (IOException e) {
            return; // the server rejected this body before its end
        }
    }
}
