package dev.semel.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.server.http.transport.RawConnection;
import dev.semel.server.http.transport.TestHttpServer;
import java.io.IOException;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RequestAuthorizerTest {
    private static TestHttpServer site;

    @BeforeAll
    static void open() {
        site = new TestHttpServer();
    }

    @AfterAll
    static void close() {
        site.close();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "Authorization:\r\n",
                "Authorization: dev\r\n",
                "Authorization: Bearer\r\n",
                "Authorization: Bearer \r\n",
                "Authorization: Basic ZGV2OmRldg==\r\n",
                "Authorization: Bearerdev\r\n",
                "Authorization: Bearer  dev\r\n",
                "Authorization: Bearer d ev\r\n",
                "Authorization: Bearer dev, Bearer dev\r\n",
                "Authorization: Bearer d\u00e9v\r\n",
                "Authorization: Bearer Dev\r\n",
                "Authorization: Bearer dev\r\nAuthorization: Bearer dev\r\n",
                "Authorization: Bearer dev\r\nauthorization: Basic x\r\n",
                "X-Api-Key: dev\r\n",
            })
    void anything_but_one_good_bearer_line_is_401(String header) throws IOException {
        RawConnection.RawResponse reply = site.askAs(header, "GET", "/v1/runs?api_key=dev&access_token=dev");
        assertEquals(401, reply.status());
        assertEquals("Bearer realm=\"semel\"", reply.header("www-authenticate"));
        assertTrue(reply.body().contains("\"code\":\"unauthenticated\""));
    }

    @Test
    void a_token_over_512_characters_is_not_looked_up() throws IOException {
        site.asked.clear();
        assertEquals(401, site.askAs(bearer("a".repeat(512)), "GET", "/v1/runs").status());
        assertEquals(401, site.askAs(bearer("a".repeat(513)), "GET", "/v1/runs").status());
        assertEquals(1, site.asked.size());
    }

    @ParameterizedTest
    @ValueSource(strings = {"Bearer", "bearer", "BEARER"})
    void the_scheme_may_be_in_any_case(String scheme) throws IOException {
        assertEquals(
                200,
                site.askAs("Authorization: " + scheme + " dev\r\n", "GET", "/v1/runs")
                        .status());
    }

    @Test
    void a_missing_scope_is_403_and_admin_implies_no_other() throws IOException {
        RawConnection.RawResponse reply = site.askAs(bearer("admin"), "GET", "/v1/runs");
        assertEquals(403, reply.status());
        assertTrue(reply.body().contains("\"scope\":\"read\""));
    }

    @Test
    void the_body_is_not_read_before_authentication() throws IOException {
        try (RawConnection wire = site.wire()) {
            wire.send("POST /v1/workflows/w/trigger HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n"
                    + "Content-Length: 5\r\n\r\n");
            assertEquals(401, wire.reply().status());
            assertEquals("", wire.untilClosed());
        }
    }

    @Test
    void an_authenticator_that_fails_is_500_without_its_text() throws IOException {
        RawConnection.RawResponse reply = site.askAs(bearer("explode"), "GET", "/v1/runs");
        assertEquals(500, reply.status());
        assertFalse(reply.body().contains("secret text"));
        assertEquals("secret text of the store", site.failures.element().getMessage());
        assertTrue(reply.body().contains("urn:uuid:" + site.instances.element()));
    }

    @Test
    void open_is_not_a_scope_of_a_token() {
        assertThrows(IllegalArgumentException.class, () -> new Principal("t", 1, "w", Set.of(TokenScope.OPEN)));
    }

    private static String bearer(String token) {
        return "Authorization: Bearer " + token + "\r\n";
    }
}
