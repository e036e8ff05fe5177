package dev.semel.server.files.steps.effects;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.run.RunState;
import dev.semel.server.connectors.outbound.RawServer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What becomes of a request whose answer is lost, or whose process dies, under each protection. */
final class HttpProtectionTest extends HttpStepTestBench {
    private String looked(String found) {
        return post("""
            protect: lookup
            lookup:
              http: {url: "%s"}
              %s
            """.formatted(server.url("/orders?ref=${ input.order }"), found));
    }

    @Test
    void a_busy_provider_is_retried_with_the_same_key() {
        server.runs((_, socket) -> {
            String answer = server.requests().size() < 3 ? "HTTP/1.1 503 Busy\r\nRetry-After: 7\r\n\r\n" : OK + "{}";
            socket.getOutputStream().write(answer.getBytes(StandardCharsets.UTF_8));
        });
        assertEquals("{}", result(post("protect: provider_key\nprovider_window: 24h"), "{\"order\":1}"));
        oneKey(3);
    }

    @Test
    void each_attempt_can_send_its_number_and_the_body_stays_the_same() {
        loses(2, OK + "{\"id\":9}");
        String step = post("protect: provider_key\nprovider_window: 24h")
                .replace(
                        "  body:",
                        "  headers: {X-Attempt: \"${ attempt }\"}\n"
                                + "  result: \"${ {'id': response.body.id, 'attempt': attempt} }\"\n  body:");
        assertEquals("{\"id\":9,\"attempt\":3}", result(step, "{\"order\":1}"));
        oneKey(3);
        for (int i = 0; i < 3; i++) {
            String request = server.requests().get(i);
            assertTrue(request.contains("\r\nX-Attempt: " + (i + 1) + "\r\n"), request);
            assertTrue(request.endsWith("\r\n\r\n{\"order\":1}"), request);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "99999999999", "Wed, 21 Oct 2015 07:28:00 GMT", "-1", "x"})
    void a_provider_that_always_asks_to_retry_is_called_up_to_the_limit(String retryAfter) {
        server.answers("HTTP/1.1 429 Slow\r\nRetry-After: " + retryAfter + "\r\n\r\n");
        failure(post("protect: at_most_once\nretry: {attempts: 3, first: 1s}"), "{\"order\":1}");
        oneKey(3);
    }

    @Test
    void a_lost_response_is_retried_if_the_provider_honours_the_key() {
        loses(2, OK + "{\"id\":9}");
        assertEquals("{\"id\":9}", result(post("protect: provider_key\nprovider_window: 24h"), "{\"order\":1}"));
        oneKey(3);
    }

    @ParameterizedTest
    @ValueSource(strings = {"protect: provider_key\nprovider_window: 24h", "protect: repeatable"})
    void an_outage_of_many_attempts_ends_by_itself(String protection) {
        server.runs((_, socket) -> {
            String answer = server.requests().size() <= 30 ? "HTTP/1.1 503 Down\r\n\r\n" : OK + "{\"id\":9}";
            socket.getOutputStream().write(answer.getBytes(StandardCharsets.UTF_8));
        });
        assertEquals("{\"id\":9}", result(post(protection), "{\"order\":1}"));
        oneKey(31);
    }

    @Test
    void a_read_is_repeated_during_an_outage() {
        server.runs((_, socket) -> {
            String answer = server.requests().size() <= 30 ? "HTTP/1.1 503 Down\r\n\r\n" : OK + "{\"id\":9}";
            socket.getOutputStream().write(answer.getBytes(StandardCharsets.UTF_8));
        });
        assertEquals("{\"id\":9}", result(get("/orders"), "{}"));
    }

    @Test
    void on_error_never_sees_an_unknown_outcome() {
        server.answers("HTTP/1.1 503 Down\r\n\r\n");
        String step = post("protect: provider_key\nprovider_window: 1h\non_error: continue");
        assertEquals("outcome-unknown", failure(step, "{\"order\":1}").reason());
        assertTrue(keys().size() > 10, "it is tried for 48 minutes: " + keys().size());
    }

    @Test
    void on_error_continues_after_five_attempts_that_were_not_sent() {
        server.close();
        String step = post("protect: provider_key\nprovider_window: 1h\non_error: continue");
        assertTrue(result(step, "{\"order\":1}").contains("\"error\""));
    }

    @Test
    void an_error_that_the_provider_replays_opens_a_review_at_once() {
        server.answers("HTTP/1.1 500 No\r\nIdempotent-Replayed: true\r\n\r\n");
        String run = bench.start(post("protect: provider_key\nprovider_window: 24h"), "{\"order\":1}");
        assertEquals(RunState.IN_DOUBT, bench.settled(run));
        oneKey(1);
    }

    @Test
    void a_declared_retry_replaces_the_default() {
        server.answers("HTTP/1.1 503 Down\r\n\r\n");
        String step = post("protect: provider_key\nprovider_window: 24h\nretry: ");
        assertEquals(
                "outcome-unknown",
                failure(step + "{attempts: 2}", "{\"order\":1}").reason());
        oneKey(2);
        failure(step + "{within: 5s, first: 1s, factor: 1}", "{\"order\":1}");
        assertTrue(keys().size() >= 2 + 2 && keys().size() <= 2 + 12, "attempts for 5 s: " + keys().size());
    }

    @Test
    void a_lost_response_ends_an_at_most_once_effect() {
        loses(1, OK + "{}");
        assertEquals("{\"indeterminate\":true}", result(post("protect: at_most_once"), "{\"order\":1}"));
        oneKey(1);
    }

    @Test
    void a_lost_response_opens_a_review() {
        loses(1, OK + "{\"id\":9}");
        String run = bench.start(post("protect: ask\nreviewers: role:ops"), "{\"order\":1}");
        assertEquals(RunState.IN_DOUBT, bench.settled(run));
        oneKey(1);
        assertTrue(bench.run(run).confirmDone("call", Map.of("id", 5), "ann"));
        assertEquals("{\"id\":5}", bench.result(run).toString());
        oneKey(1);
    }

    @Test
    void an_effect_decided_as_not_happened_is_sent_with_the_same_key() {
        loses(1, OK + "{\"id\":9}");
        String run = bench.start(post("protect: ask"), "{\"order\":1}");
        assertEquals(RunState.IN_DOUBT, bench.settled(run));
        assertTrue(bench.run(run).confirmNotDone("call", "ann"));
        assertEquals("{\"id\":9}", bench.result(run).toString());
        oneKey(2);
    }

    @Test
    void a_lost_response_is_retried_without_protection() {
        loses(1, OK + "{\"id\":9}");
        assertEquals("{\"id\":9}", result(post("protect: none\nbecause: it only counts visits"), "{\"order\":1}"));
        oneKey(2);
    }

    @Test
    void a_lost_response_is_looked_up() {
        loses(9, OK + "{\"items\":[{\"id\":3}]}");
        String step =
                looked("found: \"${ size(response.body.items) > 0 }\"\n  result: \"${ response.body.items[0] }\"");
        assertEquals("{\"id\":3}", result(step, "{\"order\":\"o 1\"}"));
        oneKey(1);
        assertTrue(server.requests().get(1).startsWith("GET /orders?ref=o%201 HTTP/1.1\r\n"));
    }

    @Test
    void an_effect_unknown_to_the_provider_is_sent_again() {
        loses(1, OK + "{\"items\":[]}");
        assertEquals(
                "{\"items\":[]}", result(looked("found: \"${ size(response.body.items) > 0 }\""), "{\"order\":1}"));
        oneKey(2);
        assertEquals(
                2, server.requests().stream().filter(r -> r.startsWith("GET")).count(), "it was asked twice");
    }

    @Test
    void without_its_own_condition_a_lookup_uses_the_status() {
        loses(1, "HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n");
        failure(looked(""), "{\"order\":1}"); // the second one is answered with 404 as well
        oneKey(2);
    }

    @Test
    void an_inconclusive_lookup_is_repeated() {
        server.runs((request, socket) -> {
            long looks =
                    server.requests().stream().filter(r -> r.startsWith("GET")).count();
            String answer = looks == 1
                    ? "HTTP/1.1 500 Trouble\r\n\r\n"
                    : looks == 2 ? OK + "{\"other\":1}" : OK + "{\"items\":[1]}";
            if (request.startsWith("GET")) {
                socket.getOutputStream().write(answer.getBytes(StandardCharsets.UTF_8));
            }
        });
        assertEquals(
                "{\"items\":[1]}", result(looked("found: \"${ size(response.body.items) > 0 }\""), "{\"order\":1}"));
        oneKey(1);
    }

    @ParameterizedTest
    @CsvSource({
        "provider_key, 2, '{\"id\":7,\"name\":\"n\"}'",
        "at_most_once, 1, '{\"indeterminate\":true}'",
        "none, 2, '{\"id\":7,\"name\":\"n\"}'",
        "repeatable, 2, '{\"id\":7,\"name\":\"n\"}'",
    })
    void a_crash_after_the_send_is_handled_by_the_protection(String protection, int sent, String result)
            throws Exception {
        var arrived = new CountDownLatch(1);
        server.runs((_, socket) -> {
            if (server.requests().size() == 1) {
                arrived.countDown();
                while (RawServer.stillThere(socket)) {} // no answer before the process is gone
            } else {
                socket.getOutputStream().write((OK + "{\"id\":7,\"name\":\"n\"}").getBytes(StandardCharsets.UTF_8));
            }
        });
        String run = bench.start(
                post("protect: " + protection + "\nprovider_window: 24h\nbecause: a test\ntimeout: 600s"),
                "{\"order\":1}");
        arrived.await();
        bench.die();
        assertEquals(result, bench.result(run).toString());
        oneKey(sent);
    }

    @Test
    void a_crash_after_the_send_is_handled_by_a_user_or_a_lookup() throws Exception {
        for (String protection : List.of("ask", "lookup")) {
            int before = server.requests().size();
            var arrived = new CountDownLatch(1);
            server.runs((request, socket) -> {
                if (request.startsWith("POST")) {
                    arrived.countDown();
                    while (RawServer.stillThere(socket)) {}
                } else {
                    socket.getOutputStream().write((OK + "{\"id\":3}").getBytes(StandardCharsets.UTF_8));
                }
            });
            String run = bench.start(
                    protection.equals("ask") ? post("protect: ask\ntimeout: 600s") : looked("") + "timeout: 600s\n",
                    "{\"order\":1}");
            arrived.await();
            bench.die();
            RunState state = bench.settled(run);
            assertEquals(protection.equals("ask") ? RunState.IN_DOUBT : RunState.COMPLETED, state);
            long posts = server.requests().stream()
                    .skip(before)
                    .filter(r -> r.startsWith("POST"))
                    .count();
            assertEquals(1, posts, protection);
        }
    }

    @Test
    void a_lookup_at_the_same_server_uses_the_same_credential() {
        loses(9, OK + "{\"id\":1}");
        result(looked("").replace("  body:", "  auth: ${ secret.TOKEN }\n  body:"), "{\"order\":1}");
        assertTrue(server.requests().get(1).startsWith("GET"), server.requests().get(1));
        assertTrue(server.requests().get(1).contains("Authorization: Bearer t0p-s3cret"));
    }
}
