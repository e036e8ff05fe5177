package dev.semel.server.http.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Requests that two parsers may read in two ways. Each is answered 400, each ends its connection, and the request
 * hidden behind it never reaches a handler.
 */
class SmugglingTest {
    private static final String HIDDEN = "GET /v1/runs HTTP/1.1\r\nHost: x\r\n" + TestHttpServer.AUTH + "\r\n";
    private static final String POST = "POST /v1/workflows/w/trigger HTTP/1.1\r\n";
    private static final String GET = "GET /healthz HTTP/1.1\r\n";
    private static final String CHUNKED =
            POST + "Host: x\r\n" + TestHttpServer.AUTH + "Transfer-Encoding: chunked\r\n\r\n";

    private static TestHttpServer site;

    @BeforeAll
    static void open() {
        site = new TestHttpServer();
    }

    @AfterAll
    static void close() {
        site.close();
    }

    static Stream<Arguments> attacks() {
        return Stream.of(
                attack("length and chunked", post("Content-Length: 4\r\nTransfer-Encoding: chunked") + "0\r\n\r\n"),
                attack("chunked and length", post("Transfer-Encoding: chunked\r\nContent-Length: 4") + "0\r\n\r\n"),
                attack("two lengths that differ", post("Content-Length: 0\r\nContent-Length: 5") + "hello"),
                attack("two equal lengths", post("Content-Length: 5\r\nContent-Length: 5") + "hello"),
                attack("a list of lengths", post("Content-Length: 5, 5") + "hello"),
                attack("space before the colon", post("Transfer-Encoding : chunked") + "0\r\n\r\n"),
                attack("tab before the colon", post("Content-Length\t: 5") + "hello"),
                attack("chunked, identity", post("Transfer-Encoding: chunked, identity") + "0\r\n\r\n"),
                attack("identity, chunked", post("Transfer-Encoding: identity, chunked") + "0\r\n\r\n"),
                attack("identity", post("Transfer-Encoding: identity") + "0\r\n\r\n"),
                attack("xchunked", post("Transfer-Encoding: xchunked") + "0\r\n\r\n"),
                attack("quoted chunked", post("Transfer-Encoding: \"chunked\"") + "0\r\n\r\n"),
                attack("empty transfer encoding", post("Transfer-Encoding:") + "0\r\n\r\n"),
                attack("vertical tab", post("Transfer-Encoding: \u000bchunked") + "0\r\n\r\n"),
                attack(
                        "two transfer encodings",
                        post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked") + "0\r\n\r\n"),
                attack(
                        "HTTP/1.0 with both",
                        "POST /v1/workflows/w/trigger HTTP/1.0\r\nHost: x\r\n" + TestHttpServer.AUTH
                                + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n"),
                attack("HTTP/1.0", "GET /healthz HTTP/1.0\r\nHost: x\r\n\r\n"),
                attack("HTTP/2.0", "GET /healthz HTTP/2.0\r\nHost: x\r\n\r\n"),
                attack("HTTP/1.1 and more", "GET /healthz HTTP/1.10\r\nHost: x\r\n\r\n"),
                attack("http in small letters", "GET /healthz http/1.1\r\nHost: x\r\n\r\n"),
                attack("no version", "GET /healthz\r\nHost: x\r\n\r\n"),
                attack("leading space on the first header", GET + " Host: x\r\n\r\n"),
                attack("leading space on the first of two", GET + " X: y\r\nHost: x\r\n\r\n"),
                attack("leading tab on the first header", GET + "\tHost: x\r\n\r\n"),
                attack("folded header", GET + "Host: x\r\nX: a\r\n b\r\n\r\n"),
                attack("folded with a tab", GET + "Host: x\r\nX: a\r\n\tb\r\n\r\n"),
                attack("bare LF behind the request line", "GET /healthz HTTP/1.1\nHost: x\r\n\r\n"),
                attack("bare LF behind a header", GET + "Host: x\nX: y\r\n\r\n"),
                attack("bare LF everywhere", "GET /healthz HTTP/1.1\nHost: x\n\n"),
                attack("bare LF as the empty line", GET + "Host: x\r\n\n"),
                attack("bare CR in a header", GET + "Host: x\r\nX: a\rb\r\n\r\n"),
                attack("bare CR before the request", "\rGET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"),
                attack("empty line before the request", "\r\nGET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"),
                attack("NUL in a value", GET + "Host: x\r\nX: a\0b\r\n\r\n"),
                attack("NUL in a name", GET + "Host: x\r\nX\0: a\r\n\r\n"),
                attack("DEL in a value", GET + "Host: x\r\nX: a\u007f\r\n\r\n"),
                attack("no colon", GET + "Host: x\r\nNonsense\r\n\r\n"),
                attack("empty name", GET + "Host: x\r\n: y\r\n\r\n"),
                attack("non-ASCII name", GET + "Host: x\r\nX\u00e9: y\r\n\r\n"),
                attack("negative length", post("Content-Length: -1")),
                attack("plus length", post("Content-Length: +5") + "hello"),
                attack("hex length", post("Content-Length: 0x5") + "hello"),
                attack("padded length", post("Content-Length: 005") + "hello"),
                attack("empty length", post("Content-Length:") + "hello"),
                attack("length with a space inside", post("Content-Length: 5 0") + "hello"),
                attack("length beyond long", post("Content-Length: 99999999999999999999")),
                attack("length of 2^64 + 5", post("Content-Length: 18446744073709551621") + "hello"),
                attack("no host", GET + "X: y\r\n\r\n"),
                attack("two hosts", GET + "Host: x\r\nHost: y\r\n\r\n"),
                attack("two equal hosts", GET + "Host: x\r\nHost: x\r\n\r\n"),
                attack("empty host", GET + "Host:\r\n\r\n"),
                attack("host with a path", GET + "Host: x/y\r\n\r\n"),
                attack("host with a user", GET + "Host: a@b\r\n\r\n"),
                attack("host list", GET + "Host: a, b\r\n\r\n"),
                attack("absolute target", "GET http://x/healthz HTTP/1.1\r\nHost: x\r\n\r\n"),
                attack("authority target", "CONNECT x:80 HTTP/1.1\r\nHost: x\r\n\r\n"),
                attack("star target", "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n"),
                attack("fragment", "GET /healthz#a HTTP/1.1\r\nHost: x\r\n\r\n"),
                attack("backslash", "GET /healthz\\..\\v1 HTTP/1.1\r\nHost: x\r\n\r\n"),
                attack("raw UTF-8 in the path", "GET /\u00c3\u00a9 HTTP/1.1\r\nHost: x\r\n\r\n"),
                attack("two spaces before the path", "GET  /healthz HTTP/1.1\r\nHost: x\r\n\r\n"),
                attack("two spaces before the version", "GET /healthz  HTTP/1.1\r\nHost: x\r\n\r\n"),
                attack("space behind the version", "GET /healthz HTTP/1.1 \r\nHost: x\r\n\r\n"),
                attack("space before the method", " GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"),
                attack("tab between the parts", "GET\t/healthz\tHTTP/1.1\r\nHost: x\r\n\r\n"),
                attack("method with a slash", "GE/T /healthz HTTP/1.1\r\nHost: x\r\n\r\n"),
                attack("TLS hello", "\u0016\u0003\u0001\u0002\0\u0001\0\u0001\u00fc\u0003\u0003\n\r\n\r\n"),
                attack("HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
                attack("chunk extension", CHUNKED + "5;a=b\r\nhello\r\n0\r\n\r\n"),
                attack("chunk extension with a newline", CHUNKED + "5;a\nb\r\nhello\r\n0\r\n\r\n"),
                attack("bare LF behind a chunk size", CHUNKED + "5\nhello\r\n0\r\n\r\n"),
                attack("bare LF behind a chunk", CHUNKED + "5\r\nhello\n0\r\n\r\n"),
                attack("junk behind a chunk", CHUNKED + "5\r\nhelloXX0\r\n\r\n"),
                attack("chunk longer than its size", CHUNKED + "4\r\nhello\r\n0\r\n\r\n"),
                attack("chunk size with 0x", CHUNKED + "0x5\r\nhello\r\n0\r\n\r\n"),
                attack("chunk size with a plus", CHUNKED + "+5\r\nhello\r\n0\r\n\r\n"),
                attack("negative chunk size", CHUNKED + "-5\r\nhello\r\n0\r\n\r\n"),
                attack("chunk size with a space", CHUNKED + "5 \r\nhello\r\n0\r\n\r\n"),
                attack("empty chunk size", CHUNKED + "\r\nhello\r\n0\r\n\r\n"),
                attack("chunk size that overflows", CHUNKED + "100000000000000005\r\nhello\r\n0\r\n\r\n"),
                attack("trailer", CHUNKED + "5\r\nhello\r\n0\r\nX: y\r\n\r\n"),
                attack("junk behind the last chunk", CHUNKED + "5\r\nhello\r\n0\r\nGET /"));
    }

    private static Arguments attack(String name, String bytes) {
        return Arguments.of(name, bytes);
    }

    private static String post(String headers) {
        return POST + "Host: x\r\n" + TestHttpServer.AUTH + headers + "\r\n\r\n";
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("attacks")
    void an_ambiguous_request_is_400_and_closed_and_never_a_second_request(String name, String bytes)
            throws IOException {
        site.handled.clear();
        try (RawConnection wire = site.wire()) {
            wire.send(bytes + HIDDEN);
            assertRefused(wire.untilClosed());
        }
        assertTrue(site.handled.isEmpty(), name + " reached " + site.handled);
    }

    /** The same, in as many packets as there are bytes: where the reads fall must make no difference. */
    @ParameterizedTest(name = "{0}")
    @MethodSource("attacks")
    void an_ambiguous_request_sent_byte_by_byte_is_rejected_alike(String name, String bytes) throws IOException {
        site.handled.clear();
        try (RawConnection wire = site.wire()) {
            try {
                for (char c : (bytes + HIDDEN).toCharArray()) {
                    wire.send(String.valueOf(c));
                }
            } catch (IOException e) {
                // Cut before we were done, which is the point.
            }
            String answer = wire.untilClosed();
            assertTrue(answer.isEmpty() || answer.startsWith("HTTP/1.1 400 "), answer);
            assertFalse(answer.contains(" 200 "), answer);
        }
        assertTrue(site.handled.isEmpty(), name + " reached " + site.handled);
    }

    private static void assertRefused(String answer) {
        assertTrue(answer.startsWith("HTTP/1.1 400 "), answer);
        assertEquals(1, answer.split("HTTP/1\\.1 [0-9]{3} ", -1).length - 1, "more than one answer: " + answer);
        assertTrue(answer.contains("\r\nConnection: close\r\n"), answer);
        assertTrue(answer.contains("\r\nContent-Type: application/problem+json\r\n"), answer);
        assertTrue(answer.contains("\"code\":\"invalid-input\""), answer);
        assertFalse(answer.toLowerCase(java.util.Locale.ROOT).contains("helidon"), answer);
    }

    @Test
    void an_unread_body_is_never_parsed_as_the_next_request() throws IOException {
        site.handled.clear();
        // Refused before its body is read, and too large to be read away.
        String first = "POST /v1/workflows/w/trigger HTTP/1.1\r\nHost: x\r\nContent-Length: 900000\r\n\r\n";
        try (RawConnection wire = site.wire()) {
            wire.send(first + HIDDEN);
            String answer = wire.untilClosed();
            assertTrue(answer.startsWith("HTTP/1.1 401 "), answer);
            assertEquals(1, answer.split("HTTP/1\\.1 ", -1).length - 1, answer);
        }
        assertTrue(site.handled.isEmpty(), "reached " + site.handled);
    }

    @Test
    void nothing_is_served_after_a_request_with_connection_close() throws IOException {
        try (RawConnection wire = site.wire()) {
            wire.send(GET + "Host: x\r\nConnection: close\r\n\r\n" + HIDDEN);
            String answer = wire.untilClosed();
            assertTrue(answer.startsWith("HTTP/1.1 200 "), answer);
            assertEquals(1, answer.split("HTTP/1\\.1 ", -1).length - 1, answer);
        }
    }

    @Test
    void a_small_unread_body_is_drained_and_the_connection_stays_open() throws IOException {
        try (RawConnection wire = site.wire()) {
            wire.send("POST /v1/workflows/w/trigger HTTP/1.1\r\nHost: x\r\nContent-Length: " + HIDDEN.length()
                    + "\r\n\r\n" + HIDDEN);
            assertEquals(401, wire.reply().status());
            wire.send(GET + "Host: x\r\n\r\n");
            assertEquals("ok", wire.reply().body());
        }
    }

    @Test
    void valid_pipelined_requests_are_served_in_order() throws IOException {
        try (RawConnection wire = site.wire()) {
            wire.send(CHUNKED + "5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n" + post("Content-Length: 3") + "abc" + GET
                    + "Host: x\r\n\r\n" + HIDDEN);
            assertEquals("hello!", wire.reply().body());
            assertEquals("abc", wire.reply().body());
            assertEquals("ok", wire.reply().body());
            assertEquals("runs", wire.reply().body());
        }
    }

    @Test
    void valid_requests_sent_byte_by_byte_are_served_in_order() throws IOException {
        try (RawConnection wire = site.wire()) {
            String all = CHUNKED + "A\r\nhellohello\r\n0\r\n\r\n" + post("content-length:  3\t") + "abc" + HIDDEN;
            for (char c : all.toCharArray()) {
                wire.send(String.valueOf(c));
            }
            assertEquals("hellohello", wire.reply().body());
            assertEquals("abc", wire.reply().body());
            assertEquals("runs", wire.reply().body());
        }
    }
}
