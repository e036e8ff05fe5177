package dev.semel.server.outbound;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.error.NotSent;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLSocketFactory;
import org.junit.jupiter.api.Test;

/** S47: who is not who it should be is told nothing. */
final class TlsTest {
    private static OutboundHttpClient client(SSLSocketFactory trust) {
        var zone = new Fixture.Zone(Map.of("api.example", List.of("127.0.0.1")));
        return new OutboundHttpClient(OutboundAddressGuard.of(true, List.of()), zone, trust, System::nanoTime);
    }

    private static OutboundRequest post(RawServer server) {
        return OutboundRequest.post(
                "https://api.example:" + server.port() + "/", "text/plain", "secret".getBytes(StandardCharsets.UTF_8));
    }

    private static void refused(Tls tls, SSLSocketFactory trust, String why) {
        try (tls;
                OutboundHttpClient outbound = client(trust)) {
            NotSent refused = assertThrows(NotSent.class, () -> outbound.send(post(tls.server())));
            assertTrue(refused.toString().contains(why), refused.getMessage());
            assertEquals(List.of(), tls.server().requests());
        }
    }

    @Test
    void a_certificate_for_the_name_that_was_asked_for_is_good_though_the_connection_goes_to_an_address()
            throws Exception {
        try (Tls tls = Tls.made("SAN=dns:api.example");
                OutboundHttpClient outbound = client(tls.trusting())) {
            tls.server().json("{\"ok\":true}");
            assertEquals(
                    "{\"ok\":true}", outbound.send(post(tls.server())).json().toString());
        }
    }

    @Test
    void a_certificate_for_another_host_is_refused() throws Exception {
        Tls tls = Tls.made("SAN=dns:other.example");
        refused(tls, tls.trusting(), "the certificate is for another host");
    }

    @Test
    void a_certificate_that_has_expired_is_refused() throws Exception {
        Tls tls = Tls.made("SAN=dns:api.example", "-startdate", "-10d", "-validity", "5");
        refused(tls, tls.trusting(), "the certificate has expired");
    }

    @Test
    void a_certificate_that_nobody_vouches_for_is_refused() throws Exception {
        refused(
                Tls.made("SAN=dns:api.example"),
                (SSLSocketFactory) SSLSocketFactory.getDefault(),
                "no certificate authority that this server trusts issued the certificate");
    }

    @Test
    void a_server_without_tls_gets_nothing_but_the_beginning_of_a_handshake() throws Exception {
        try (RawServer plain = new RawServer();
                Tls tls = Tls.made("SAN=dns:api.example");
                OutboundHttpClient outbound = client(tls.trusting())) {
            OutboundRequest hasty = post(plain).options(OutboundRequest.SendOptions.USUAL.timeout(Duration.ofMillis(300)));
            assertThrows(NotSent.class, () -> outbound.send(hasty));
            assertTrue(plain.requests().stream().noneMatch(text -> text.contains("secret")));
        }
    }

    @Test
    void a_connection_that_breaks_behind_the_handshake_leaves_it_unknown() throws Exception {
        try (Tls tls = Tls.made("SAN=dns:api.example");
                OutboundHttpClient outbound = client(tls.trusting())) {
            IOException unknown = assertThrows(IOException.class, () -> outbound.send(post(tls.server())));
            assertEquals(1, tls.server().requests().size(), unknown.toString());
        }
    }
}
