package dev.semel.server.http.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.server.http.HttpRouter;
import dev.semel.server.http.ServerHttpResponse;
import dev.semel.server.http.TokenScope;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ServerHttpRequestTest {
    private static TestHttpServer site;

    @BeforeAll
    static void open() {
        HttpRouter router = new HttpRouter()
                .add(
                        "GET",
                        "/query",
                        TokenScope.OPEN,
                        r -> text(r.query("a") + " " + r.queryValues("b") + r.queryNames()))
                .add("GET", "/lines", TokenScope.OPEN, r -> text(String.join("|", r.headerLines("idempotency-key"))))
                .add("GET", "/line", TokenScope.OPEN, r -> text(String.valueOf(r.header("Idempotency-Key"))))
                .add("GET", "/who", TokenScope.READ, r -> text(r.principal().tokenId() + " " + r.remoteAddress()));
        site = new TestHttpServer(HttpServerSettings.defaults("127.0.0.1", 0), router);
    }

    @AfterAll
    static void close() {
        site.close();
    }

    private static ServerHttpResponse text(String text) {
        return ServerHttpResponse.of(200, "text/plain", text.getBytes(StandardCharsets.UTF_8));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '>',
            value = {
                "/query?a=1&b=2&b=3 > 1 [2, 3][a, b]",
                "/query?a=x%20y+z%2B&b=%26%3D > x y z+ [&=][a, b]",
                "/query?a=%C3%A9 > é [][a]",
                "/query?a > [][a]",
                "/query?a= > [][a]",
                "/query?a=b=c > b=c [][a]",
                "/query?&&b=1& > null [1][b]",
                "/query > null [][]",
                "/query? > null [][]",
                "/query?A=1 > null [][A]",
            })
    void a_query_is_decoded_once_and_repeated_parameters_are_kept(String target, String expected) throws IOException {
        RawConnection.RawResponse reply = site.ask("GET", target.strip());
        assertEquals(expected.strip(), reply.body().strip());
    }

    @ParameterizedTest
    @ValueSource(strings = {"a=1&a=2", "a=%", "a=%zz", "%c0%ae=1", "a=%00", "a=%0d%0a", "a=%ed%a0%80"})
    void a_bad_query_is_400(String query) throws IOException {
        RawConnection.RawResponse reply = site.ask("GET", "/query?" + query);
        assertEquals(400, reply.status());
        assertTrue(reply.body().contains("\"code\":\"invalid-input\""));
    }

    @Test
    void a_query_has_at_most_64_parameters() throws IOException {
        assertEquals(200, site.ask("GET", "/query?" + "b=1&".repeat(64)).status());
        assertEquals(400, site.ask("GET", "/query?" + "b=1&".repeat(65)).status());
    }

    @Test
    void header_lines_are_kept_as_sent_and_not_split_at_commas() throws IOException {
        assertEquals("", site.ask("GET", "/lines").body());
        assertEquals(
                "a, b|c",
                site.ask("GET", "/lines", "Idempotency-Key:  a, b \t", "IDEMPOTENCY-KEY: c")
                        .body());
        assertEquals(
                "\"a,b\"; x=1",
                site.ask("GET", "/lines", "Idempotency-Key: \"a,b\"; x=1").body());
        assertEquals(
                "a|a",
                site.ask("GET", "/lines", "Idempotency-Key: a", "Idempotency-Key: a")
                        .body());
    }

    @Test
    void an_empty_header_is_not_a_missing_one() throws IOException {
        assertEquals("null", site.ask("GET", "/line").body());
        assertEquals("", site.ask("GET", "/line", "Idempotency-Key:").body());
        assertEquals("", site.ask("GET", "/line", "Idempotency-Key:   ").body());
    }

    @Test
    void a_single_valued_header_sent_twice_is_400() throws IOException {
        assertEquals(
                400,
                site.ask("GET", "/line", "Idempotency-Key: a", "idempotency-key: a")
                        .status());
    }

    @Test
    void a_key_of_255_visible_characters_passes_unchanged() throws IOException {
        StringBuilder all = new StringBuilder();
        for (char c = '!'; c <= '~'; c++) {
            all.append(c);
        }
        String key = (all + "x".repeat(255)).substring(0, 255);
        assertEquals(key, site.ask("GET", "/line", "Idempotency-Key: " + key).body());
    }

    @Test
    void a_byte_outside_ascii_is_never_read_as_a_letter() throws IOException {
        String seen = site.ask("GET", "/line", "Idempotency-Key: \u00e9\u00ff").body();
        assertEquals("\ufffd\ufffd", seen);
    }

    @Test
    void the_principal_and_the_peer_address_are_known() throws IOException {
        assertEquals(
                "tok_dev 127.0.0.1",
                site.ask("GET", "/who", "X-Forwarded-For: 6.6.6.6").body());
    }
}
