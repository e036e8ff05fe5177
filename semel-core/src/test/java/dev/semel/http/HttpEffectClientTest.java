package dev.semel.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.definition.ResultNotRecordable;
import dev.semel.error.HttpStatusException;
import dev.semel.error.JsonConversionFailed;
import dev.semel.error.RequestNotSent;
import dev.semel.runtime.SqliteTestBase;
import dev.semel.workflow.EffectOutcome;
import dev.semel.workflow.Retry;
import dev.semel.workflow.Step;
import dev.semel.workflow.Workflow;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** Against a bare socket that counts what arrives. */
final class HttpEffectClientTest extends SqliteTestBase {
    private static final Step STEP = new Step() {
        @Override
        public String id() {
            return "step";
        }

        @Override
        public String key() {
            return "the-key";
        }

        @Override
        public int attempt() {
            return 1;
        }
    };

    private final HttpEffectClient http = HttpEffectClient.standard();
    private final RawHttpServer server = new RawHttpServer();

    @AfterEach
    void shut() {
        http.close();
        server.close();
    }

    private HttpRequest.Builder request(String method) {
        return HttpRequest.newBuilder(server.uri())
                .method(method, method.equals("POST") ? BodyPublishers.ofString("{}") : BodyPublishers.noBody());
    }

    @ParameterizedTest
    @ValueSource(strings = {"GET", "HEAD", "POST", "PUT", "DELETE"})
    void a_broken_connection_is_one_request_with_an_unknown_outcome(String method) {
        for (int i = 1; i <= 3; i++) {
            Throwable failure = assertThrows(IOException.class, () -> http.send(STEP, request(method)));
            assertEquals(i, server.requests().size(), failure.toString());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"GET", "HEAD", "POST"})
    void a_broken_pooled_connection_is_one_request(String method) throws Exception {
        server.answers("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        http.send(STEP, request(method));
        server.answers(null);
        assertThrows(IOException.class, () -> http.send(STEP, request(method)));
        assertEquals(2, server.requests().size());
    }

    @Test
    void the_key_header_is_added_unless_present() throws Exception {
        server.answers("HTTP/1.1 204 No Content\r\n\r\n");
        assertTrue(http.send(STEP, request("POST")).isNull());
        http.send(STEP, request("POST").header("idempotency-key", "mine"));
        HttpRequest.Builder same = request("POST");
        http.send(STEP, same);
        assertNull(
                same.build().headers().firstValue(HttpEffectClient.KEY_HEADER).orElse(null),
                "the builder is the caller's");
        assertEquals(
                List.of("the-key", "mine", "the-key"),
                server.requests().stream()
                        .map(r -> r.header(HttpEffectClient.KEY_HEADER))
                        .toList());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "application/json | {\"a\":1} | {\"a\":1}",
                "application/problem+json; charset=utf-8 | [1] | [1]",
                "application/json | {\"a\":1 | \"{\\\"a\\\":1\"",
                "text/plain | hello | \"hello\"",
                "text/plain; charset=nonsense | hello | \"hello\"",
            })
    void a_success_returns_its_body(String type, String body, String json) throws Exception {
        server.answers("HTTP/1.1 201 Created\r\nContent-Type: " + type + "\r\nContent-Length: " + body.length()
                + "\r\n\r\n" + body);
        assertEquals(json, http.send(STEP, request("POST")).toString());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "Retry-After: 120 | PT2M",
                "Retry-After: 0 | PT0S",
                "Retry-After: soon | ",
                "Retry-After: 99999999999999999999 | ",
                "Date: Wed, 21 Oct 2015 07:28:00 GMT;Retry-After: Wed, 21 Oct 2015 07:30:30 GMT | PT2M30S",
                "Date: Wed, 21 Oct 2015 07:28:00 GMT;Retry-After: Wed, 21 Oct 2015 07:27:00 GMT | PT0S",
                "Retry-After: Wed, 21 Oct 2015 07:30:30 GMT | ",
                "X-Other: 1 | ",
            })
    void a_non_success_status_carries_the_retry_delay_of_the_provider(String headers, String asked) {
        server.answers("HTTP/1.1 503 Busy\r\n" + headers.replace(";", "\r\n") + "\r\nContent-Length: 4\r\n\r\nbusy");
        HttpStatusException status = assertThrows(HttpStatusException.class, () -> http.send(STEP, request("POST")));
        assertEquals(503, status.status());
        assertEquals("\"busy\"", status.body().toString());
        assertEquals(asked == null ? null : Duration.parse(asked), status.retryAfter());
    }

    @Test
    void a_redirect_is_reported_and_not_followed() {
        server.answers("HTTP/1.1 307 Moved\r\nLocation: " + server.uri() + "/other\r\nContent-Length: 0\r\n\r\n");
        HttpStatusException status = assertThrows(HttpStatusException.class, () -> http.send(STEP, request("GET")));
        assertEquals(307, status.status());
        assertEquals(1, server.requests().size());
    }

    @Test
    void a_request_that_was_not_sent_is_reported_as_such() throws Exception {
        int nobody;
        try (ServerSocket closed = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            nobody = closed.getLocalPort();
        }
        for (String method : List.of("GET", "POST")) {
            for (URI uri :
                    List.of(URI.create("http://127.0.0.1:" + nobody), URI.create("http://no.such.host.invalid/"))) {
                HttpRequest.Builder to = HttpRequest.newBuilder(uri).method(method, BodyPublishers.noBody());
                assertThrows(RequestNotSent.class, () -> http.send(STEP, to), method + " " + uri);
            }
        }
    }

    @Test
    void a_missing_response_is_unknown() {
        server.hangs();
        IOException failure = assertThrows(
                IOException.class, () -> http.send(STEP, request("POST").timeout(Duration.ofMillis(200))));
        assertInstanceOf(java.net.http.HttpTimeoutException.class, failure);
        assertEquals(1, server.requests().size());
    }

    @Test
    void a_truncated_response_is_unknown_and_an_oversized_one_was_done() {
        server.answers("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
        assertThrows(IOException.class, () -> http.send(STEP, request("POST")));
        server.answers("HTTP/1.1 200 OK\r\nContent-Length: 1100000\r\n\r\n" + "x".repeat(1_100_000));
        JsonConversionFailed large = assertThrows(ResultNotRecordable.class, () -> http.send(STEP, request("POST")))
                .why();
        assertTrue(large.detail().contains("The request succeeded"), large.detail());
    }

    @Test
    void a_client_with_automatic_resends_is_rejected() throws Exception {
        Process late = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        PreconfiguredClientProcess.class.getName())
                .redirectErrorStream(true)
                .start();
        String said = new String(late.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertTrue(said.startsWith("own 2, ours 0: The HTTP client of this Java process repeats GET"), said);
    }

    @Test
    void http_effects_end_as_their_protection_says() {
        server.answers("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 8\r\n\r\n{\"id\":7}");
        assertEquals(
                7,
                start(flow(
                                Integer.class,
                                (ctx, _) -> ctx.effect("charge")
                                        .providerHonoursKey(Duration.ofHours(1))
                                        .call(JsonNode.class, e -> http.send(e, request("POST")))
                                        .path("id")
                                        .asInt()))
                        .result(SOON));
        server.answers(null);
        int before = server.requests().size();
        String sms = start(Workflow.define("sms", String.class, String.class)
                        .body((ctx, _) -> ctx.effect("sms")
                                                .retry(Retry.exponential(Duration.ofMillis(1)))
                                                .atMostOnce()
                                                .call(JsonNode.class, e -> http.send(e, request("GET")))
                                        instanceof EffectOutcome.Indeterminate<JsonNode>
                                ? "nobody knows"
                                : "done"))
                .result(SOON);
        assertEquals("nobody knows", sms);
        assertEquals(before + 1, server.requests().size());
    }
}
