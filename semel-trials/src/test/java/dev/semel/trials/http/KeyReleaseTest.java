package dev.semel.trials.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.ConcurrentCalls;
import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.OnDevServers;
import dev.semel.trials.support.ServerFixture;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** What could happen twice if a key were let go: all that was done under it, whichever run of its line did it. */
class KeyReleaseTest extends OnDevServers {
    private final AtomicBoolean down = new AtomicBoolean();
    private final CountDownLatch go = new CountDownLatch(1);
    private HttpServer provider;

    KeyReleaseTest(ServerFixture stage) {
        super(stage);
    }

    @BeforeEach
    void open() throws Exception {
        provider = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
        provider.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        provider.createContext("/", exchange -> {
            String path = exchange.getRequestURI().getPath();
            if (path.equals("/slow")) {
                try {
                    go.await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }
            byte[] body = "{\"id\":1}".getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().add("Content-Type", "application/json");
            exchange.sendResponseHeaders(path.equals("/ask") && down.get() ? 400 : 200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        provider.start();
    }

    @AfterEach
    void close() {
        go.countDown();
        provider.stop(0);
    }

    private ApiCaller admin() {
        return stage.admin();
    }

    private String step(String id, String path) {
        return """
              - id: %s
                http: { method: POST, url: "http://127.0.0.1:%d/%s" }
                protect: provider_key
                provider_window: 24h
            """.formatted(id, provider.getAddress().getPort(), path);
    }

    private String flow(String name, String... steps) {
        return "semel: 1\nworkflow: " + name + "\nowner: trials\nsteps:\n" + String.join("", steps);
    }

    private JsonNode dry(String key) {
        HttpReply reply = admin().post("/v1/keys/" + key + "/release?dry_run=true", "{\"reason\":\"a look\"}");
        return reply.expect(200).json();
    }

    private static List<String> steps(JsonNode effects, String member) {
        return effects.valueStream()
                .map(effect -> effect.path(member).asString(""))
                .toList();
    }

    @Test
    void effects_of_replays_and_children_could_happen_twice() {
        admin().publish(flow("sending", step("send", "mail"))).expect(200);
        String child = "  - id: inform\n    workflow: sending\n";
        admin().publish(flow("paying", step("question", "ask"), step("charge", "charge"), child))
                .expect(200);
        String key = stage.key();
        down.set(true);
        HttpReply failed =
                admin().post("/v1/workflows/paying/trigger?wait=60s", "{\"data\":{}}", "Idempotency-Key: " + key);
        assertEquals("failed", failed.expect(200).text("status"));
        assertEquals(List.of(), steps(dry(key).path("effects"), "step"));
        down.set(false);
        HttpReply plan = admin().post("/v1/replays", "{\"runs\":[\"" + failed.runId() + "\"]}");
        String id = plan.expect(200).text("replay_id");
        admin().post("/v1/replays/" + id + "/apply", "").expect(200);
        ConcurrentCalls.until(
                "the replay has ended",
                () -> admin().get("/v1/replays/" + id)
                                .json()
                                .at("/progress/runs/completed")
                                .asInt()
                        == 1);
        JsonNode reported = dry(key);
        assertEquals(
                List.of("question", "charge", "send"), steps(reported.path("effects"), "step"), reported::toString);
        assertTrue(reported.path("effects")
                .valueStream()
                .allMatch(one -> one.path("could_duplicate").asBoolean()));
        assertFalse(reported.path("effects").get(1).path("run_id").asString("").equals(failed.runId()));
        assertFalse(reported.path("effects_truncated").asBoolean(true));
        JsonNode record = admin().get("/v1/keys/" + key).expect(200).json();
        assertEquals(List.of("question", "charge", "send"), steps(record.path("effects"), "path"), record::toString);
        assertTrue(record.path("history").toString().contains("Step charge of run_"), record::toString);
    }

    @Test
    void an_effect_in_flight_could_happen_twice_and_its_run_continues() {
        admin().publish(flow("slowly", step("wait", "slow"))).expect(200);
        String key = stage.key();
        HttpReply begun = admin().trigger("slowly", key, "{\"data\":{}}").expect(200);
        ConcurrentCalls.until(
                "it is on its way",
                () -> dry(key).path("effects").size() == 1
                        && dry(key).path("summary").asString("").contains("These runs are still in progress"));
        assertTrue(dry(key).path("summary").asString("").contains(begun.runId()));
    }

    @Test
    void a_workflow_with_many_steps_has_a_limited_number_of_metric_series() {
        String[] steps =
                IntStream.range(0, 105).mapToObj(n -> step("s" + n, "charge")).toArray(String[]::new);
        admin().publish(flow("wide", steps)).expect(200);
        HttpReply done = admin().post("/v1/workflows/wide/trigger?wait=60s", "{\"data\":{}}");
        assertEquals("completed", done.expect(200).text("status"), done::body);
        List<String> lines = admin().get("/metrics")
                .body()
                .lines()
                .filter(line -> line.startsWith("semel_writes_total{") && line.contains("workflow=\"wide\""))
                .toList();
        assertEquals(101, lines.size());
        assertTrue(lines.stream().anyMatch(line -> line.contains("step=\"(others)\"") && line.endsWith("} 5")));
    }

    @Test
    void a_truncated_list_says_that_there_is_more() {
        String many = "  - id: many\n    for_each: ${ input.lines }\n    as: n\n    item_key: ${ n.id }\n    steps:\n";
        admin().publish(flow("much", many, step("one", "charge").indent(4))).expect(200);
        String key = stage.key();
        String lines = IntStream.range(0, 120)
                .mapToObj(n -> "{\"id\":\"n" + n + "\"}")
                .collect(Collectors.joining(",", "[", "]"));
        HttpReply done = admin().post(
                        "/v1/workflows/much/trigger?wait=60s",
                        "{\"data\":{\"lines\":" + lines + "}}",
                        "Idempotency-Key: " + key);
        assertEquals("completed", done.expect(200).text("status"), done::body);
        JsonNode reported = dry(key);
        assertEquals(100, reported.path("effects").size());
        assertTrue(reported.path("effects_truncated").asBoolean());
        assertTrue(reported.path("summary").asString("").contains("This list is truncated"));
    }
}
