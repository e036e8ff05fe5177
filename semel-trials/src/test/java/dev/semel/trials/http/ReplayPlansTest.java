package dev.semel.trials.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.ConcurrentCalls;
import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.Invariants;
import dev.semel.trials.support.LiveServer;
import dev.semel.trials.support.ProblemResponseChecks;
import dev.semel.trials.support.StoreKind;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;

/** An outage over HTTP: a batch fails half-way, is planned, looked at and replayed, counted at the provider. */
class ReplayPlansTest {
    private static final int RUNS = 12;

    @TempDir
    Path folder;

    private final List<String> charges = new CopyOnWriteArrayList<>();
    private final List<String> mails = new CopyOnWriteArrayList<>();
    private final AtomicBoolean down = new AtomicBoolean(true);

    private HttpServer provider() throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
        server.createContext("/", exchange -> {
            boolean mail = exchange.getRequestURI().getPath().equals("/mail");
            boolean refused = mail && down.get();
            if (!refused) {
                (mail ? mails : charges).add(exchange.getRequestHeaders().getFirst("Idempotency-Key"));
            }
            byte[] body = "{\"id\":1}".getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().add("Content-Type", "application/json");
            exchange.sendResponseHeaders(refused ? 400 : 200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
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
                does: notify
                protect: ask
                on_doubt: { review: { to: "role:ops", title: "Was it sent?" } }
              - id: archive
                http: { method: POST, url: "http://127.0.0.1:%1$d/archive" }
                protect: provider_key
                provider_window: 24h
            """.formatted(port);
    }

    @ParameterizedTest
    @EnumSource(StoreKind.class)
    void a_batch_that_failed_half_way_is_planned_and_replayed_without_a_duplicate(StoreKind kind) throws Exception {
        HttpServer provider = provider();
        String store = kind.fresh(folder);
        try (LiveServer server = LiveServer.dev(store, folder)) {
            ApiCaller caller = server.admin();
            caller.publish(file(provider.getAddress().getPort())).expect(200);
            for (int i = 0; i < RUNS; i++) {
                String data = "{\"data\":{\"n\":" + i + "}}";
                HttpReply ended = caller.post("/v1/workflows/order/trigger?wait=60s", data, "Idempotency-Key: o" + i);
                assertEquals("failed", ended.expect(200).text("status"));
            }
            down.set(false);
            HttpReply made =
                    caller.post("/v1/replays", "{\"q\":\"status:failed workflow:order\"}", "Idempotency-Key: p1");
            JsonNode plan = made.expect(200).json();
            assertEquals(RUNS, plan.at("/actions/reuse/steps").asInt(), made::toString);
            assertEquals(2 * RUNS, plan.at("/actions/send/steps").asInt(), "mail, and archive, which was not come to");
            assertEquals(0, plan.path("incomplete").asInt(), "a file says what it has");
            assertEquals(RUNS, charges.size(), "a plan sends nothing");
            String id = made.text("replay_id");
            HttpReply again =
                    caller.post("/v1/replays", "{\"q\":\"status:failed workflow:order\"}", "Idempotency-Key: p1");
            assertEquals(id, again.expect(200).text("replay_id"), "the same key is the same plan");
            HttpReply second = caller.post("/v1/replays", "{\"q\":\"status:failed workflow:order\"}");
            caller.post("/v1/replays/" + id + "/apply", "{\"canary\":2}").expect(200);
            ConcurrentCalls.until(
                    "all have ended",
                    () -> caller.get("/v1/replays/" + id)
                            .json()
                            .at("/progress/verified")
                            .asBoolean());
            HttpReply report = caller.get("/v1/replays/" + id);
            assertEquals(RUNS, report.json().at("/progress/runs/completed").asInt(), report::toString);
            assertEquals(RUNS, mails.size());
            assertEquals(2 * RUNS, charges.size(), "one charge and one archive for each run");
            assertEquals(2 * RUNS, new HashSet<>(charges).size(), "no key twice");
            HttpReply moved = caller.post("/v1/replays/" + second.text("replay_id") + "/apply", "");
            ProblemResponseChecks.expect(moved, 412, "plan-out-of-date");
            assertTrue(moved.body().contains("it was replayed by"), moved::body);
        } finally {
            provider.stop(0);
        }
        Invariants.check(store);
    }

    @ParameterizedTest
    @EnumSource(StoreKind.class)
    void a_plan_approved_by_a_second_user_is_not_applied_with_more(StoreKind kind) throws Exception {
        HttpServer provider = provider();
        try (LiveServer server = LiveServer.dev(kind.fresh(folder), folder)) {
            ApiCaller maker = server.admin();
            ApiCaller second = server.as(server.token("\"name\":\"second\"", "operate", "read"));
            maker.publish(file(provider.getAddress().getPort())).expect(200);
            maker.post("/v1/workflows/order/trigger?wait=60s", "{\"data\":{}}", "Idempotency-Key: a")
                    .expect(200);
            down.set(false);
            HttpReply silent = maker.post("/v1/replays", "{\"q\":\"status:failed\",\"notify\":\"none\"}")
                    .expect(200);
            assertEquals("none", silent.text("notify"));
            assertEquals(1, silent.json().at("/actions/silent/steps").asInt(), silent::toString);
            assertEquals(1, silent.json().at("/actions/send/steps").asInt(), "the archive");
            maker.post("/v1/replays", "{\"q\":\"status:failed\",\"notify\":\"some\"}")
                    .expect(400);
            String body = "{\"q\":\"status:failed workflow:order\",\"approval\":true,\"rate\":50}";
            HttpReply made = maker.post("/v1/replays", body).expect(200);
            String one = "/v1/replays/" + made.text("replay_id");
            assertEquals(50, second.get(one).json().at("/apply/rate").asInt(), "who approves it sees how");
            ProblemResponseChecks.expect(maker.post(one + "/approve", ""), 403, "forbidden");
            second.post(one + "/approve", "").expect(200);
            HttpReply more = maker.post(one + "/apply", "{\"include\":[\"ask\",\"unprotected\"],\"rate\":50}");
            ProblemResponseChecks.expect(more, 403, "forbidden");
            assertEquals(List.of(), mails, "nothing was replayed");
            assertEquals(
                    50,
                    maker.post(one + "/apply", "")
                            .expect(200)
                            .json()
                            .at("/apply/rate")
                            .asInt());
        } finally {
            provider.stop(0);
        }
    }
}
