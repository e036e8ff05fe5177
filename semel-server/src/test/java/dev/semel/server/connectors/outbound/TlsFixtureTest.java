package dev.semel.server.connectors.outbound;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.error.RequestNotSent;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLSocketFactory;
import org.junit.jupiter.api.Test;

/** S47: who is not who it should be is notified nothing. */
final class TlsFixtureTest {
    private static OutboundHttpClient client(SSLSocketFactory trust) {
        var zone = new OutboundFixture.TableHostResolver(Map.of("api.example", List.of("127.0.0.1")));
        return new OutboundHttpClient(OutboundAddressGuard.of(true, List.of()), zone, trust, System::nanoTime);
    }

    private static OutboundRequest post(RawServer server) {
        return OutboundRequest.post(
                "https://api.example:" + server.port() + "/", "text/plain", "secret".getBytes(StandardCharsets.UTF_8));
    }

    private static void refused(TlsFixture tls, SSLSocketFactory trust, String why) {
        try (tls;
                OutboundHttpClient outbound = client(trust)) {
            RequestNotSent refused = assertThrows(RequestNotSent.class, () -> outbound.send(post(tls.server())));
            assertTrue(refused.toString().contains(why), refused.getMessage());
            assertEquals(List.of(), tls.server().requests());
        }
    }

    @Test
    void a_certificate_for_the_requested_host_is_valid_for_its_address() throws Exception {
        try (TlsFixture tls = TlsFixture.made("SAN=dns:api.example");
                OutboundHttpClient outbound = client(tls.trusting())) {
            tls.server().json("{\"ok\":true}");
            assertEquals(
                    "{\"ok\":true}", outbound.send(post(tls.server())).json().toString());
        }
    }

    @Test
    void a_certificate_for_another_host_is_rejected() throws Exception {
        TlsFixture tls = TlsFixture.made("SAN=dns:other.example");
        refused(tls, tls.trusting(), "the certificate is for another host");
    }

    @Test
    void a_certificate_that_has_expired_is_rejected() throws Exception {
        TlsFixture tls = TlsFixture.made("SAN=dns:api.example", "-startdate", "-10d", "-validity", "5");
        refused(tls, tls.trusting(), "the certificate has expired");
    }

    @Test
    void a_certificate_of_an_untrusted_issuer_is_rejected() throws Exception {
        refused(
                TlsFixture.made("SAN=dns:api.example"),
                (SSLSocketFactory) SSLSocketFactory.getDefault(),
                "no certificate authority that this server trusts issued the certificate");
    }

    @Test
    void a_server_without_tls_gets_only_a_client_hello() throws Exception {
        try (RawServer plain = new RawServer();
                TlsFixture tls = TlsFixture.made("SAN=dns:api.example");
                OutboundHttpClient outbound = client(tls.trusting())) {
            OutboundRequest hasty =
                    post(plain).options(OutboundRequest.SendOptions.USUAL.timeout(Duration.ofMillis(300)));
            assertThrows(RequestNotSent.class, () -> outbound.send(hasty));
            assertTrue(plain.requests().stream().noneMatch(text -> text.contains("secret")));
        }
    }

    @Test
    void a_connection_broken_after_the_handshake_is_an_unknown_outcome() throws Exception {
        try (TlsFixture tls = TlsFixture.made("SAN=dns:api.example");
                OutboundHttpClient outbound = client(tls.trusting())) {
            IOException unknown = assertThrows(IOException.class, () -> outbound.send(post(tls.server())));
            assertEquals(1, tls.server().requests().size(), unknown.toString());
        }
    }
}
