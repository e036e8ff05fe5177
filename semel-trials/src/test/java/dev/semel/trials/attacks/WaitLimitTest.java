package dev.semel.trials.attacks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.LiveServer;
import dev.semel.trials.support.RawConnection;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Requests with `?wait` hold their place for minutes, so one token may have only some of them. */
class WaitLimitTest {
    private static final int MOST = 512;
    private static final int EXTRA = 8;

    private final List<RawConnection> open = new ArrayList<>();
    private LiveServer server;

    @BeforeEach
    void open(@TempDir Path folder) {
        server = LiveServer.first("sqlite:" + folder.resolve("semel.db"), folder, _ -> {});
        server.admin()
                .publish("semel: 1\nworkflow: waits\nowner: trials\nsteps:\n"
                        + "  - {id: hold, wait_for: {signal: go, timeout: 1h}}\n")
                .expect(200);
    }

    @AfterEach
    void close() {
        open.forEach(RawConnection::close);
        server.close();
    }

    @Test
    void a_token_has_a_limit_of_waiting_requests_and_the_response_reports_it() {
        String run = server.admin().trigger("waits", "one", "{}").expect(200).runId();
        BlockingQueue<HttpReply> replies = new LinkedBlockingQueue<>();
        for (int i = 0; i < MOST + EXTRA; i++) {
            RawConnection wire = server.wire();
            open.add(wire);
            wire.send(server.admin()
                            .head(
                                    "POST",
                                    "/v1/workflows/waits/trigger",
                                    "Idempotency-Key: one",
                                    "Prefer: wait=300",
                                    "Content-Length: 0")
                    + "\r\n");
            Thread.ofVirtual().start(() -> replies.add(wire.reply()));
        }
        for (int i = 0; i < EXTRA; i++) {
            HttpReply reply = take(replies).expect(200);
            assertEquals(run, reply.runId());
            assertNull(reply.header("Preference-Applied"));
            assertTrue(reply.body().contains("has 512 requests that wait for the end of a run"), reply.body());
        }
        server.admin().post("/v1/runs/" + run + "/signals/go", "{}").expect(200);
        for (int i = 0; i < MOST; i++) {
            HttpReply reply = take(replies).expect(200);
            assertEquals("completed", reply.text("status"));
            assertEquals("wait=300", reply.header("Preference-Applied"));
        }
        assertTrue(replies.isEmpty());
    }

    private static HttpReply take(BlockingQueue<HttpReply> replies) {
        try {
            return Objects.requireNonNull(replies.poll(2, TimeUnit.MINUTES), "no response");
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
