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
import java.util.regex.Matcher;
import java.util.regex.Pattern;
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
        publish(caller, "charge", window);
    }

    private void publish(ApiCaller caller, String workflow, String window) {
        caller.publish(FILE.formatted(url(), window).replace("workflow: charge", "workflow: " + workflow))
                .expect(200);
    }

    private static String start(ApiCaller caller, int order) {
        return start(caller, "charge", order);
    }

    private static String start(ApiCaller caller, String workflow, int order) {
        return caller.post(
                        "/v1/workflows/" + workflow + "/trigger",
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

    private static void alert(ApiCaller caller, CountingReceiver receiver) {
        caller.put("/v1/channels/ops", "{\"kind\":\"webhook\",\"url\":\"" + receiver.url() + "/alerts\"}")
                .expect(200);
        caller.put("/v1/alerts/resend", """
            {"metric":"safe_resend_ends","above":0,"over":"1h","channel":"ops","to":"on-call"}\
            """).expect(200);
    }

    private static List<String> messages(CountingReceiver receiver) {
        return receiver.accepted("/alerts").stream()
                .map(CountingReceiver.ReceivedRequest::body)
                .toList();
    }

    private static boolean isFiring(ApiCaller caller) {
        return caller.get("/v1/alerts/resend/state").json().path("firing").asBoolean();
    }

    @Test
    void while_the_alert_fires_further_runs_are_named_and_its_end_says_what_is_in_doubt() {
        ManualClock clock = ManualClock.startingAt(Instant.parse("2026-11-01T00:00:00Z"));
        try (CountingReceiver receiver = new CountingReceiver();
                SemelServer serve = serve("sqlite:" + folder.resolve("semel.db"), clock.ambient())) {
            ApiCaller caller = new ApiCaller(serve.port(), "dev", _ -> {});
            alert(caller, receiver);
            publish(caller, "aa", "50m");
            publish(caller, "bb", "50m");
            ended(caller, start(caller, "aa", 0), "failed");
            serve.alertMonitor().checkAll();
            serve.alertMonitor().checkAll();
            assertEquals(1, messages(receiver).size());
            for (int i = 1; i < 6; i++) {
                ended(caller, start(caller, "bb", i), "failed");
                serve.alertMonitor().checkAll();
            }
            assertEquals(1, messages(receiver).size(), "some minutes lie between two messages");
            clock.advance(Duration.ofMinutes(6));
            serve.alertMonitor().checkAll();
            serve.alertMonitor().checkAll();
            assertEquals(2, messages(receiver).size());
            assertTrue(messages(receiver).getLast().contains("5 runs of bb lose"), messages(receiver)::getLast);
            publish(caller, "soon", "8m");
            ended(caller, start(caller, "soon", 6), "failed");
            serve.alertMonitor().checkAll();
            assertEquals(3, messages(receiver).size(), "its end is too near to wait");
            assertTrue(messages(receiver).getLast().contains("1 run of soon loses"), messages(receiver)::getLast);
            assertEquals(
                    3,
                    receiver.accepted("/alerts").stream()
                            .map(CountingReceiver.ReceivedRequest::key)
                            .distinct()
                            .count());

            clock.advance(Duration.ofMinutes(50));
            ConcurrentCalls.until("the alert resolves", () -> {
                serve.alertMonitor().checkAll();
                return !isFiring(caller) && messages(receiver).size() == 4;
            });
            String end = messages(receiver).getLast();
            assertTrue(end.contains("7 runs lost safe re-send"), end);
            assertTrue(end.contains("semel review decide"), end);
            assertFalse(end.contains("No action is needed"), end);
        }
    }

    @ParameterizedTest
    @EnumSource(StoreKind.class)
    void the_alert_names_a_run_that_loses_safe_resend_within_its_window(StoreKind kind) {
        try (CountingReceiver receiver = new CountingReceiver();
                SemelServer serve = serve(kind.fresh(folder), ClockAndRandomSource.real())) {
            ApiCaller caller = new ApiCaller(serve.port(), "dev", _ -> {});
            alert(caller, receiver);
            publish(caller, "later", "3h");
            ended(caller, start(caller, "later", 0), "failed");
            serve.alertMonitor().checkAll();
            assertEquals(List.of(), messages(receiver));
            publish(caller, "40m");
            ended(caller, start(caller, 1), "failed");
            serve.alertMonitor().checkAll();
            String text = messages(receiver).getFirst();
            assertTrue(text.contains("1 run of charge loses"), text);
            assertFalse(text.contains("later"), text);
            assertFalse(text.contains("lost safe re-send"), text);
        }
    }

    @Test
    void the_command_in_the_alert_finds_runs_that_were_created_long_ago() {
        ManualClock clock = ManualClock.startingAt(Instant.parse("2026-11-01T00:00:00Z"));
        try (CountingReceiver receiver = new CountingReceiver();
                SemelServer serve = serve("sqlite:" + folder.resolve("semel.db"), clock.ambient())) {
            ApiCaller caller = new ApiCaller(serve.port(), "dev", _ -> {});
            alert(caller, receiver);
            publish(caller, "10d");
            ended(caller, start(caller, 1), "failed");
            clock.advance(Duration.ofHours(239).plusMinutes(30));
            serve.alertMonitor().checkAll();
            String text = messages(receiver).getFirst();
            Matcher command =
                    Pattern.compile("semel replay plan \\\\\"([^\"\\\\]+)").matcher(text);
            assertTrue(command.find(), text);
            clock.advance(Duration.ofMinutes(5));
            HttpReply plan = caller.post("/v1/replays", "{\"q\":\"" + command.group(1) + "\"}")
                    .expect(200);
            assertEquals(1, plan.json().at("/actions/resend/steps").asInt(), plan::toString);
        }
    }

    @Test
    void in_thirty_days_no_safe_resend_ends_without_an_alert_before() {
        Random random = new Random(19);
        ManualClock clock = ManualClock.startingAt(Instant.parse("2026-11-01T00:00:00Z"));
        List<Instant> ends = new ArrayList<>();
        List<Instant> covered = new ArrayList<>();
        try (CountingReceiver receiver = new CountingReceiver();
                SemelServer serve = serve("sqlite:" + folder.resolve("semel.db"), clock.ambient())) {
            ApiCaller caller = new ApiCaller(serve.port(), "dev", _ -> {});
            publish(caller, "3h");
            alert(caller, receiver);
            int reported = 0;
            for (int i = 0; i < 30 * 24 * 3; i++) {
                if (random.nextInt(20) == 0) {
                    String until = ended(caller, start(caller, i), "failed")
                            .path("safe_to_resend_until")
                            .asString();
                    ends.add(Instant.parse(until));
                }
                serve.alertMonitor().checkAll();
                List<String> messages = messages(receiver);
                for (; reported < messages.size(); reported++) {
                    String text = messages.get(reported);
                    if (text.contains("Resolved")) {
                        assertTrue(text.contains("lost safe re-send"), text);
                    } else {
                        covered.addAll(endingWithinAnHour(clock.now(), ends, text));
                    }
                }
                clock.advance(Duration.ofMinutes(20));
            }
            List<Instant> past =
                    ends.stream().filter(end -> !end.isAfter(clock.now())).toList();
            assertTrue(past.size() > 60, "runs: " + past.size());
            assertEquals(
                    List.of(),
                    past.stream().filter(end -> !covered.contains(end)).toList(),
                    "ends without a message before");
            JsonNode reviews = caller.get("/v1/reviews?limit=200").json().path("items");
            assertTrue(reviews.size() >= 60, "each run whose time has passed waits for a decision");
        }
    }

    /** The ends that this message is about; it names their number and the soonest one. */
    private static List<Instant> endingWithinAnHour(Instant now, List<Instant> ends, String text) {
        List<Instant> soon = ends.stream()
                .filter(end -> end.isAfter(now) && !end.isAfter(now.plus(Duration.ofHours(1))))
                .toList();
        Matcher line = Pattern.compile("([0-9]+) runs? of charge loses? safe re-send at (\\S+Z)")
                .matcher(text);
        assertTrue(line.find(), text);
        assertTrue(Integer.parseInt(line.group(1)) >= soon.size(), text);
        return soon;
    }
}
