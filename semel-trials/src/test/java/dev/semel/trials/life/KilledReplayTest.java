package dev.semel.trials.life;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.ConcurrentCalls;
import dev.semel.trials.support.Databases;
import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.Invariants;
import dev.semel.trials.support.ServerProcess;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** The process that applies a plan is killed in the middle of it, and another one goes on. The receiver is the witness. */
@Tag("trial")
class KilledReplayTest {
    private static final int RUNS = 300;
    private static final int KILLED_AFTER = 40;

    @TempDir
    Path folder;

    private final Map<String, Integer> charges = new ConcurrentHashMap<>();
    private final Map<String, Integer> mails = new ConcurrentHashMap<>();
    private final AtomicBoolean down = new AtomicBoolean(true);
    private final CountDownLatch some = new CountDownLatch(KILLED_AFTER);

    private HttpServer receiver() throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/", exchange -> {
            boolean mail = exchange.getRequestURI().getPath().equals("/mail");
            boolean refused = mail && down.get();
            if (!refused) {
                String key = exchange.getRequestHeaders().getFirst("Idempotency-Key");
                (mail ? mails : charges).merge(key, 1, Integer::sum);
            }
            byte[] body = "{\"id\":1}".getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().add("Content-Type", "application/json");
            exchange.sendResponseHeaders(refused ? 400 : 200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
            if (mail && !refused) {
                some.countDown();
            }
        });
        server.start();
        return server;
    }

    private static String file(int port) {
        return """
            semel: 1
            workflow: order
            owner: trials
            steps:
              - id: charge
                http: { method: POST, url: "http://127.0.0.1:%1$d/charge" }
                protect: provider_key
                provider_window: 24h
              - id: mail
                http: { method: POST, url: "http://127.0.0.1:%1$d/mail" }
                protect: provider_key
                provider_window: 24h
            """.formatted(port);
    }

    private static void fail(ApiCaller caller) {
        StringBuilder items = new StringBuilder();
        for (int i = 0; i < RUNS; i++) {
            items.append(i == 0 ? "" : ",").append("{\"key\":\"o").append(i).append("\",\"data\":{}}");
        }
        caller.post("/v1/workflows/order/trigger-batch", "{\"items\":[" + items + "]}")
                .expect(200);
        ConcurrentCalls.until(
                "all have failed",
                () -> caller.get("/v1/monitoring?since=1h").status() == 200
                        && caller.get("/v1/runs?limit=1&q=status:running")
                                .json()
                                .path("items")
                                .isEmpty()
                        && caller.get("/v1/runs?limit=1&q=status:started")
                                .json()
                                .path("items")
                                .isEmpty());
    }

    /** The plan whose process is gone, in the middle of it. */
    private String killed(String store, int port) throws Exception {
        try (ServerProcess first = ServerProcess.start(folder, store, "dev", "--demo")) {
            ApiCaller caller = first.as("dev");
            caller.publish(file(port)).expect(200);
            fail(caller);
            assertEquals(RUNS, charges.size());
            down.set(false);
            HttpReply made = caller.post("/v1/replays", "{\"q\":\"status:failed workflow:order\"}");
            JsonNode plan = made.expect(200).json();
            assertEquals(RUNS, plan.at("/actions/reuse/steps").asInt(), made::body);
            assertEquals(RUNS, plan.at("/actions/send/steps").asInt(), made::body);
            String id = made.text("replay_id");
            caller.post("/v1/replays/" + id + "/apply", "").expect(200);
            assertTrue(some.await(30, TimeUnit.SECONDS), "some mails have left");
            return id;
        }
    }

    @Test
    void a_second_process_continues_and_the_receiver_saw_what_the_plan_predicted() throws Exception {
        String store = Databases.fresh();
        HttpServer receiver = receiver();
        Path other = Files.createDirectory(folder.resolve("other"));
        try (ServerProcess second = ServerProcess.start(other, store, "dev", "--demo")) {
            String id = killed(store, receiver.getAddress().getPort());
            ApiCaller left = second.as("dev");
            ConcurrentCalls.until(
                    "all have ended",
                    () -> left.get("/v1/replays/" + id)
                            .json()
                            .at("/progress/verified")
                            .asBoolean());
            JsonNode report = left.get("/v1/replays/" + id).json();
            assertEquals(RUNS, report.at("/progress/runs/completed").asInt(), report::toString);
            assertEquals(RUNS, mails.size(), "each mail under one key");
            assertEquals(RUNS, charges.size(), "no charge under another key");
            assertTrue(charges.values().stream().allMatch(times -> times == 1), "and none a second time");
        } finally {
            receiver.stop(0);
        }
        Invariants.check(store);
    }
}
