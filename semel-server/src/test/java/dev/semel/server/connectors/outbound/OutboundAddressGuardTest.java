package dev.semel.server.connectors.outbound;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.error.RequestNotSent;
import java.net.InetAddress;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** S23, S24 and S26: nothing is sent to where it may not go, however the place is written. */
final class OutboundAddressGuardTest {
    private final RawServer server = new RawServer().json("{}");

    @AfterEach
    void shut() {
        server.close();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "http://127.0.0.1:PORT/",
                "http://127.0.0.2:PORT/",
                "http://2130706433:PORT/",
                "http://0x7f000001:PORT/",
                "http://0177.0.0.1:PORT/",
                "http://127.1:PORT/",
                "http://0:PORT/",
                "http://0.0.0.0:PORT/",
                "http://[::]:PORT/",
                "http://[::1]:PORT/",
                "http://[::ffff:127.0.0.1]:PORT/",
                "http://[::ffff:7f00:1]:PORT/",
                "http://[::127.0.0.1]:PORT/",
                "http://[64:ff9b::7f00:1]:PORT/",
                "http://[64:ff9b:1::7f00:1]:PORT/",
                "http://[2002:7f00:1::]:PORT/",
                "http://localhost:PORT/",
                "http://localhost.:PORT/",
                "http://LOCALHOST:PORT/",
                "http://good@127.0.0.1:PORT/",
                "http://user:password@127.0.0.1:PORT/",
                "http://127.0.0.1%2f@good.example:PORT/",
                "http://good.example\\@127.0.0.1:PORT/",
                "http://127.0.0.1:PORT\r\n/",
                "http://127.0.0.1:0/",
                "http://127.0.0.1:65536/",
                "http://a_b.example:PORT/",
                "http://[fe80::1%25lo]:PORT/",
                "file:///etc/passwd",
                "jar:http://127.0.0.1:PORT/x.jar!/",
                "ftp://127.0.0.1:PORT/",
                "gopher://127.0.0.1:PORT/_x",
                "//127.0.0.1:PORT/",
                "http:/127.0.0.1:PORT/",
                "http:127.0.0.1:PORT",
                "127.0.0.1:PORT",
                "http://",
                "",
            })
    void a_server_sends_nothing_to_itself_under_any_spelling(String url) {
        String written = url.replace("PORT", "" + server.port());
        try (OutboundHttpClient outbound = OutboundFixture.serve()) {
            assertThrows(RequestNotSent.class, () -> outbound.send(OutboundRequest.get(written)));
        }
        assertEquals(0, server.connections());
    }

    @ParameterizedTest
    @CsvSource({
        "0.1.2.3, reserved for the local network",
        "10.0.0.1, private",
        "10.255.255.255, private",
        "100.64.0.1, shared carrier-grade NAT",
        "100.127.255.255, shared carrier-grade NAT",
        "127.255.255.254, loopback",
        "'169.254.169.254', 'link-local, used for cloud metadata'",
        "'168.63.129.16', 'the platform service of Azure'",
        "172.16.0.1, private",
        "172.31.255.255, private",
        "192.0.0.192, reserved",
        "192.0.2.1, reserved for documentation",
        "192.168.1.1, private",
        "198.18.0.1, reserved for benchmarks",
        "198.19.255.255, reserved for benchmarks",
        "198.51.100.7, reserved for documentation",
        "203.0.113.7, reserved for documentation",
        "224.0.0.1, multicast",
        "239.255.255.255, multicast",
        "240.0.0.1, reserved",
        "255.255.255.255, reserved",
        "::, reserved",
        "::1, loopback",
        "::10.0.0.1, reserved",
        "64:ff9b::a00:1, private",
        "64:ff9b::a9fe:a9fe, 'link-local, used for cloud metadata'",
        "64:ff9b:1::1, reserved",
        "100::1, reserved",
        "2001::1, reserved",
        "2001:db8::1, reserved for documentation",
        "2002:a00:1::, an embedded IPv4 address",
        "3fff::1, reserved for documentation",
        "fc00::1, private",
        "fd00:ec2::254, private",
        "fe80::1, link-local",
        "fec0::1, reserved",
        "ff02::1, multicast",
    })
    void private_addresses_are_blocked(String address, String why) throws Exception {
        assertEquals(why, PublicIpAddressCheck.blockedReason(InetAddress.getByName(address)));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "1.1.1.1",
                "9.255.255.255",
                "11.0.0.0",
                "93.184.216.34",
                "100.63.255.255",
                "100.128.0.0",
                "126.255.255.255",
                "128.0.0.1",
                "169.253.255.255",
                "172.15.255.255",
                "172.32.0.0",
                "192.0.1.1",
                "192.167.255.255",
                "198.17.255.255",
                "198.20.0.0",
                "223.255.255.255",
                "2606:2800:220:1::1",
                "2a00:1450::1",
                "2001:4860:4860::8888",
                "64:ff9b::101:101",
            })
    void public_addresses_are_allowed(String address) throws Exception {
        assertEquals(null, PublicIpAddressCheck.blockedReason(InetAddress.getByName(address)));
    }

    @Test
    void an_ipv4_mapped_address_is_checked_as_ipv4() throws Exception {
        byte[] mapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, -1, 10, 0, 0, 1};
        InetAddress six = java.net.Inet6Address.getByAddress("", mapped, -1);
        assertEquals("private", PublicIpAddressCheck.blockedReason(PublicIpAddressCheck.unmapped(six)));
    }

    @Test
    void the_checked_address_is_the_one_connected_to() throws Exception {
        try (RawServer other = new RawServer("127.0.0.2", server.port()).json("{}")) {
            var zone = new OutboundFixture.TableHostResolver(Map.of("api.example", List.of("127.0.0.1", "127.0.0.2")));
            try (OutboundHttpClient outbound = OutboundFixture.dev(zone)) {
                outbound.send(OutboundRequest.get("http://api.example:" + server.port() + "/"));
            }
            assertEquals(List.of("api.example"), zone.asked, "a second look-up could give another answer");
            assertEquals(1, server.requests().size());
            assertEquals(0, other.connections());
            assertTrue(server.requests().getFirst().contains("Host: api.example:" + server.port() + "\r\n"));
        }
    }

    @Test
    void of_several_addresses_only_allowed_ones_are_called() throws Exception {
        var zone = new OutboundFixture.TableHostResolver(
                Map.of("api.example", List.of("10.0.0.1 169.254.169.254 127.0.0.1")));
        try (OutboundHttpClient outbound = OutboundFixture.dev(zone)) {
            assertEquals(
                    200,
                    outbound.send(OutboundRequest.get("http://api.example:" + server.port() + "/"))
                            .status());
        }
        var closed = new OutboundFixture.TableHostResolver(Map.of("api.example", List.of("10.0.0.1 169.254.169.254")));
        try (OutboundHttpClient outbound = OutboundFixture.dev(closed)) {
            var refused = assertThrows(
                    RequestNotSent.class, () -> outbound.send(OutboundRequest.get("http://api.example:8/")));
            assertEquals(
                    "the host api.example:8 resolves to an address that this server may not call (link-local, used for"
                            + " cloud metadata). Nothing was sent. To allow it, start the server with --allow-host"
                            + " api.example:8.",
                    refused.getMessage());
        }
    }

    @ParameterizedTest
    @CsvSource({
        "localhost, true",
        "LocalHost, true",
        "localhost., true",
        "localhost:PORT, true",
        "localhost:1, false",
        "other, false",
        "host, false",
    })
    void a_host_is_allowed_by_name_and_optional_port(String allowed, boolean called) throws Exception {
        OutboundRequest request = OutboundRequest.get("http://localhost:" + server.port() + "/");
        try (OutboundHttpClient outbound = OutboundFixture.serve(allowed.replace("PORT", "" + server.port()))) {
            if (called) {
                outbound.send(request);
            } else {
                assertThrows(RequestNotSent.class, () -> outbound.send(request));
            }
        }
        assertEquals(called ? 1 : 0, server.connections());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a b", "http://a", "a:0", "a:65536", "a:b", "a/b", "fd00::1", "a:1:2", "*"})
    void an_invalid_allowed_host_is_rejected(String host) {
        assertThrows(IllegalArgumentException.class, () -> OutboundAddressGuard.of(false, List.of(host)));
    }

    @Test
    void a_proxy_of_the_environment_is_not_used() throws Exception {
        try (RawServer proxy = new RawServer().json("{}");
                OutboundHttpClient outbound = OutboundFixture.dev()) {
            System.setProperty("http.proxyHost", "127.0.0.1");
            System.setProperty("http.proxyPort", "" + proxy.port());
            System.setProperty("socksProxyHost", "127.0.0.1");
            System.setProperty("socksProxyPort", "" + proxy.port());
            System.setProperty("http.nonProxyHosts", "");
            try {
                outbound.send(OutboundRequest.get(server.url("/")));
            } finally {
                List.of("http.proxyHost", "http.proxyPort", "socksProxyHost", "socksProxyPort", "http.nonProxyHosts")
                        .forEach(System::clearProperty);
            }
            assertEquals(0, proxy.connections());
            assertEquals(1, server.connections());
        }
    }
}
