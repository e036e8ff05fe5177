package dev.semel.trials.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.HttpReply;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** kill -9 while events fan out: what was answered is there, and what was not is whole after it is sent again. */
@Tag("trial")
class EventKillTest {
    private static final int CLIENTS = 32;
    private static final int LEAST_ANSWERED = 300;
    private static final List<String> WORKFLOWS = List.of("first", "second");

    @TempDir
    Path folder;

    private final Map<String, List<String>> answered = new ConcurrentHashMap<>();
    private final Set<String> sent = ConcurrentHashMap.newKeySet();
    private final AtomicInteger uncertain = new AtomicInteger();

    @Test
    void every_event_is_one_run_of_each_workflow_after_a_kill() throws Exception {
        String url = RealPostgres.url(RealPostgres.newDatabase());
        ProcessServer.Start how = new ProcessServer.Start(folder, url);
        ProcessServer server = ProcessServer.start(how);
        try {
            ApiCaller caller = new ApiCaller(server.port(), "dev", _ -> {});
            for (String workflow : WORKFLOWS) {
                caller.publish("semel: 1\nworkflow: " + workflow
                                + "\n"
                                + "trigger: { events: [{ type: kill.paid }] }\n"
                                + "steps: [{id: note, set: {ok: true}}]\n")
                        .expect(200);
            }
            try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
                for (int client = 0; client < CLIENTS; client++) {
                    String name = "c" + client;
                    var unused = clients.submit(() -> load(caller, name));
                }
                Await.holds("enough is answered", () -> answered.size() >= LEAST_ANSWERED);
                server.kill();
            }
            assertTrue(uncertain.get() > 0, "the kill met no request in flight");
            server = ProcessServer.start(how);
            settle(new ApiCaller(server.port(), "dev", _ -> {}));
            assertEquals(
                    (long) sent.size() * WORKFLOWS.size(),
                    RealPostgres.number(url, "SELECT count(*) FROM semel_run WHERE key LIKE 'event:%'"));
            assertEquals(sent.size(), RealPostgres.number(url, "SELECT count(*) FROM semel_event"));
            server.stop();
        } finally {
            server.close();
        }
    }

    /** Until the server is gone. */
    private void load(ApiCaller caller, String name) {
        for (int n = 0; ; n++) {
            String id = name + "-" + n;
            sent.add(id);
            try {
                answered.put(id, runs(caller.post("/v1/events", event(id)).expect(200)));
            } catch (UncheckedIOException e) {
                uncertain.incrementAndGet();
                return;
            }
        }
    }

    private void settle(ApiCaller caller) {
        for (String id : sent) {
            HttpReply again = caller.post("/v1/events", event(id)).expect(200);
            List<String> runs = runs(again);
            assertEquals(WORKFLOWS.size(), Set.copyOf(runs).size(), again::body);
            List<String> before = answered.get(id);
            if (before != null) {
                assertEquals(before, runs, "another run than was answered");
                assertEquals("true", again.header("X-Idempotent-Replayed"));
            }
        }
    }

    private static String event(String id) {
        return "{\"id\":\"" + id + "\",\"source\":\"/kill\",\"type\":\"kill.paid\",\"data\":{}}";
    }

    private static List<String> runs(HttpReply reply) {
        List<String> runs = new ArrayList<>();
        for (JsonNode run : reply.json().path("runs")) {
            runs.add(run.path("run_id").asString());
        }
        return runs;
    }
}
