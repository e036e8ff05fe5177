package dev.semel.server.connectors.outbound;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.definition.ResultNotRecordable;
import dev.semel.error.HttpStatusException;
import dev.semel.error.RequestNotSent;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** One call is one request, and its failure says what is known of it: against bare sockets that mean harm. */
final class OutboundHttpClientTest {
    private static final Duration SHORT = Duration.ofMillis(400);

    private final RawServer server = new RawServer();
    private final OutboundHttpClient outbound = OutboundFixture.dev();

    @AfterEach
    void shut() {
        outbound.close();
        server.close();
    }

    private OutboundRequest post(String body) {
        return OutboundRequest.post(
                server.url("/effects?a=1"), "application/json", body.getBytes(StandardCharsets.UTF_8));
    }

    private OutboundRequest request(String method) {
        return method.equals("POST")
                ? post("{}")
                : new OutboundRequest(
                        method,
                        OutboundRequestUrl.parse(server.url("/")),
                        List.of(),
                        OutboundRequest.NO_BODY,
                        OutboundRequest.SendOptions.USUAL);
    }

    private static OutboundRequest hasty(OutboundRequest request) {
        return request.options(request.options().timeout(SHORT));
    }

    private static String gzip(byte[] bytes) throws IOException {
        var packed = new ByteArrayOutputStream();
        try (OutputStream out = new GZIPOutputStream(packed)) {
            out.write(bytes);
        }
        return packed.toString(StandardCharsets.ISO_8859_1);
    }

    @Test
    void the_sent_request_is_exactly_the_requested_one() throws Exception {
        server.json("{\"id\":7}");
        OutboundResponse answer = outbound.send(
                post("{\"ä\":1}").with(OutboundRequestHeader.of("X-A", "b c")), OutboundRequestAuth.bearer("t0ken"));
        assertEquals("{\"id\":7}", answer.orThrow().json().toString());
        assertEquals(
                List.of("POST /effects?a=1 HTTP/1.1\r\nHost: 127.0.0.1:" + server.port() + "\r\n"
                        + "Connection: close\r\nAccept-Encoding: identity\r\nUser-Agent: semel\r\n"
                        + "Accept: application/json, */*;q=0.5\r\nContent-Type: application/json\r\nX-A: b c\r\n"
                        + "Authorization: Bearer t0ken\r\nContent-Length: 8\r\n\r\n{\"ä\":1}"),
                server.requests());
    }

    @ParameterizedTest
    @ValueSource(strings = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"})
    void a_broken_connection_is_one_request_with_an_unknown_outcome(String method) {
        for (int i = 1; i <= 3; i++) {
            IOException failure = assertThrows(IOException.class, () -> outbound.send(request(method)));
            assertNull(failure.getCause(), "a cause could be taken for a request that did not leave");
            assertEquals(i, server.requests().size());
            assertEquals(i, server.connections());
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "200 OK | Content-Length: 2 | ok | ok",
                "200 OK | Content-Length: 2 | okay | ok",
                "200 OK | X-No: length | until the end | until the end",
                "200 OK | Transfer-Encoding: chunked | 2~ok~3;x=y~ay!~0~~ | okay!",
                "200 OK | Transfer-Encoding: Chunked | A~0123456789~0~X-Trailer: 1~~ | 0123456789",
                "200 | Content-Length: 0 | '' | ''",
                "100 Continue~~HTTP/1.1 103 Hints~Link: x~~HTTP/1.1 201 Made | Content-Length: 2 | ok | ok",
                "204 Nothing | X-A: b | '' | ''",
                "200 OK | Content-Length: 2~Content-Length: 2 | ok | ok",
            })
    void a_body_is_read_as_it_is_framed(String status, String header, String body, String text) throws Exception {
        server.answers(("HTTP/1.1 " + status + "~" + header + "~~" + body).replace("~", "\r\n"));
        assertEquals(text, new String(outbound.send(request("GET")).orThrow().body(), StandardCharsets.UTF_8));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "nonsense",
                "HTTP/2 200 OK~~",
                "HTTP/1.1 999 Odd~~",
                "HTTP/1.1 200 OK~Content-Length: 5~~ok",
                "HTTP/1.1 200 OK~Content-Length: -1~~ok",
                "HTTP/1.1 200 OK~Content-Length: 2~Content-Length: 3~~okay",
                "HTTP/1.1 200 OK~Transfer-Encoding: gzip, chunked~~0~~",
                "HTTP/1.1 200 OK~Transfer-Encoding: chunked~~2~okay~0~~",
                "HTTP/1.1 200 OK~Transfer-Encoding: chunked~~-2~ok~0~~",
                "HTTP/1.1 200 OK~Transfer-Encoding: chunked~~2~ok",
                "HTTP/1.1 200 OK~Transfer-Encoding: chunked~~ffffffffffffffffffff~ok",
                "HTTP/1.1 200 OK~Content-Encoding: gzip~Content-Length: 2~~ok",
                "HTTP/1.1 200 OK~Bad Header: x~~",
                "HTTP/1.1 200 OK~ folded~~",
                "HTTP/1.1 101 Switching~~",
                "HTTP/1.1 100 Continue~~",
            })
    void an_invalid_response_is_an_unknown_outcome(String text) {
        server.answers(text.replace("~", "\r\n"));
        assertThrows(IOException.class, () -> outbound.send(post("{}")));
        assertEquals(1, server.requests().size());
    }

    @Test
    void a_server_without_a_response_times_out_with_an_unknown_outcome() {
        server.runs((_, socket) -> {
            while (RawServer.stillThere(socket)) {}
        });
        IOException failure = assertThrows(IOException.class, () -> outbound.send(hasty(post("{}"))));
        assertTrue(failure.toString().contains("no complete response arrived within PT0.4S"), failure.getMessage());
        assertEquals(1, server.requests().size());
    }

    @ParameterizedTest
    @ValueSource(strings = {"H", "HTTP/1.1 200 OK\r\nX: ", "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"})
    void a_slow_response_times_out_with_an_unknown_outcome(String beginning) {
        server.runs((_, socket) -> {
            socket.getOutputStream().write(beginning.getBytes(StandardCharsets.US_ASCII));
            while (RawServer.stillThere(socket)) {
                socket.getOutputStream().write('x');
            }
        });
        assertThrows(IOException.class, () -> outbound.send(hasty(post("{}"))));
        assertEquals(1, server.requests().size());
    }

    @Test
    void a_server_that_does_not_read_times_out_with_an_unknown_outcome() throws Exception {
        try (ServerSocket deaf = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
            OutboundRequest large = OutboundRequest.post(
                    "http://127.0.0.1:" + deaf.getLocalPort() + "/", "text/plain", new byte[8 * 1024 * 1024]);
            IOException failure = assertThrows(IOException.class, () -> outbound.send(hasty(large)));
            assertTrue(failure.toString().contains("its outcome is unknown"), failure.getMessage());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"X-Many: 1\r\n", "X: 0123456789012345678901234567890123456789"})
    void endless_headers_are_cut_off(String again) {
        server.runs((_, socket) -> {
            OutputStream out = socket.getOutputStream();
            out.write("HTTP/1.1 200 OK\r\n".getBytes(StandardCharsets.US_ASCII));
            while (true) { // until the client has had enough
                out.write(again.getBytes(StandardCharsets.US_ASCII));
            }
        });
        IOException failure = assertThrows(IOException.class, () -> outbound.send(post("{}")));
        assertTrue(failure.toString().contains("more than"), failure.getMessage());
    }

    @ParameterizedTest
    @ValueSource(strings = {"X: y", "Transfer-Encoding: chunked", "Content-Length: 99999999999999"})
    void an_endless_body_is_cut_off_and_the_request_counts_as_done(String framing) {
        boolean chunked = framing.contains("chunked");
        server.runs((_, socket) -> {
            OutputStream out = socket.getOutputStream();
            out.write(("HTTP/1.1 200 OK\r\n" + framing + "\r\n\r\n").getBytes(StandardCharsets.US_ASCII));
            while (true) {
                out.write((chunked ? "5\r\nxxxxx\r\n" : "xxxxx").getBytes(StandardCharsets.US_ASCII));
            }
        });
        OutboundRequest small = post("{}").options(OutboundRequest.SendOptions.USUAL.maxResponseBytes(100_000));
        assertThrows(ResultNotRecordable.class, () -> outbound.send(small));
        assertEquals(1, server.requests().size());
    }

    @Test
    void a_compressed_body_is_limited_by_its_inflated_size() throws Exception {
        server.answers(
                "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + gzip("hello".getBytes(StandardCharsets.UTF_8)));
        assertEquals("\"hello\"", outbound.send(post("{}")).json().toString());
        String bomb = gzip(new byte[64 * 1024 * 1024]);
        assertTrue(bomb.length() < 100_000);
        server.answers("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + bomb);
        assertThrows(ResultNotRecordable.class, () -> outbound.send(post("{}")));
        server.answers("HTTP/1.1 200 OK\r\nContent-Encoding: br\r\n\r\nxx");
        assertThrows(ResultNotRecordable.class, () -> outbound.send(post("{}")));
        server.answers("HTTP/1.1 500 No\r\nContent-Encoding: br\r\n\r\nxx");
        assertEquals(500, outbound.send(post("{}")).status());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "Retry-After: 120 | PT2M",
                "Retry-After: 0 | PT0S",
                "Retry-After: 99999999999 | ",
                "Date: Wed, 21 Oct 2015 07:28:00 GMT~Retry-After: Wed, 21 Oct 2015 07:27:00 GMT | PT0S",
            })
    void a_non_success_status_carries_the_retry_delay_of_the_provider(String header, String asked) throws Exception {
        server.answers(
                ("HTTP/1.1 429 Slow~Content-Type: application/json~" + header + "~~{\"a\":1}").replace("~", "\r\n"));
        OutboundResponse answer = outbound.send(post("{}"));
        assertFalse(answer.isSuccess());
        HttpStatusException status = assertThrows(HttpStatusException.class, answer::orThrow);
        assertEquals(429, status.status());
        assertEquals("{\"a\":1}", status.body().toString());
        assertEquals(asked == null ? null : Duration.parse(asked), status.retryAfter());
    }

    @Test
    void a_rejection_applies_by_its_status_even_if_its_body_fails() throws Exception {
        server.answers("HTTP/1.1 422 No\r\nContent-Length: 500\r\n\r\nhalf");
        assertEquals(422, outbound.send(post("{}")).status());
    }

    @Test
    void an_early_rejection_is_read() throws Exception {
        server.answers("HTTP/1.1 413 Too large\r\nContent-Length: 0\r\n\r\n");
        assertEquals(413, outbound.send(post("x".repeat(1_000_000))).status());
    }

    @Test
    void a_request_that_was_not_sent_is_reported_as_such() throws Exception {
        int nobody;
        try (ServerSocket closed = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
            nobody = closed.getLocalPort();
        }
        assertThrows(
                RequestNotSent.class, () -> outbound.send(OutboundRequest.get("http://127.0.0.1:" + nobody + "/")));
        try (OutboundHttpClient unnamed = OutboundFixture.dev(new OutboundFixture.TableHostResolver(Map.of()))) {
            assertThrows(RequestNotSent.class, () -> unnamed.send(OutboundRequest.get("http://nowhere.example/")));
        }
        outbound.close();
        assertThrows(RequestNotSent.class, () -> outbound.send(post("{}")));
        assertEquals(0, server.connections());
    }

    @Test
    void the_next_address_is_tried_if_one_does_not_respond() throws Exception {
        server.json("{}");
        var zone = new OutboundFixture.TableHostResolver(Map.of("api.example", List.of("127.0.0.3 127.0.0.1")));
        try (OutboundHttpClient named = OutboundFixture.dev(zone)) {
            assertEquals(
                    200,
                    named.send(OutboundRequest.get("http://api.example:" + server.port() + "/"))
                            .status());
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"a\r\nX-Admin: 1", "a\nb", "a\rb", "a\u0000b", "é", "a\tb", " a", "a ", "\u2028", "a\u007f"})
    void a_header_value_with_a_line_break_is_not_sent(String value) {
        assertThrows(
                RequestNotSent.class, () -> outbound.send(post("{}").with(OutboundRequestHeader.of("X-A", value))));
        assertThrows(RequestNotSent.class, () -> outbound.send(post("{}"), OutboundRequestAuth.bearer(value)));
        assertThrows(
                RequestNotSent.class, () -> outbound.send(post("{}"), OutboundRequestAuth.header("X-Api-Key", value)));
        assertEquals(0, server.connections());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "X: y\r\nZ",
                "",
                "X Y",
                "X:",
                "é",
                "Host",
                "host",
                "Content-Length",
                "Transfer-Encoding",
                "Connection",
                "Expect",
                "Upgrade",
                "Proxy-Authorization",
            })
    void callers_cannot_set_framing_headers(String name) {
        assertThrows(RequestNotSent.class, () -> outbound.send(post("{}").with(OutboundRequestHeader.of(name, "1"))));
        assertThrows(RequestNotSent.class, () -> outbound.send(post("{}"), OutboundRequestAuth.header(name, "1")));
        assertEquals(0, server.connections());
    }

    @Test
    void a_header_is_sent_once() {
        assertThrows(
                RequestNotSent.class,
                () -> new OutboundRequest(
                        "GET",
                        OutboundRequestUrl.parse(server.url("/")),
                        List.of(OutboundRequestHeader.of("X-A", "1"), OutboundRequestHeader.of("x-a", "2")),
                        OutboundRequest.NO_BODY,
                        OutboundRequest.SendOptions.USUAL));
    }

    @Test
    void a_credential_is_not_shown() {
        assertFalse(OutboundRequestAuth.bearer("s3cret").toString().contains("s3cret"));
        assertFalse(new OutboundRequestAuth.ClientCredentials(
                        OutboundRequestUrl.parse("https://a.example/t"), "id", "s3cret", "", "", false)
                .toString()
                .contains("s3cret"));
    }
}
