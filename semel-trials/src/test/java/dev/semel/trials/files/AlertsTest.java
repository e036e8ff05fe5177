package dev.semel.trials.files;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.engine.ClockAndRandomSource;
import dev.semel.error.SemelException;
import dev.semel.server.SemelServer;
import dev.semel.server.cli.server.ServerOptions;
import dev.semel.server.settings.WorkspaceSettingRepository;
import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.ConcurrentCalls;
import dev.semel.trials.support.LiveServer;
import dev.semel.trials.support.ProblemResponseChecks;
import dev.semel.trials.support.StoreKind;
import dev.semel.trials.support.TestServerOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Somebody is notified once when a signal goes beyond its bound, and once when that is over. */
class AlertsTest {
    private static final String ALERT = """
        {"metric":"requests_without_key","above":ABOVE,"over":"1h","channel":"ops","to":"on-call"}\
        """;

    private final CountingReceiver receiver = new CountingReceiver();
    private final AtomicBoolean dies = new AtomicBoolean();

    @TempDir
    Path folder;

    @AfterEach
    void close() {
        receiver.close();
    }

    private SemelServer serve(String store) {
        ClockAndRandomSource ambient = ClockAndRandomSource.real()
                .withInstrumentation(new ClockAndRandomSource.TestInstrumentation() {
                    @Override
                    public void point(String label) {
                        if (label.equals("alert-sent") && dies.get()) {
                            throw new ClockAndRandomSource.SimulatedCrash();
                        }
                    }
                });
        return SemelServer.start(new ServerOptions(true, true, "127.0.0.1", 0, folder, store, null), ambient);
    }

    private static ApiCaller caller(SemelServer serve) {
        return new ApiCaller(serve.port(), "dev", _ -> {});
    }

    private void prepare(ApiCaller caller, String above) {
        caller.put("/v1/channels/ops", "{\"kind\":\"webhook\",\"url\":\"" + receiver.url() + "/alerts\"}")
                .expect(200);
        alert(caller, above);
    }

    private static void alert(ApiCaller caller, String above) {
        caller.put("/v1/alerts/unkeyed", ALERT.replace("ABOVE", above)).expect(200);
    }

    private static boolean firing(ApiCaller caller) {
        return caller.get("/v1/alerts/unkeyed/state")
                .expect(200)
                .json()
                .get("firing")
                .booleanValue();
    }

    private List<String> reported() {
        return receiver.accepted("/alerts").stream()
                .map(CountingReceiver.ReceivedRequest::body)
                .toList();
    }

    @Test
    void two_workers_notify_once_when_an_alert_fires_and_once_when_it_resolves() {
        String store = StoreKind.POSTGRES.fresh(folder);
        try (SemelServer one = serve(store);
                SemelServer two = serve(store)) {
            ApiCaller caller = caller(one);
            prepare(caller, "0");
            one.alertMonitor().checkAll();
            assertEquals(List.of(), reported(), "nothing has happened yet");
            caller.unkeyed("payment_receipt", "{\"data\":{}}").expect(200);
            List<SemelServer> both = List.of(one, two);
            ConcurrentCalls.until("it fires", () -> {
                ConcurrentCalls.atOnce(8, i -> {
                    both.get(i % 2).alertMonitor().checkAll();
                    return i;
                });
                return firing(caller) && !reported().isEmpty();
            });
            assertEquals(1, reported().size(), () -> reported().toString());
            assertTrue(
                    reported().getFirst().contains("requests without a key"),
                    reported().getFirst());
            assertTrue(
                    reported().getFirst().contains("require_key"),
                    "it says what to do: " + reported().getFirst());
            alert(caller, "1000");
            ConcurrentCalls.until("it is over", () -> {
                one.alertMonitor().checkAll();
                return !firing(caller) && reported().size() > 1;
            });
            one.alertMonitor().checkAll();
            assertEquals(2, reported().size(), () -> reported().toString());
            assertTrue(reported().getLast().contains("is resolved"), reported().getLast());
        }
    }

    @Test
    void an_alert_whose_receiver_answers_too_much_to_record_counts_as_notified() {
        try (SemelServer serve = serve("sqlite:" + folder.resolve("verbose.db"))) {
            ApiCaller caller = caller(serve);
            caller.put("/v1/channels/ops", "{\"kind\":\"webhook\",\"url\":\"" + receiver.url() + "/verbose\"}")
                    .expect(200);
            alert(caller, "0");
            caller.unkeyed("payment_receipt", "{\"data\":{}}").expect(200);
            ConcurrentCalls.until("it fires", () -> {
                serve.alertMonitor().checkAll();
                return firing(caller) && !receiver.accepted("/verbose").isEmpty();
            });
            ConcurrentCalls.until("its send has ended", () -> {
                JsonNode state =
                        caller.get("/v1/alerts/unkeyed/state").expect(200).json();
                return state.path("notified").booleanValue()
                        || state.path("notify_error").isString();
            });
            JsonNode state = caller.get("/v1/alerts/unkeyed/state").expect(200).json();
            assertTrue(state.path("notified").booleanValue(), state.toString());
            assertEquals(1, receiver.accepted("/verbose").size());
        }
    }

    private SemelServer serving(Path files) {
        String store = "sqlite:" + folder.resolve("file.db");
        ServerOptions base = new ServerOptions(false, false, "127.0.0.1", 0, folder, store, files);
        return SemelServer.start(
                new TestServerOptions(base).secretKey(LiveServer.SECRET_KEY).build());
    }

    private List<String> kept(SemelServer serve) {
        List<String> names = new ArrayList<>();
        JsonNode items = admin(serve).get("/v1/alerts").expect(200).json().get("items");
        for (JsonNode one : items) {
            String by = one.get("changed_by").asString();
            names.add(one.get("name").asString() + " by " + (by.startsWith("tok_") ? "token" : by));
        }
        return names;
    }

    private ApiCaller admin(SemelServer serve) {
        try {
            return new ApiCaller(
                    serve.port(),
                    Files.readString(folder.resolve("admin-token")).strip(),
                    _ -> {});
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void an_alert_file_beside_the_workflows_overrides_on_every_import() throws IOException {
        Path files = Files.createDirectories(folder.resolve("workflows"));
        Path file = files.resolve("alerts.yaml");
        String one = "  unkeyed: {metric: requests_without_key, above: 5, over: 1h, channel: ops, to: on-call}\n";
        String two = "  waits:\n    metric: in_doubt_oldest\n    above: 1h\n    channel: ops\n    to: on-call\n";
        Files.writeString(file, "alerts:\n" + one + two);
        try (SemelServer serve = serving(files)) {
            assertEquals(List.of("unkeyed by alerts.yaml", "waits by alerts.yaml"), kept(serve));
            admin(serve).put("/v1/alerts/unkeyed", ALERT.replace("ABOVE", "9")).expect(200);
            admin(serve).put("/v1/alerts/own", ALERT.replace("ABOVE", "9")).expect(200);
        }
        Files.writeString(file, "alerts:\n" + one);
        try (SemelServer serve = serving(files)) {
            assertEquals(List.of("own by token", "unkeyed by alerts.yaml"), kept(serve), "what is not from it stays");
            JsonNode back = admin(serve).get("/v1/alerts/unkeyed").expect(200).json();
            assertTrue(back.toString().contains("\"above\":5"), back::toString);
        }
        Files.writeString(file, "alerts:\n" + one.replace("above: 5", "above: many"));
        SemelException refused =
                assertThrows(SemelException.class, () -> serving(files).close());
        assertTrue(
                refused.detail().contains("alerts.yaml: The alerts file has an error at line 2, column"),
                refused::detail);
        assertTrue(refused.detail().contains("^^^^"), "it shows the place: " + refused.detail());
        assertTrue(refused.detail().contains("No alert was changed."), refused::detail);
        assertTrue(refused.fix().contains("set-up-alerts.md"), refused::fix);
    }

    @ParameterizedTest
    @EnumSource(StoreKind.class)
    void a_restart_does_not_notify_again_and_a_second_alert_has_its_own_key(StoreKind kind) {
        String store = kind.fresh(folder);
        try (SemelServer serve = serve(store)) {
            prepare(caller(serve), "0");
            caller(serve).unkeyed("payment_receipt", "{\"data\":{}}").expect(200);
            serve.alertMonitor().checkAll();
            assertEquals(1, reported().size());
        }
        try (SemelServer serve = serve(store)) {
            serve.alertMonitor().checkAll();
            assertEquals(1, reported().size(), "the restart reported it again");
            alert(caller(serve), "1000");
            serve.alertMonitor().checkAll();
            alert(caller(serve), "0");
            serve.alertMonitor().checkAll();
            serve.alertMonitor().checkAll();
            assertEquals(3, reported().size(), () -> reported().toString());
            assertEquals(3, keys().size(), "each has a key of its own");
        }
    }

    @Test
    void a_crash_after_the_send_notifies_again_with_the_same_key() {
        String store = StoreKind.SQLITE.fresh(folder);
        try (SemelServer serve = serve(store)) {
            prepare(caller(serve), "0");
            caller(serve).unkeyed("payment_receipt", "{\"data\":{}}").expect(200);
            dies.set(true);
            assertThrows(ClockAndRandomSource.SimulatedCrash.class, serve.alertMonitor()::checkAll);
            dies.set(false);
            serve.alertMonitor().checkAll();
            assertEquals(1, reported().size(), "somebody may still be about to tell it");
            minuteIsOver(serve);
            serve.alertMonitor().checkAll();
            serve.alertMonitor().checkAll();
            assertEquals(2, reported().size(), "it is notified again, and then it is known");
            assertEquals(1, keys().size(), "with the same key");
        }
    }

    private Set<String> keys() {
        return receiver.accepted("/alerts").stream()
                .map(CountingReceiver.ReceivedRequest::key)
                .collect(Collectors.toSet());
    }

    private static void minuteIsOver(SemelServer serve) {
        WorkspaceSettingRepository<JsonNode> alarms = serve.settings().alertStates();
        WorkspaceSettingRepository.StoredSetting<JsonNode> stored = Objects.requireNonNull(alarms.find(1, "unkeyed"));
        ObjectNode state = (ObjectNode) stored.value().deepCopy();
        state.put("notifying_until", 1);
        serve.semel()
                .change(alarms.preparePut(
                        new WorkspaceSettingRepository.SettingDraft(1, "unkeyed", state, stored.version(), "trial")));
    }

    @Test
    void an_undeliverable_notification_is_shown_with_the_reason() {
        try (SemelServer serve = serve(StoreKind.SQLITE.fresh(folder))) {
            alert(caller(serve), "0");
            caller(serve).unkeyed("payment_receipt", "{\"data\":{}}").expect(200);
            serve.alertMonitor().checkAll();
            JsonNode state =
                    caller(serve).get("/v1/alerts/unkeyed/state").expect(200).json();
            assertTrue(state.get("firing").booleanValue());
            assertFalse(state.get("notified").booleanValue());
            assertTrue(state.get("notify_error").asString().contains("channel"), state.toString());
        }
    }

    @Test
    void a_hanging_webhook_does_not_block_another_alert() throws IOException {
        try (ServerSocket silent = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
                SemelServer serve = serve(StoreKind.SQLITE.fresh(folder));
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            prepare(caller(serve), "0");
            String url = "http://127.0.0.1:" + silent.getLocalPort() + "/";
            caller(serve)
                    .put("/v1/channels/deaf", "{\"kind\":\"webhook\",\"url\":\"" + url + "\"}")
                    .expect(200);
            String before = ALERT.replace("ABOVE", "0").replace("\"ops\"", "\"deaf\"");
            caller(serve).put("/v1/alerts/asked-first", before).expect(200);
            caller(serve).unkeyed("payment_receipt", "{\"data\":{}}").expect(200);
            Future<?> look = threads.submit(() -> serve.alertMonitor().checkAll());
            // It is accepted by the machine and never answered: whoever tells it waits.
            try (Socket held = silent.accept()) {
                ConcurrentCalls.until(
                        "the other one is notified", () -> !reported().isEmpty());
                JsonNode state = caller(serve)
                        .get("/v1/alerts/asked-first/state")
                        .expect(200)
                        .json();
                assertFalse(state.get("notified").booleanValue(), state.toString());
                assertTrue(state.path("notify_error").asString("").isEmpty(), "it was waited for: " + state);
                assertTrue(held.isConnected());
            }
            assertEquals(1, reported().size());
            assertFalse(look.isCancelled());
        }
    }

    @Test
    void an_invalid_alert_rule_is_rejected_with_its_path() {
        try (SemelServer serve = serve(StoreKind.SQLITE.fresh(folder))) {
            String wrong = ALERT.replace("ABOVE", "\"many\"").replace("1h", "1 hour");
            JsonNode problem = ProblemResponseChecks.expect(
                            caller(serve).put("/v1/alerts/odd", wrong), 400, "invalid-input")
                    .json();
            assertEquals("/above", problem.at("/errors/0/pointer").asString());
            assertEquals("/over", problem.at("/errors/1/pointer").asString());
            caller(serve)
                    .put(
                            "/v1/alerts/share",
                            ALERT.replace("ABOVE", "\"5%\"").replace("requests_without_key", "conflict_rate"))
                    .expect(200);
        }
    }
}
