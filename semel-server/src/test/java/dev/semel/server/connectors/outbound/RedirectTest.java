package dev.semel.server.connectors.outbound;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.error.RequestNotSent;
import dev.semel.error.RequestRejected;
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
    void a_redirect_is_reported_and_not_followed(int status) throws Exception {
        leads(status, other.url("/"));
        try (OutboundHttpClient outbound = OutboundFixture.dev()) {
            assertEquals(status, outbound.send(get(0)).status());
        }
        assertEquals(1, server.requests().size());
        assertEquals(0, other.connections());
    }

    @ParameterizedTest
    @ValueSource(ints = {301, 302, 303, 307, 308})
    void a_followed_redirect_keeps_its_credential_at_the_same_origin(int status) throws Exception {
        leads(status, "/end?x=1");
        try (OutboundHttpClient outbound = OutboundFixture.dev()) {
            OutboundResponse answer = outbound.send(get(1), OutboundRequestAuth.bearer("t0ken"));
            assertEquals("\"end\"", answer.orThrow().json().toString());
        }
        assertTrue(server.requests().get(1).startsWith("GET /end?x=1 HTTP/1.1\r\n"));
        assertTrue(server.requests().get(1).contains("Authorization: Bearer t0ken"));
    }

    @Test
    void a_redirect_to_another_origin_drops_credentials() throws Exception {
        leads(302, other.url("/"));
        try (OutboundHttpClient outbound = OutboundFixture.dev()) {
            OutboundRequest request = get(3).with(OutboundRequestHeader.of("X-Internal", "7"))
                    .with(OutboundRequestHeader.of("Accept", "text/plain"));
            outbound.send(request, OutboundRequestAuth.header("X-Api-Key", "t0ken"))
                    .orThrow();
        }
        String arrived = other.requests().getFirst();
        assertFalse(arrived.contains("t0ken"), arrived);
        assertFalse(arrived.contains("X-Internal"), arrived);
        assertTrue(arrived.contains("Accept: text/plain"), arrived);
    }

    @Test
    void every_redirect_target_is_checked() {
        leads(302, "http://127.0.0.2:" + other.port() + "/");
        try (OutboundHttpClient outbound = OutboundFixture.serve("127.0.0.1:" + server.port())) {
            assertThrows(RequestNotSent.class, () -> outbound.send(get(3)));
        }
        leads(302, other.url("/")); // the same host at another port is not the host that was allowed
        try (OutboundHttpClient outbound = OutboundFixture.serve("127.0.0.1:" + server.port())) {
            assertThrows(RequestNotSent.class, () -> outbound.send(get(3)));
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
    void a_redirect_to_a_blocked_address_is_not_followed(String location) {
        leads(302, location);
        try (OutboundHttpClient outbound = OutboundFixture.dev()) {
            assertThrows(RuntimeException.class, () -> outbound.send(get(3)));
        }
        assertEquals(1, server.requests().size());
    }

    @Test
    void a_redirect_loop_ends_at_the_limit() throws Exception {
        leads(302, "/begin");
        try (OutboundHttpClient outbound = OutboundFixture.dev()) {
            assertEquals(302, outbound.send(get(5)).status());
        }
        assertEquals(6, server.requests().size());
    }

    @Test
    void only_reads_follow_redirects() {
        OutboundRequest outboundRequest = OutboundRequest.post(server.url("/"), "text/plain", new byte[0]);
        assertThrows(
                RequestNotSent.class,
                () -> outboundRequest.options(outboundRequest.options().maxRedirects(1)));
    }

    @Test
    void a_redirect_from_https_to_http_is_not_followed() throws Exception {
        try (TlsFixture tls = TlsFixture.made("SAN=dns:api.example")) {
            RawServer safe = tls.server();
            safe.answers("HTTP/1.1 302 Moved\r\nLocation: " + other.url("/") + "\r\nContent-Length: 0\r\n\r\n");
            var zone = new OutboundFixture.TableHostResolver(Map.of("api.example", List.of("127.0.0.1")));
            try (OutboundHttpClient outbound = new OutboundHttpClient(
                    OutboundAddressGuard.of(true, List.of()), zone, tls.trusting(), System::nanoTime)) {
                OutboundRequest get = OutboundRequest.get("https://api.example:" + safe.port() + "/");
                assertThrows(
                        RequestRejected.class,
                        () -> outbound.send(get.options(get.options().maxRedirects(3))));
            }
            assertEquals(1, safe.requests().size());
            assertEquals(0, other.connections());
        }
    }
}
