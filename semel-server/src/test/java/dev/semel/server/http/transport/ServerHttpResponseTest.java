package dev.semel.server.http.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.http.HttpProblemResponseMapper;
import dev.semel.server.http.HttpRouter;
import dev.semel.server.http.ServerHttpResponse;
import dev.semel.server.http.TokenScope;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class ServerHttpResponseTest {
    private static final UUID ID = new UUID(1, 2);

    @ParameterizedTest
    @ValueSource(
            strings = {"x\r\nSet-Cookie: a=b", "a\nb", "a\rb", "a\0b", "\u001b[2J", "é", "a\u2028b", "a\u007fb", "\t"})
    void a_header_value_that_could_end_its_line_is_rejected_and_not_echoed(String value) {
        IllegalArgumentException e = assertThrows(
                IllegalArgumentException.class,
                () -> ServerHttpResponse.empty(200).with("X-Workflow", value));
        assertFalse(String.valueOf(e.getMessage()).contains(value));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "X: y", "X\r\nY", "X Y", "Content-Length", "transfer-encoding", "Connection"})
    void an_invalid_or_framing_header_name_is_rejected(String name) {
        assertThrows(
                IllegalArgumentException.class,
                () -> ServerHttpResponse.empty(200).with(name, "x"));
    }

    @Test
    void a_response_does_not_change_when_another_is_derived_from_it() {
        ServerHttpResponse plain = ServerHttpResponse.json(200, new byte[0]);
        ServerHttpResponse more = plain.with("Location", "/v1/runs/run_1");
        assertNull(plain.header("location"));
        assertEquals("/v1/runs/run_1", more.header("location"));
        assertEquals("no-store", more.header("cache-control"));
    }

    @Test
    void a_problem_has_every_member_and_header() {
        SemelException error = new SemelException(ErrorCode.IDEMPOTENCY_KEY_CONFLICT, "What. State.", "Do this.")
                .with("run_id", "run_1")
                .with("changed", List.of("amount"))
                .with("status", "must not win");
        ServerHttpResponse answer = HttpProblemResponseMapper.toResponse(error, ID);
        assertEquals(422, answer.status());
        assertEquals("application/problem+json", answer.header("content-type"));
        assertEquals("en", answer.header("content-language"));
        assertEquals("no-store", answer.header("cache-control"));
        assertEquals("</docs/idempotency>; rel=\"describedby\"; type=\"text/plain\"", answer.header("link"));
        JsonNode expected = JsonMapper.shared().readTree("""
            {"type": "/problems/idempotency-key-conflict",
             "title": "Idempotency-Key was used before for a different request",
             "status": 422, "detail": "What. State.", "instance": "urn:uuid:%s",
             "code": "idempotency-key-conflict", "retryable": false, "fix": "Do this.",
             "run_id": "run_1", "changed": ["amount"], "idempotency_key": null,
             "spec": "https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-idempotency-key-header-07#section-2.2"}
            """.formatted(ID));
        assertEquals(expected, JsonMapper.shared().readTree(answer.body()));
    }

    @ParameterizedTest
    @EnumSource(ErrorCode.class)
    void headers_of_a_problem_depend_on_its_code(ErrorCode code) {
        ServerHttpResponse answer = HttpProblemResponseMapper.toResponse(new SemelException(code, "d", "f"), ID);
        int status = code.status();
        assertEquals(status, answer.status());
        assertEquals(status == 409 ? String.valueOf(code.retryable()) : null, answer.header("x-should-retry"));
        boolean again = status == 429 || status == 503 || status == 409 && code.retryable();
        assertEquals(again ? "1" : null, answer.header("retry-after"));
        assertEquals(status == 401, answer.header("www-authenticate") != null);
        assertEquals(code.name().startsWith("IDEMPOTENCY_KEY") && status != 409, answer.header("link") != null);
    }

    @Test
    void retry_after_is_at_least_a_second() {
        SemelException soon = new SemelException(ErrorCode.OVER_QUOTA, "d", "f").with("retry_after", 30);
        assertEquals("30", HttpProblemResponseMapper.toResponse(soon, ID).header("retry-after"));
        SemelException now = new SemelException(ErrorCode.OVER_QUOTA, "d", "f").with("retry_after", -5);
        assertEquals("1", HttpProblemResponseMapper.toResponse(now, ID).header("retry-after"));
    }

    @Test
    void an_unexpected_error_is_500_without_its_text_and_reaches_the_observer() throws Exception {
        HttpRouter router = new HttpRouter().add("GET", "/boom", TokenScope.OPEN, _ -> {
            throw new IllegalStateException("select * from secrets");
        });
        try (TestHttpServer site = new TestHttpServer(HttpServerSettings.defaults("127.0.0.1", 0), router)) {
            RawConnection.RawResponse reply = site.ask("GET", "/boom");
            assertEquals(500, reply.status());
            assertFalse(reply.body().contains("secrets"), reply.body());
            assertTrue(reply.body().contains("\"retryable\":true"));
            assertEquals("select * from secrets", site.failures.remove().getMessage());
            assertTrue(reply.body().contains("urn:uuid:" + site.instances.remove()));
            assertEquals("nosniff", reply.header("x-content-type-options"));
        }
    }

    @Test
    void a_jvm_error_is_a_500_that_reaches_the_observer() throws Exception {
        HttpRouter router = new HttpRouter().add("GET", "/boom", TokenScope.OPEN, _ -> {
            throw new NoClassDefFoundError("private/Thing");
        });
        try (TestHttpServer site = new TestHttpServer(HttpServerSettings.defaults("127.0.0.1", 0), router)) {
            RawConnection.RawResponse reply = site.ask("GET", "/boom");
            assertEquals(500, reply.status());
            assertFalse(reply.body().contains("Thing"), reply.body());
            assertEquals("private/Thing", site.failures.remove().getMessage());
        }
    }

    @Test
    void a_handler_header_that_would_split_the_response_is_a_500() throws Exception {
        HttpRouter router = new HttpRouter()
                .add(
                        "GET",
                        "/split/{name}",
                        TokenScope.OPEN,
                        r -> ServerHttpResponse.empty(200).with("X-Name", r.parameter("name")));
        try (TestHttpServer site = new TestHttpServer(HttpServerSettings.defaults("127.0.0.1", 0), router)) {
            assertEquals(500, site.ask("GET", "/split/%C3%A9").status());
            assertEquals("ok", site.ask("GET", "/split/ok").header("x-name"));
        }
    }

    @Test
    void a_stream_arrives_piece_by_piece_and_the_connection_stays_open() throws Exception {
        CountDownLatch seen = new CountDownLatch(1);
        HttpRouter router = new HttpRouter()
                .add(
                        "GET",
                        "/events",
                        TokenScope.OPEN,
                        _ -> ServerHttpResponse.stream("text/event-stream", out -> {
                            out.write("data: 1\n\n".getBytes(StandardCharsets.US_ASCII));
                            out.flush();
                            await(seen);
                            out.write("data: 2\n\n".getBytes(StandardCharsets.US_ASCII));
                        }));
        try (TestHttpServer site = new TestHttpServer(HttpServerSettings.defaults("127.0.0.1", 0), router);
                RawConnection wire = site.wire()) {
            wire.send("GET /events HTTP/1.1\r\nHost: x\r\n\r\n");
            RawConnection.RawResponse head = wire.head();
            assertEquals("chunked", head.header("transfer-encoding"));
            assertEquals("text/event-stream", head.header("content-type"));
            assertEquals("data: 1\n\n", wire.chunk());
            seen.countDown();
            assertEquals("data: 2\n\n", wire.chunk());
            assertEquals("", wire.chunk());
            wire.send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
            assertEquals("ok", wire.reply().body());
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void several_lines_of_one_header_stay_several_lines() throws Exception {
        HttpRouter router = new HttpRouter()
                .add(
                        "GET",
                        "/two",
                        TokenScope.OPEN,
                        _ -> ServerHttpResponse.empty(200)
                                .with("Set-Cookie", "a=1")
                                .with("Set-Cookie", "b=2"));
        try (TestHttpServer site = new TestHttpServer(HttpServerSettings.defaults("127.0.0.1", 0), router)) {
            assertEquals(List.of("a=1", "b=2"), site.ask("GET", "/two").headers("set-cookie"));
            assertNotNull(site.ask("GET", "/two").header("date"));
            assertNull(site.ask("GET", "/two").header("server"));
        }
    }
}
