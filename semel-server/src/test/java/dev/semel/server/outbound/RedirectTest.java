package dev.semel.server.outbound;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.error.NotSent;
import dev.semel.error.Rejected;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** S25: nobody is led anywhere, unless the file asks for it, and then only where it could have gone itself. */
final class RedirectTest {
    private final RawServer server = new RawServer();
    private final RawServer other = new RawServer().json("{\"other\":true}");

    @AfterEach
    void shut() {
        server.close();
        other.close();
    }

    private void leads(int status, String location) {
        server.runs((request, socket) -> {
            String answer = request.startsWith("GET /end")
                    ? "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nend"
                    : "HTTP/1.1 " + status + " Moved\r\nLocation: " + location + "\r\nContent-Length: 0\r\n\r\n";
            socket.getOutputStream().write(answer.getBytes(StandardCharsets.US_ASCII));
        });
    }

    private OutboundRequest get(int redirects) {
        OutboundRequest request = OutboundRequest.get(server.url("/begin"));
        return request.options(request.options().maxRedirects(redirects));
    }

    @ParameterizedTest
    @ValueSource(ints = {301, 302, 303, 307, 308})
    void a_redirect_is_told_and_not_followed(int status) throws Exception {
        leads(status, other.url("/"));
        try (OutboundHttpClient outbound = Fixture.dev()) {
            assertEquals(status, outbound.send(get(0)).status());
        }
        assertEquals(1, server.requests().size());
        assertEquals(0, other.connections());
    }

    @ParameterizedTest
    @ValueSource(ints = {301, 302, 303, 307, 308})
    void one_that_may_be_followed_keeps_its_credential_at_the_same_origin(int status) throws Exception {
        leads(status, "/end?x=1");
        try (OutboundHttpClient outbound = Fixture.dev()) {
            OutboundResponse answer = outbound.send(get(1), RequestAuth.bearer("t0ken"));
            assertEquals("\"end\"", answer.orThrow().json().toString());
        }
        assertTrue(server.requests().get(1).startsWith("GET /end?x=1 HTTP/1.1\r\n"));
        assertTrue(server.requests().get(1).contains("Authorization: Bearer t0ken"));
    }

    @Test
    void at_another_origin_nothing_private_goes_along() throws Exception {
        leads(302, other.url("/"));
        try (OutboundHttpClient outbound = Fixture.dev()) {
            OutboundRequest request = get(3).with(RequestHeader.of("X-Internal", "7")).with(RequestHeader.of("Accept", "text/plain"));
            outbound.send(request, RequestAuth.header("X-Api-Key", "t0ken")).orThrow();
        }
        String arrived = other.requests().getFirst();
        assertFalse(arrived.contains("t0ken"), arrived);
        assertFalse(arrived.contains("X-Internal"), arrived);
        assertTrue(arrived.contains("Accept: text/plain"), arrived);
    }

    @Test
    void every_hop_is_checked() {
        leads(302, "http://127.0.0.2:" + other.port() + "/");
        try (OutboundHttpClient outbound = Fixture.serve("127.0.0.1:" + server.port())) {
            assertThrows(NotSent.class, () -> outbound.send(get(3)));
        }
        leads(302, other.url("/")); // the same host at another port is not the host that was allowed
        try (OutboundHttpClient outbound = Fixture.serve("127.0.0.1:" + server.port())) {
            assertThrows(NotSent.class, () -> outbound.send(get(3)));
        }
        assertEquals(2, server.requests().size());
        assertEquals(0, other.connections());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "file:///etc/passwd",
                "gopher://127.0.0.1/",
                "http://user@127.0.0.1/",
                "http://",
                "ht tp://x/",
                "http://169.254.169.254/latest/meta-data",
            })
    void where_nobody_may_go_nobody_is_led(String location) {
        leads(302, location);
        try (OutboundHttpClient outbound = Fixture.dev()) {
            assertThrows(RuntimeException.class, () -> outbound.send(get(3)));
        }
        assertEquals(1, server.requests().size());
    }

    @Test
    void a_circle_ends_where_the_count_does() throws Exception {
        leads(302, "/begin");
        try (OutboundHttpClient outbound = Fixture.dev()) {
            assertEquals(302, outbound.send(get(5)).status());
        }
        assertEquals(6, server.requests().size());
    }

    @Test
    void what_is_not_only_a_look_is_never_sent_on() {
        OutboundRequest post = OutboundRequest.post(server.url("/"), "text/plain", new byte[0]);
        assertThrows(NotSent.class, () -> post.options(post.options().maxRedirects(1)));
    }

    @Test
    void from_https_nobody_is_led_to_http() throws Exception {
        try (Tls tls = Tls.made("SAN=dns:api.example")) {
            RawServer safe = tls.server();
            safe.answers("HTTP/1.1 302 Moved\r\nLocation: " + other.url("/") + "\r\nContent-Length: 0\r\n\r\n");
            var zone = new Fixture.Zone(Map.of("api.example", List.of("127.0.0.1")));
            try (OutboundHttpClient outbound = new OutboundHttpClient(OutboundAddressGuard.of(true, List.of()), zone, tls.trusting(), System::nanoTime)) {
                OutboundRequest get = OutboundRequest.get("https://api.example:" + safe.port() + "/");
                assertThrows(
                        Rejected.class,
                        () -> outbound.send(get.options(get.options().maxRedirects(3))));
            }
            assertEquals(1, safe.requests().size());
            assertEquals(0, other.connections());
        }
    }
}
