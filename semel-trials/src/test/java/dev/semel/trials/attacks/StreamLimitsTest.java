package dev.semel.trials.attacks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.LiveServer;
import dev.semel.trials.support.ProblemResponseChecks;
import dev.semel.trials.support.RawConnection;
import dev.semel.trials.support.SampleWorkflows;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** Streams end with the credential that opened them, and one caller does not use up the streams of all. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class StreamLimitsTest {
    /** A quiet stream sends it every 10 s, so a stream that ends within 3 s sends none. */
    private static final String KEEP_ALIVE = ": keep-alive";

    private static final String FORM = "Content-Type: application/x-www-form-urlencoded";

    private final List<RawConnection> streams = new ArrayList<>();
    private LiveServer server;

    @BeforeAll
    void open(@TempDir Path folder) {
        server = LiveServer.first("sqlite:" + folder.resolve("semel.db"), folder, _ -> {});
        server.admin()
                .publish("semel: 1\nworkflow: waits\nowner: trials\nsteps:\n  - {id: rest, sleep: 1h}\n")
                .expect(200);
        server.admin().publish(SampleWorkflows.flow("plain")).expect(200);
    }

    @AfterEach
    void closeStreams() {
        streams.forEach(RawConnection::close);
        streams.clear();
    }

    @AfterAll
    void close() {
        server.close();
    }

    private RawConnection stream(ApiCaller caller, String path, String... headers) {
        RawConnection wire = server.wire();
        streams.add(wire);
        return wire.send(caller.head("GET", path, headers) + "\r\n");
    }

    private HttpReply newToken(String name) {
        return server.admin()
                .post("/v1/tokens", "{\"name\":\"" + name + "\",\"scopes\":[\"read\"]}")
                .expect(200);
    }

    @Test
    void a_revoked_token_ends_its_streams_before_their_next_keep_alive() {
        String run =
                server.admin().trigger("waits", "waits-1", "{}").expect(200).runId();
        for (String path : List.of("/v1/tail?seconds=9999", "/v1/runs/" + run + "/events?seconds=9999")) {
            HttpReply token = newToken("revoked");
            RawConnection wire = stream(server.as(token.text("token")), path);
            assertTrue(wire.untilClosedOr("event: run").contains("event: run"), path);
            server.admin().delete("/v1/tokens/" + token.text("token_id")).expect(200);
            String rest = wire.untilClosedOr(KEEP_ALIVE);
            assertFalse(rest.contains(KEEP_ALIVE), path + " continued after the token was revoked: " + rest);
            assertTrue(rest.endsWith("0\r\n\r\n"), path + " has no end: " + rest);
        }
    }

    @Test
    void an_ended_session_ends_its_streams_before_their_next_keep_alive() {
        String session = session("liv");
        RawConnection wire = stream(server.stranger(), "/live", session);
        wire.untilClosedOr("event: reviews");
        server.admin().delete("/v1/users/liv/sessions").expect(200);
        String rest = wire.untilClosedOr(KEEP_ALIVE);
        assertFalse(rest.contains(KEEP_ALIVE), "the stream continued after the session ended: " + rest);
    }

    @Test
    void a_quiet_stream_of_a_valid_token_continues() {
        HttpReply token = newToken("valid");
        RawConnection wire = stream(server.as(token.text("token")), "/v1/tail?seconds=9999");
        wire.untilClosedOr("event: reviews");
        assertTrue(wire.untilClosedOr(KEEP_ALIVE).contains(KEEP_ALIVE));
        String run = server.admin().trigger("plain", "later", "{}").expect(200).runId();
        assertTrue(wire.untilClosedOr(run).contains(run));
    }

    @Test
    void streams_of_a_run_do_not_read_its_journal_again_and_again() {
        server.admin()
                .publish("semel: 1\nworkflow: large\nowner: trials\nsteps:\n  - id: many\n"
                        + "    for_each: ${ input.items }\n    as: item\n    item_key: ${ item }\n    steps:\n"
                        + "      - {id: copy, set: {text: '${ input.text }'}}\n"
                        + "  - {id: rest, sleep: 1h}\n")
                .expect(200);
        String items = IntStream.range(0, 100).mapToObj(String::valueOf).collect(Collectors.joining(","));
        String run = server.admin()
                .trigger(
                        "large",
                        "large-1",
                        "{\"data\":{\"items\":[" + items + "],\"text\":\"" + "x".repeat(100_000) + "\"}}")
                .expect(200)
                .runId();
        String path = "/v1/runs/" + run + "/events?seconds=9999";
        RawConnection wire = stream(server.admin(), path);
        wire.untilClosedOr("\"status\":\"waiting\"");
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        wire.untilClosedOr(KEEP_ALIVE);
        long before = threads.getTotalThreadAllocatedBytes();
        wire.untilClosedOr(KEEP_ALIVE); // about ten polls
        long megabytes = (threads.getTotalThreadAllocatedBytes() - before) >> 20;
        assertTrue(megabytes < 100, "about ten polls of a journal of 10 MB allocated " + megabytes + " MB");
    }

    @Test
    void the_streams_of_one_token_leave_streams_to_others() {
        ApiCaller greedy = server.as(newToken("greedy").text("token"));
        int opened = 0;
        HttpReply reply = stream(greedy, "/v1/tail?seconds=9999").reply();
        while (reply.status() == 200 && opened < 1_000) {
            opened++;
            reply = stream(greedy, "/v1/tail?seconds=9999").reply();
        }
        assertTrue(opened < 1_000, "one token opened all streams");
        ProblemResponseChecks.expect(reply, 503, "overloaded");
        ApiCaller other = server.as(newToken("other").text("token"));
        assertEquals(200, stream(other, "/v1/tail?seconds=9999").reply().status());
        assertEquals(
                200, stream(server.stranger(), "/live", session("lea")).reply().status());
        closeStreams();
        server.admin().get("/v1/runs").expect(200);
    }

    @Test
    void a_response_without_a_body_opens_no_stream() {
        ApiCaller caller = server.as(newToken("head").text("token"));
        for (int i = 0; i < 1_001; i++) {
            try (RawConnection wire = server.wire()) {
                wire.send(caller.head("HEAD", "/v1/tail") + "\r\n");
                assertTrue(wire.untilClosed().startsWith("HTTP/1.1 200"));
            }
        }
        assertEquals(200, stream(caller, "/v1/tail").reply().status());
    }

    /** The session cookie of a new user. */
    private String session(String name) {
        String link = server.admin()
                .put("/v1/users/" + name, "{\"role\":\"viewer\"}")
                .expect(200)
                .text("invitation");
        String token = link.substring(link.indexOf('=') + 1);
        String password = "correct+horse+battery";
        HttpReply reply = server.stranger()
                .send(
                        "POST",
                        "/setup",
                        "token=" + token + "&name=" + name + "&password=" + password + "&again=" + password,
                        FORM)
                .expect(303);
        String set = Objects.requireNonNull(reply.header("Set-Cookie"));
        return "Cookie: " + set.substring(0, set.indexOf(';'));
    }
}
