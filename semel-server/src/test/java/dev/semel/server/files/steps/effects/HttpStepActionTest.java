package dev.semel.server.files.steps.effects;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.error.SemelException;
import dev.semel.error.StepFailed;
import dev.semel.server.connectors.outbound.OutboundAddressGuard;
import dev.semel.server.connectors.outbound.OutboundHttpClient;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The http step from the file to the wire and back onto the disk. */
final class HttpStepActionTest extends HttpStepTestBench {
    @Test
    void the_result_of_a_read_is_its_body() {
        assertEquals("{\"id\":7,\"name\":\"n\"}", result(get("/a"), "{}"));
        assertFalse(only().contains("Idempotency-Key"), "what only looks needs no key");
    }

    @Test
    void a_result_is_extracted_from_the_response() {
        String step = "http: {url: \"%s\", result: \"${ {'id': response.body.id, 'status': response.status, 'type':"
                + " response.headers['content-type']} }\"}";
        assertEquals(
                "{\"id\":7,\"status\":200,\"type\":\"application/json\"}",
                result(step.formatted(server.url("/")), "{}"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "o-1 | o-1",
                "a/b?c=d#e&f | a%2Fb%3Fc%3Dd%23e%26f",
                "äé | %C3%A4%C3%A9",
                "@evil.example/ | %40evil.example%2F",
                "a\\r\\nX-Admin: 1 | a%0D%0AX-Admin%3A%201",
                "%2e%2e | %252e%252e",
                "${7*7} | %24%7B7%2A7%7D",
            })
    void an_expression_value_is_one_path_segment(String value, String sent) {
        result(get("/orders/${ input.order }/lines?x=${ input.order }"), "{\"order\":\"" + value + "\"}");
        assertTrue(only().startsWith("GET /orders/" + sent + "/lines?x=" + sent + " HTTP/1.1\r\n"), only());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", ".", "..", "../admin", "a/../../admin", "..\\\\x", "{}", "[1]"})
    void a_value_that_would_change_the_path_is_not_requested(String value) {
        String json = value.startsWith("{") || value.startsWith("[") ? value : "\"" + value + "\"";
        StepFailed failed = failure(get("/orders/${ input.order }"), "{\"order\":" + json + "}");
        assertEquals("invalid-input", failed.reason());
        assertEquals(0, server.connections());
    }

    @Test
    void a_query_omits_null_and_repeats_a_list() {
        String step = """
            http:
              url: %s
              query: {q: "${ input.q }", none: "${ default(input.none, null) }", n: 3, tag: "${ input.tags }"}
            """.formatted(server.url("/find?a=b"));
        result(step, "{\"q\":\"x y&z\",\"tags\":[\"a\",\"b\"]}");
        assertTrue(only().startsWith("GET /find?a=b&q=x%20y%26z&n=3&tag=a&tag=b HTTP/1.1\r\n"), only());
    }

    @Test
    void a_body_is_json_or_a_form_or_a_text() {
        result(post("protect: at_most_once"), "{\"order\":\"ä\"}");
        assertTrue(server.requests().getFirst().contains("\r\nContent-Type: application/json\r\n"));
        assertTrue(server.requests().getFirst().endsWith("\r\n\r\n{\"order\":\"ä\"}"));
        String form = "http: {method: POST, url: \"%s\", form: {a: \"${ input.order }\", n: 1}}\nprotect: at_most_once";
        result(form.formatted(server.url("/")), "{\"order\":\"x y&z=1\"}");
        assertTrue(
                server.requests().get(1).endsWith("\r\n\r\na=x+y%26z%3D1&n=1"),
                server.requests().get(1));
        String text = "http: {method: PUT, url: \"%s\", headers: {Content-Type: text/xml}, body: \"<a>${ input.order"
                + " }</a>\"}\n"
                + "protect: at_most_once";
        result(text.formatted(server.url("/")), "{\"order\":\"1\"}");
        assertTrue(server.requests().get(2).endsWith("\r\n\r\n<a>1</a>"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"a\\r\\nX-Admin: 1", "a\\nb", "\\u0000", "é", "a\\tb"})
    void an_invalid_header_value_is_not_sent(String value) {
        String step = """
            http:
              method: POST
              url: %s
              headers: {X-Order: "${ input.order }"}
            protect: {P}
            """.formatted(server.url("/"));
        for (String protection : List.of("at_most_once", "provider_key\nprovider_window: 24h", "ask")) {
            StepFailed failed = failure(step.replace("{P}", protection), "{\"order\":\"" + value + "\"}");
            assertEquals("invalid-input", failed.reason());
        }
        assertEquals(0, server.connections());
    }

    @Test
    void a_status_declared_as_already_done_is_a_success() {
        server.answers("HTTP/1.1 409 Known\r\nContent-Type: application/json\r\n\r\n{\"existing\":{\"id\":4}}");
        String step = """
            http: {method: POST, url: "%s", result: "${ response.body.existing.id }"}
            protect: at_most_once
            already_done_status: [409]
            """.formatted(server.url("/"));
        assertEquals("4", result(step, "{}"));
        assertEquals("{\"existing\":{\"id\":4}}", result(step.replace("existing.id", "created.id"), "{}"));
        assertEquals(2, server.requests().size());
    }

    @Test
    void a_success_whose_result_fails_is_not_resent() {
        String step = """
            http: {method: POST, url: "%s", result: "${ response.body.nothing.there }"}
            protect: provider_key
            provider_window: 24h
            """.formatted(server.url("/"));
        StepFailed failed = failure(step, "{}");
        assertEquals("result-not-recordable", failed.reason());
        assertEquals(1, server.requests().size());
    }

    @Test
    void an_oversized_response_is_not_requested_again() {
        server.answers(OK + "\"" + "x".repeat(3_000) + "\"");
        String step =
                "http: {method: POST, url: \"%s\", max_response: 2KiB}\nprotect: provider_key\nprovider_window: 24h";
        assertEquals(
                "result-not-recordable",
                failure(step.formatted(server.url("/")), "{}").reason());
        assertEquals(1, server.requests().size());
    }

    @Test
    void a_blocked_address_is_not_called_and_fails_permanently() throws Exception {
        bench.close();
        try (OutboundHttpClient guarded = new OutboundHttpClient(OutboundAddressGuard.of(false, List.of()))) {
            bench = new YamlTestBench(folder, reaching(guarded));
            StepFailed failed = failure(post("protect: at_most_once"), "{\"order\":1}");
            assertEquals("RequestNotSent", failed.reason().replaceAll(".*\\$", ""));
            assertTrue(failed.detail().contains("--allow-host 127.0.0.1:" + server.port()), failed.detail());
        }
        assertEquals(0, server.connections());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "${ secret.TOKEN } | Authorization: Bearer t0p-s3cret",
                "{bearer: '${ secret.TOKEN }'} | Authorization: Bearer t0p-s3cret",
                "{basic: {user: '${ secret.USER }', password: '${ secret.PASS }'}} | Authorization: Basic"
                        + " YW5uOnBhNTV3b3Jk",
                "{header: {name: X-Api-Key, value: '${ secret.TOKEN }'}} | X-Api-Key: t0p-s3cret",
                "{header: {name: Authorization, value: 'Token ${ secret.TOKEN }'}} | Authorization: Token t0p-s3cret",
            })
    void a_credential_is_sent_and_stored_nowhere(String auth, String header) throws Exception {
        server.runs((request, socket) -> socket.getOutputStream()
                .write((OK
                                + dev.semel.json.StrictJsonCodec.write(
                                        tools.jackson.databind.node.JsonNodeFactory.instance.stringNode(request)))
                        .getBytes(StandardCharsets.UTF_8)));
        String step = """
            http:
              method: POST
              url: %s
              auth: %s
              headers: {X-Also: "v1,${ secret.TOKEN }"}
            protect: at_most_once
            """.formatted(server.url("/"), auth);
        String result = result(step, "{}");
        assertTrue(only().contains("\r\n" + header + "\r\n"), only());
        assertTrue(only().contains("\r\nX-Also: v1,t0p-s3cret\r\n"), only());
        assertTrue(result.contains("•••"), result);
        String disk = bench.disk();
        for (String secret : List.of("t0p-s3cret", "pa55word", "YW5uOnBhNTV3b3Jk")) {
            assertFalse(result.contains(secret), result);
            assertFalse(disk.contains(secret), secret + " is on disk");
        }
    }

    @Test
    void without_its_secret_a_request_is_not_sent() {
        StepFailed failed = failure(
                post("protect: ask\nretry: {attempts: 1}").replace("  body:", "  auth: ${ secret.GONE }\n  body:"),
                "{\"order\":1}");
        assertTrue(failed.detail().contains("there is no secret GONE"), failed.detail());
        assertEquals(0, server.connections());
    }

    @Test
    void the_key_is_sent_in_the_header_of_the_provider() {
        String step = "http: {method: POST, url: \"%s\", idempotency_header: %s}\nprotect: at_most_once";
        result(step.formatted(server.url("/"), "X-Request-Id"), "{}");
        assertTrue(server.requests().getFirst().contains("\r\nX-Request-Id: "));
        assertFalse(server.requests().getFirst().contains("Idempotency-Key"));
        result(step.formatted(server.url("/"), "none"), "{}");
        assertFalse(server.requests().get(1).contains("Idempotency-Key"));
    }

    @Test
    void the_same_key_inside_its_window_is_sent_once() {
        String step = post("""
            idempotent: {key: "${ key('order', input.order) }", time: 1, unit: hours, on_change: suppress}
            protect: at_most_once
            """);
        assertEquals("{\"id\":7,\"name\":\"n\"}", result(step, "{\"order\":1}"));
        assertEquals("{\"id\":7,\"name\":\"n\"}", result(step, "{\"order\":1}"));
        assertEquals(1, server.requests().size());
        result(step, "{\"order\":2}");
        assertEquals(2, server.requests().size());
    }

    @Test
    void a_wrong_file_is_not_published() {
        assertThrows(
                SemelException.class, () -> bench.start("http: {method: POST, url: \"https://a.example/\"}", "{}"));
    }
}
