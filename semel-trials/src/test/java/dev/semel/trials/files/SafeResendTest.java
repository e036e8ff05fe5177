package dev.semel.trials.files;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.semel.engine.ClockAndRandomSource;
import dev.semel.runtime.ManualClock;
import dev.semel.server.SemelServer;
import dev.semel.server.cli.server.ServerOptions;
import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.ConcurrentCalls;
import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.StoreKind;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;

/** Runs with an unknown outcome: the API says until when a re-send is safe, and an alert fires before that time. */
class SafeResendTest {
    private static final String FILE = """
        semel: 1
        workflow: charge
        owner: team:money
        steps:
          - id: charge
            http: {method: POST, url: "%s/charges", body: {order: "${ input.order }"}}
            protect: provider_key
            provider_window: %s
            retry: {attempts: 1}
        """;

    private final Queue<String> keys = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean down = new AtomicBoolean(true);
    private HttpServer provider;

    @TempDir
    Path folder;

    @BeforeEach
    void open() throws IOException {
        provider = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        provider.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        provider.createContext("/charges", this::charge);
        provider.start();
    }

    @AfterEach
    void close() {
        provider.stop(0);
    }

    private void charge(HttpExchange exchange) throws IOException {
        exchange.getRequestBody().readAllBytes();
        keys.add(exchange.getRequestHeaders().getFirst("Idempotency-Key"));
        exchange.sendResponseHeaders(down.get() ? 503 : 200, -1);
        exchange.close();
    }

    private String url() {
        return "http://127.0.0.1:" + provider.getAddress().getPort();
    }

    private SemelServer serve(String store, ClockAndRandomSource ambient) {
        return SemelServer.start(new ServerOptions(true, true, "127.0.0.1", 0, folder, store, null), ambient);
    }

    private void publish(ApiCaller caller, String window) {
        caller.publish(FILE.formatted(url(), window)).expect(200);
    }

    private static String start(ApiCaller caller, int order) {
        return caller.post(
                        "/v1/workflows/charge/trigger",
                        "{\"data\":{\"order\":\"o" + order + "\"}}",
                        "Idempotency-Key: o" + order)
                .expect(200)
                .text("run_id");
    }

    private static JsonNode ended(ApiCaller caller, String run, String status) {
        ConcurrentCalls.until(
                run + " is " + status,
                () -> caller.get("/v1/runs/" + run).expect(200).text("status").equals(status));
        return caller.get("/v1/runs/" + run).json();
    }

    @ParameterizedTest
    @EnumSource(StoreKind.class)
    void the_api_shows_until_when_a_resend_is_safe_and_a_replay_sends_the_same_key(StoreKind kind) {
        try (SemelServer serve = serve(kind.fresh(folder), ClockAndRandomSource.real())) {
            ApiCaller caller = new ApiCaller(serve.port(), "dev", _ -> {});
            assertEquals(
                    0,
                    caller.get("/v1/recovery").expect(200).json().path("runs").asInt());
            publish(caller, "40m");
            JsonNode run = ended(caller, start(caller, 1), "failed");
            assertEquals("outcome-unknown", run.at("/error/code").asString());
            String until = run.path("safe_to_resend_until").asString();
            assertTrue(Instant.parse(until).isAfter(Instant.now().plus(Duration.ofMinutes(35))), until);
            assertEquals(until, run.at("/error/safe_to_resend_until").asString());
            publish(caller, "3h");
            String later = start(caller, 2);
            ended(caller, later, "failed");
            JsonNode recovery = caller.get("/v1/recovery").expect(200).json();
            assertEquals(2, recovery.path("runs").asInt(), recovery::toString);
            assertEquals(1, recovery.path("lose_safe_resend_within_hour").asInt(), recovery::toString);
            assertEquals(2, recovery.path("lose_safe_resend_within_day").asInt(), recovery::toString);
            assertEquals(until, recovery.path("soonest").asString());
            assertEquals("charge", recovery.at("/workflows/0/workflow").asString(), recovery::toString);
            publish(caller, "20m");
            String soonest = start(caller, 3);
            ended(caller, soonest, "failed");

            HttpReply plan = caller.post("/v1/replays", "{\"q\":\"status:failed workflow:charge\"}")
                    .expect(200);
            assertEquals(3, plan.json().at("/actions/resend/steps").asInt(), plan::toString);
            String id = plan.text("replay_id");
            JsonNode items = caller.get("/v1/replays/" + id + "/items").json().path("items");
            assertEquals(soonest, items.at("/0/run_id").asString(), items::toString);
            assertEquals(later, items.at("/2/run_id").asString(), items::toString);

            down.set(false);
            caller.post("/v1/replays/" + id + "/apply", "").expect(200);
            ConcurrentCalls.until(
                    "all are replayed",
                    () -> caller.get("/v1/replays/" + id)
                                    .json()
                                    .at("/progress/runs/completed")
                                    .asInt()
                            == 3);
            assertEquals(6, keys.size());
            assertEquals(3, new HashSet<>(keys).size(), "each run sent one key");
            assertEquals(
                    0,
                    caller.get("/v1/recovery").expect(200).json().path("runs").asInt());
        }
    }

    @Test
    void in_thirty_days_no_safe_resend_ends_without_an_alert_before() {
        Random random = new Random(19);
        ManualClock clock = ManualClock.startingAt(Instant.parse("2026-11-01T00:00:00Z"));
        List<Instant> ends = new ArrayList<>();
        int warned = 0;
        try (CountingReceiver receiver = new CountingReceiver();
                SemelServer serve = serve("sqlite:" + folder.resolve("semel.db"), clock.ambient())) {
            ApiCaller caller = new ApiCaller(serve.port(), "dev", _ -> {});
            publish(caller, "3h");
            caller.put("/v1/channels/ops", "{\"kind\":\"webhook\",\"url\":\"" + receiver.url() + "/alerts\"}")
                    .expect(200);
            caller.put("/v1/alerts/resend", """
                {"metric":"safe_resend_ends","above":0,"over":"1h","channel":"ops","to":"on-call"}\
                """).expect(200);
            Duration step = Duration.ofMinutes(20);
            for (int i = 0; i < 30 * 24 * 3; i++) {
                if (random.nextInt(40) == 0) {
                    String until = ended(caller, start(caller, i), "failed")
                            .path("safe_to_resend_until")
                            .asString();
                    ends.add(Instant.parse(until));
                }
                serve.alertMonitor().checkAll();
                Instant next = clock.now().plus(step);
                if (ends.stream().anyMatch(end -> end.isAfter(clock.now()) && !end.isAfter(next))) {
                    warned++;
                    JsonNode state = caller.get("/v1/alerts/resend/state").json();
                    assertTrue(state.path("firing").asBoolean(), "a re-send stops to be safe before " + next);
                }
                clock.advance(step);
            }
            assertTrue(ends.size() > 20, "runs: " + ends.size());
            assertTrue(warned > 20, "ends: " + warned);
            List<String> reported = receiver.accepted("/alerts").stream()
                    .map(CountingReceiver.ReceivedRequest::body)
                    .toList();
            assertFalse(reported.isEmpty());
            assertTrue(
                    reported.getFirst().contains("run of charge loses safe re-send at 2026-11-"), reported.getFirst());
            JsonNode reviews = caller.get("/v1/reviews?limit=100").json().path("items");
            assertTrue(reviews.size() > 20, "each run whose time has passed waits for a decision");
        }
    }
}
