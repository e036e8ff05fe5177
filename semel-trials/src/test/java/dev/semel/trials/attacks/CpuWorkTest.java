package dev.semel.trials.attacks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.json.StrictJsonCodec;
import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.ConcurrentCalls;
import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.LiveServer;
import dev.semel.trials.support.ProblemResponseChecks;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Requests that need much CPU do not delay others. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class CpuWorkTest {
    private static final String FORM = "Content-Type: application/x-www-form-urlencoded";
    private static final int LOGINS = 120;

    private LiveServer server;

    @BeforeAll
    void open(@TempDir Path folder) {
        server = LiveServer.first("sqlite:" + folder.resolve("semel.db"), folder, _ -> {});
    }

    @AfterAll
    void close() {
        server.close();
    }

    @Test
    void parallel_logins_delay_no_other_request() throws Exception {
        AtomicInteger checked = new AtomicInteger();
        BlockingQueue<Integer> statuses = new LinkedBlockingQueue<>();
        for (int i = 0; i < LOGINS; i++) {
            String name = "nobody" + i;
            Thread.ofVirtual().start(() -> {
                int status = server.stranger()
                        .send("POST", "/login", "name=" + name + "&password=wrong+wrong+wrong", FORM)
                        .status();
                checked.addAndGet(status == 403 ? 1 : 0);
                statuses.add(status);
            });
        }
        ConcurrentCalls.until("the first login is checked", () -> checked.get() > 0);
        int before = checked.get();
        for (int i = 0; i < 20; i++) {
            server.admin().get("/v1/runs?limit=1").expect(200);
        }
        int during = checked.get() - before;
        assertTrue(during < 20, during + " logins were checked during 20 requests, which waited for them");
        for (int i = 0; i < LOGINS; i++) {
            int status = statuses.take();
            assertTrue(List.of(403, 429, 503).contains(status), "status " + status);
        }
    }

    @Test
    void the_drafts_of_one_token_leave_room_for_others() {
        ApiCaller greedy = server.with("read");
        ApiCaller other = server.with("read");
        String body = draft(large(), edits(30));
        List<HttpReply> replies = ConcurrentCalls.atOnce(
                24, i -> i == 23 ? other.post("/v1/drafts", body) : greedy.post("/v1/drafts", body));
        replies.getLast().expect(200);
        long rejected = replies.stream().filter(reply -> reply.status() == 503).count();
        assertTrue(rejected > 0 && rejected < 23, rejected + " of 23 drafts of one token were rejected");
        for (HttpReply reply : replies) {
            if (reply.status() != 200) {
                ProblemResponseChecks.expect(reply, 503, "overloaded");
            }
        }
        greedy.post("/v1/drafts", body).expect(200);
    }

    @Test
    void a_draft_of_brackets_is_answered_with_its_error() {
        HttpReply reply = server.with("read")
                .post("/v1/drafts", draft("[".repeat(262_000), "[]"))
                .expect(200);
        assertTrue(reply.body().contains("nested levels"), reply.body().substring(0, 200));
        assertEquals("", reply.text("workflow"));
    }

    private static String draft(String text, String edits) {
        ObjectNode body = JsonNodeFactory.instance.objectNode().put("text", text);
        body.set("edits", StrictJsonCodec.parse(edits));
        return StrictJsonCodec.write(body);
    }

    private static String large() {
        StringBuilder out = new StringBuilder("semel: 1\nworkflow: large\nowner: trials\nsteps:\n");
        for (int i = 0; i < 400; i++) {
            out.append("  - {id: s").append(i).append(", set: {a: 1, b: a text of some length}}\n");
        }
        return out.toString();
    }

    private static String edits(int count) {
        StringBuilder out = new StringBuilder("[");
        for (int i = 0; i < count; i++) {
            out.append(i == 0 ? "" : ",")
                    .append("{\"op\":\"set\",\"step\":\"s")
                    .append(i)
                    .append("\",\"field\":\"set.a\",\"value\":")
                    .append(i + 2)
                    .append('}');
        }
        return out.append(']').toString();
    }
}
