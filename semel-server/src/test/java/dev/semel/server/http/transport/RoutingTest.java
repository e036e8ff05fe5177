package dev.semel.server.http.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RoutingTest {
    private static TestHttpServer site;

    @BeforeAll
    static void open() {
        site = new TestHttpServer();
    }

    @AfterAll
    static void close() {
        site.close();
    }

    @Test
    void a_known_path_is_served() throws IOException {
        RawConnection.RawResponse reply = site.ask("GET", "/v1/runs/run_1");
        assertEquals(200, reply.status());
        assertEquals("run_1", reply.body());
    }

    @ParameterizedTest
    @ValueSource(strings = {"/v1/runs/a%2Fb", "/v1/runs/a%2fb"})
    void an_encoded_slash_stays_inside_its_segment(String path) throws IOException {
        assertEquals("a/b", site.ask("GET", path).body());
    }

    @Test
    void a_segment_is_decoded_once() throws IOException {
        assertEquals("a%2Fb", site.ask("GET", "/v1/runs/a%252Fb").body());
        assertEquals("é+ ", site.ask("GET", "/v1/runs/%C3%A9+%20").body());
        assertEquals("a;b", site.ask("GET", "/v1/runs/a%3Bb").body());
    }

    @Test
    void a_literal_segment_precedes_a_parameter_without_hiding_its_methods() throws IOException {
        assertEquals(
                "query", site.ask("POST", "/v1/runs/query", "Content-Length: 0").body());
        assertEquals("query", site.ask("GET", "/v1/runs/query").body());
        assertEquals(
                "GET, HEAD, OPTIONS, POST", site.ask("PUT", "/v1/runs/query").header("allow"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/v1/%72uns",
                "/V1/RUNS",
                "/v1/runs/",
                "//v1/runs",
                "/v1//runs",
                "/v1/runs;/healthz",
                "/v1/runs;a=b",
                "/healthz/../v1/runs",
                "/healthz/%2e%2e/v1/runs",
                "/v1/runs/..",
                "/v1/runs/.",
                "/v1/runs/%2e%2e",
                "/v1/runs/%2E",
                "/v1/runs/a;b",
                "/v1/runs/%00",
                "/v1/runs/%0d%0aX:%20y",
                "/v1/runs/%c0%ae",
                "/v1/runs/%",
                "/v1/runs/%4",
                "/v1/runs/%zz",
                "/v1/runs/%ed%a0%80",
                "/v1/runs/%7f",
                "/v1/runs/%c2%85",
                "/v1",
                "/v1/",
                "/v1/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/r/s/t",
                "/healthz/",
                "/healthz;x",
                "/./healthz"
            })
    void another_spelling_of_a_path_never_matches(String path) throws IOException {
        site.handled.clear();
        int status = site.ask("GET", path).status();
        assertTrue(status == 404 || status == 400, path + " got " + status);
        assertTrue(site.handled.isEmpty(), "reached a handler: " + site.handled);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/v1/runs",
                "/v1/nothing",
                "/v1",
                "/v1/",
                "/v1/runs/",
                "/v1/%72uns",
                "/v1/runs/%zz",
                "/v1/runs/..",
                "/v1/runs;/healthz",
                "/v1//runs",
                "/v1/runs/configs"
            })
    void unauthenticated_requests_under_v1_look_the_same(String path) throws IOException {
        for (String method : new String[] {"GET", "DELETE", "OPTIONS"}) {
            RawConnection.RawResponse reply = site.askAs("", method, path);
            assertEquals(401, reply.status(), method + " " + path);
            assertEquals("Bearer realm=\"semel\"", reply.header("www-authenticate"));
        }
    }

    @Test
    void an_open_route_under_v1_needs_no_credential_for_its_own_method_only() throws IOException {
        assertEquals(
                200,
                site.askAs("", "POST", "/v1/webhooks/src_1", "Content-Length: 0")
                        .status());
        assertEquals(401, site.askAs("", "GET", "/v1/webhooks/src_1").status());
    }

    @Test
    void a_route_outside_v1_with_a_scope_needs_a_credential() throws IOException {
        assertEquals(401, site.askAs("", "GET", "/metrics").status());
        assertEquals(401, site.askAs("", "PUT", "/metrics").status());
        assertEquals(200, site.ask("GET", "/metrics").status());
    }

    @Test
    void another_method_is_405_and_says_which_are_allowed() throws IOException {
        RawConnection.RawResponse reply = site.ask("DELETE", "/v1/runs");
        assertEquals(405, reply.status());
        assertEquals("GET, HEAD, OPTIONS", reply.header("allow"));
        assertTrue(reply.body().contains("\"code\":\"method-not-allowed\""));
    }

    @Test
    void options_says_which_methods_are_allowed() throws IOException {
        RawConnection.RawResponse reply = site.ask("OPTIONS", "/v1/runs");
        assertEquals(204, reply.status());
        assertEquals("GET, HEAD, OPTIONS", reply.header("allow"));
    }

    @Test
    void head_is_get_without_the_body_and_the_connection_stays_in_sync() throws IOException {
        try (RawConnection wire = site.wire()) {
            wire.send("HEAD /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
            RawConnection.RawResponse head = wire.head();
            assertEquals(200, head.status());
            assertEquals("2", head.header("content-length"));
            wire.send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
            assertEquals("ok", wire.reply().body());
        }
    }

    @Test
    void the_observer_gets_the_route_pattern_and_never_the_path() throws Exception {
        try (TestHttpServer own = new TestHttpServer()) {
            own.ask("GET", "/v1/runs/run_77");
            assertEquals("/v1/runs/{run_id} 200", own.answered.take());
            own.ask("GET", "/v1/stranger");
            assertEquals("- 404", own.answered.take());
        }
    }
}
