package dev.semel.trials.http;

import static dev.semel.trials.support.SampleWorkflows.data;
import static dev.semel.trials.support.SampleWorkflows.flow;
import static dev.semel.trials.support.TriggerResponseChecks.replay;
import static dev.semel.trials.support.TriggerResponseChecks.started;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.trials.support.ConcurrentCalls;
import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.Invariants;
import dev.semel.trials.support.LiveServer;
import dev.semel.trials.support.ProblemResponseChecks;
import dev.semel.trials.support.RawConnection;
import dev.semel.trials.support.StoreKind;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A server that is notified to stop keeps every promise it has made. */
class StopTest {
    @TempDir
    Path folder;

    @ParameterizedTest
    @EnumSource(StoreKind.class)
    void row_16_requests_in_flight_finish_and_new_ones_are_503(StoreKind kind) throws Exception {
        String store = kind.fresh(folder);
        LiveServer server = LiveServer.first(store, folder, _ -> {});
        server.admin().publish(flow("plain")).expect(200);
        byte[] body = data("").getBytes(StandardCharsets.UTF_8);
        String head = "POST /v1/workflows/plain/trigger HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "
                + server.adminToken() + "\r\nContent-Type: application/json\r\nContent-Length: " + body.length + "\r\n";
        HttpReply answered;
        try (RawConnection inFlight = server.wire();
                RawConnection rawConnection = server.wire()) {
            rawConnection.send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
            rawConnection.reply().expect(200);
            inFlight.send(head + "Idempotency-Key: in-flight\r\nExpect: 100-continue\r\n\r\n");
            inFlight.reply().expect(100); // the server is reading the body: the request is in flight
            Thread stopping = Thread.ofPlatform().start(server::close);
            ConcurrentCalls.until("nobody can connect", () -> refuses(server.port()));
            rawConnection.send(head + "Idempotency-Key: too-late\r\n\r\n").send(body);
            HttpReply late = ProblemResponseChecks.expect(rawConnection.reply(), 503, "shutting-down");
            assertTrue(late.flag("retryable") && late.header("Retry-After") != null, late::toString);
            inFlight.send(body);
            answered = started(inFlight.reply());
            stopping.join();
        }
        try (LiveServer next = LiveServer.another(store, folder, server)) {
            replay(answered, next.admin().trigger("plain", "in-flight", data("")));
            started(next.admin().trigger("plain", "too-late", data("")));
            assertEquals(
                    "completed",
                    next.admin()
                            .post("/v1/workflows/plain/trigger?wait=60s", data(""), "Idempotency-Key: in-flight")
                            .text("status"));
        }
        Invariants.check(store);
    }

    @ParameterizedTest
    @EnumSource(StoreKind.class)
    void every_answered_duplicate_is_recorded_after_a_stop(StoreKind kind) {
        String store = kind.fresh(folder);
        LiveServer server = LiveServer.first(store, folder, _ -> {});
        server.admin().publish(flow("plain")).expect(200);
        HttpReply first = started(server.admin().trigger("plain", "k", data("")));
        for (int i = 0; i < 30; i++) {
            replay(first, server.admin().trigger("plain", "k", data("")));
        }
        server.close();
        Invariants.check(store);
        try (LiveServer next = LiveServer.another(store, folder, server)) {
            assertEquals(
                    30, next.admin().get("/v1/keys/k").json().get("replays").asInt());
        }
    }

    private static boolean refuses(int port) {
        try (RawConnection wire = new RawConnection(port)) {
            wire.send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
            return wire.replyOrClosed() == null;
        } catch (UncheckedIOException e) {
            return true;
        }
    }
}
