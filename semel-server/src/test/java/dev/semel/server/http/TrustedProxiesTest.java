package dev.semel.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Whose word is taken about where a request comes from. */
class TrustedProxiesTest {
    private final TrustedProxies two = TrustedProxies.of(List.of("127.0.0.1", "10.1.2.0/23", "2001:db8:1::/48"));

    private String client(String peer, String... forwarded) {
        return two.clientAddress(peer, List.of(forwarded));
    }

    @Test
    void forwarded_headers_of_an_untrusted_peer_are_ignored() {
        assertEquals("203.0.113.9", client("203.0.113.9", "198.51.100.1"));
        assertEquals("10.1.4.0", client("10.1.4.0", "198.51.100.1"), "just beyond the range");
        assertEquals(
                "127.0.0.1",
                TrustedProxies.NONE.clientAddress("127.0.0.1", List.of("198.51.100.1")),
                "nor of this machine");
    }

    @Test
    void behind_a_trusted_proxy_the_last_untrusted_address_is_the_client() {
        assertEquals("198.51.100.1", client("127.0.0.1", "198.51.100.1"));
        assertEquals("198.51.100.1", client("127.0.0.1", "8.8.8.8, 198.51.100.1"), "what stands before is invented");
        assertEquals("198.51.100.1", client("127.0.0.1", "8.8.8.8", "198.51.100.1,10.1.3.255"), "line by line");
        assertEquals("198.51.100.1", client("2001:db8:1::7", "198.51.100.1:4711"));
        assertEquals("2001:db8:2:0:0:0:0:9", client("10.1.2.1", "[2001:db8:2::9]:443"));
        assertEquals("2001:db8:2:0:0:0:0:9", client("10.1.2.1", "2001:db8:2::9"));
    }

    @Test
    void a_proxy_without_forwarded_header_is_the_client_itself() {
        for (String nothing : List.of("", "unknown", "198.51.100.1, ", "_hidden", "[", "example.com", "1.2.3")) {
            assertEquals("127.0.0.1", client("127.0.0.1", nothing), nothing);
        }
        assertEquals("127.0.0.1", two.clientAddress("127.0.0.1", List.of()));
        assertEquals("10.1.2.5", client("127.0.0.1", "198.51.100.1, unknown, 10.1.2.5"), "nor who stands behind it");
        assertEquals("10.1.2.9", client("127.0.0.1", "10.1.2.9, 10.1.2.5"), "all of them are ours");
    }

    @Test
    void a_trusted_proxy_is_an_address_or_a_range_and_never_everyone() {
        for (String wrong : List.of("proxy.local", "10.0.0.0/0", "10.0.0.0/33", "::/0", "10.0.0.1/", "/8", "", "1/8")) {
            assertThrows(IllegalArgumentException.class, () -> TrustedProxies.of(List.of(wrong)), wrong);
        }
    }
}
