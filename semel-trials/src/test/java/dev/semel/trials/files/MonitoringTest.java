package dev.semel.trials.files;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.ConcurrentCalls;
import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.Invariants;
import dev.semel.trials.support.LiveServer;
import dev.semel.trials.support.StoreKind;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;

/** The signals against what a client and a receiver counted for themselves. */
class MonitoringTest {
    private static final String ORDER = """
        semel: 1
        workflow: order
        owner: trials
        idempotency:
          fingerprint: [order, amount]
          worth: "${ string(input.amount) } EUR"
        steps:
          - id: create
            http: {method: POST, url: "RECEIVER/orders/${ input.order }", body: {order: "${ input.order }"}}
            object: "${ 'order ' + input.order }"
            protect: provider_key
            provider_window: 24h
            retry: {attempts: 5, first: 1s, factor: 1}
          - id: ship
            http: {method: POST, url: "RECEIVER/ship/${ input.order }", body: {order: "${ input.order }"}}
            does: notify
            worth: 2.50 EUR
            idempotent: {key: "${ key('ship', input.order) }", time: 12, unit: hours, on_change: suppress}
            protect: provider_key
            provider_window: 24h
        """;

    private static final String BRIEF = """
        semel: 1
        workflow: brief
        owner: trials
        idempotency: {window: 1s}
        steps: [{id: note, set: {ok: true}}]
        """;

    private final CountingReceiver receiver = new CountingReceiver();
    private final Map<String, Long> counted = new TreeMap<>();

    @TempDir
    Path folder;

    private void count(String what, long n) {
        counted.merge(what, n, Long::sum);
    }

    private long counted(String what) {
        return counted.getOrDefault(what, 0L);
    }

    /** Writes down what the answer says, as any client can. */
    private synchronized HttpReply note(HttpReply reply, boolean keyed) {
        if (reply.status() == 422) {
            count("conflicts", 1);
        } else {
            reply.expect(200);
            boolean replayed = reply.flag("idempotent_replayed");
            count(replayed ? "replayed" : keyed ? "started" : "unkeyed", 1);
            if (!replayed && keyed && reply.has("previous_run_id")) {
                count("expired", 1);
            }
        }
        return reply;
    }

    @ParameterizedTest
    @EnumSource(StoreKind.class)
    void the_metrics_match_the_counts_of_a_client_also_after_a_restart(StoreKind kind) {
        long seed = Long.getLong("seed", new Random().nextLong() >>> 16);
        System.out.println("five signals: replay with -Dseed=" + seed);
        Random random = new Random(seed);
        String store = kind.fresh(folder);
        try (LiveServer server = LiveServer.dev(store, folder)) {
            server.admin().publish(ORDER.replace("RECEIVER", receiver.url())).expect(200);
            server.admin().publish(BRIEF).expect(200);
            traffic(server.admin(), random);
            expire(server.admin());
        }
        try (LiveServer server = LiveServer.dev(store, folder)) {
            traffic(server.admin(), random);
            assertSignals(server.admin());
            assertLists(server.admin());
            assertBacktest(server.admin());
            assertMetrics(server.admin());
        } finally {
            receiver.close();
        }
        Invariants.check(store);
    }

    private void traffic(ApiCaller caller, Random random) {
        for (int i = 0; i < 40; i++) {
            String order = random.nextInt(4) == 0 ? "flaky" + random.nextInt(3) : "plain" + random.nextInt(12);
            int amount = 10 + order.length();
            String body = "{\"data\":{\"order\":\"%s\",\"amount\":%d}}".formatted(order, amount);
            String key = "K" + order + "-" + random.nextInt(2);
            switch (random.nextInt(5)) {
                case 0 -> note(caller.post("/v1/workflows/order/trigger?wait=30s", body), false);
                case 1 -> {
                    HttpReply reply = note(caller.trigger("order", key, body.replace(":1", ":9")), true);
                    assertTrue(Set.of(200, 422).contains(reply.status()), reply.body());
                }
                case 2 -> ConcurrentCalls.atOnce(4, _ -> note(caller.trigger("order", key, body), true));
                default ->
                    note(caller.post("/v1/workflows/order/trigger?wait=30s", body, "Idempotency-Key: " + key), true);
            }
        }
    }

    /** Repeats one key until its window is over; every answer on the way is written down. */
    private void expire(ApiCaller caller) {
        ConcurrentCalls.until("the window of the key is over", () -> {
            note(caller.trigger("brief", "late", "{\"data\":{}}"), true);
            return counted("expired") > 0;
        });
        for (int i = 0; i < 4; i++) {
            note(caller.trigger("brief", "a-new-key-" + i, "{\"data\":{\"same\":1}}"), true);
        }
    }

    private static JsonNode signals(ApiCaller caller, String query) {
        return caller.get("/v1/monitoring" + query).expect(200).json();
    }

    private void assertSignals(ApiCaller caller) {
        ConcurrentCalls.until(
                "replays are recorded",
                () -> signals(caller, "")
                                .at("/duplicates_prevented/replayed_requests")
                                .asLong()
                        >= counted("replayed"));
        ConcurrentCalls.until(
                "all runs have ended",
                () -> Stream.of("running", "waiting", "started")
                        .allMatch(status -> caller.get("/v1/runs?q=status:" + status)
                                .json()
                                .at("/items")
                                .isEmpty()));
        JsonNode all = signals(caller, "?since=2h");
        long orders = receiver.accepted("/orders").size();
        Set<String> objects = new HashSet<>();
        receiver.accepted("/orders").forEach(one -> objects.add(one.path()));
        assertEquals(counted("conflicts"), all.at("/conflict_rate/conflicts").asLong(), "conflicts");
        assertEquals(
                counted("started") + counted("replayed") + counted("conflicts"),
                all.at("/conflict_rate/keyed_triggers").asLong(),
                "keyed triggers");
        assertEquals(
                counted("replayed"),
                all.at("/duplicates_prevented/replayed_requests").asLong(),
                "replayed");
        long suppressed = orders - receiver.accepted("/ship").size();
        assertTrue(suppressed > 0, "the traffic has nothing to suppress");
        assertEquals(
                suppressed, all.at("/duplicates_prevented/suppressed_effects").asLong(), "suppressed");
        assertEquals(
                receiver.turnedAway("/orders") + receiver.turnedAway("/ship"),
                flakyRuns(caller, all),
                "runs that completed after a failed attempt");
        assertEquals(counted("expired"), all.at("/expired_key_retries/count").asLong(), "expired");
        assertEquals(orders, all.at("/writes_versus_objects/writes").asLong(), "writes");
        assertEquals(objects.size(), all.at("/writes_versus_objects/objects").asLong(), "objects");
        assertEquals(
                counted("unkeyed"), all.at("/additional/requests_without_key").asLong(), "without a key");
        assertEquals(0, all.at("/additional/in_doubt/count").asLong());
        assertTrue(worth(all).contains("\"currency\":\"EUR\""), worth(all));
        assertEquals(
                counted("conflicts"),
                signals(caller, "?workflow=order")
                        .at("/conflict_rate/conflicts")
                        .asLong());
        long points = 0;
        for (JsonNode point : all.get("series")) {
            points += point.get("replayed_requests").asLong();
        }
        assertEquals(counted("replayed"), points, "the points of the series add up");
        assertAdvice(all.get("advice").toString());
    }

    /** A run may be turned away at both of its steps, and is one recovery. */
    private long flakyRuns(ApiCaller caller, JsonNode all) {
        long twice = 0;
        Set<String> runs = new HashSet<>();
        for (JsonNode fact :
                caller.get("/v1/facts?kind=recovered&limit=200").json().get("items")) {
            assertTrue(runs.add(fact.get("run_id").asString()), "a run recovered twice");
            long tried = 0;
            for (JsonNode step : caller.get("/v1/runs/" + fact.get("run_id").asString() + "/timeline")
                    .json()
                    .get("items")) {
                tried += step.get("attempts").size() > 1 ? 1 : 0;
            }
            twice += tried - 1;
        }
        assertEquals(runs.size(), all.at("/retry_recoveries/count").asLong());
        return runs.size() + twice;
    }

    private static String worth(JsonNode all) {
        return all.at("/duplicates_prevented/amount_saved").toString();
    }

    private static void assertAdvice(String advice) {
        assertTrue(advice.contains("The window of 1s had ended"), advice);
        assertTrue(advice.contains("probably creates a new key for each retry"), advice);
    }

    private void assertLists(ApiCaller caller) {
        assertEquals(counted("conflicts"), listed(caller, "/v1/facts?kind=conflict"));
        assertEquals(counted("replayed"), listed(caller, "/v1/facts?kind=replayed"));
        assertEquals(counted("expired"), listed(caller, "/v1/facts?kind=expired"));
        assertEquals(receiver.accepted("/orders").size(), listed(caller, "/v1/facts?kind=written"));
        Map<String, Long> writes = new TreeMap<>();
        receiver.accepted("/orders")
                .forEach(one -> writes.merge("order " + one.path().substring("/orders/".length()), 1L, Long::sum));
        writes.values().removeIf(n -> n < 2);
        Map<String, Long> reported = new TreeMap<>();
        caller.get("/v1/objects?having=writes%3E1&limit=200")
                .expect(200)
                .json()
                .get("items")
                .forEach(one -> reported.put(
                        one.get("object").asString(), one.get("writes").asLong()));
        assertEquals(writes, reported);
    }

    /** Over all pages, each row as often as it stands for. */
    private static long listed(ApiCaller caller, String path) {
        long rows = 0;
        String after = "";
        List<String> cursors = new ArrayList<>();
        do {
            JsonNode page = caller.get(path + "&limit=7" + after).expect(200).json();
            for (JsonNode item : page.get("items")) {
                rows += item.has("times") ? item.get("times").asLong() : 1;
            }
            String next = page.get("next").isNull() ? "" : page.get("next").asString();
            assertTrue(next.isEmpty() || !cursors.contains(next), "the list goes in a circle");
            cursors.add(next);
            after = next.isEmpty() ? "" : "&after=" + next;
        } while (!after.isEmpty());
        return rows;
    }

    private void assertBacktest(ApiCaller caller) {
        HttpReply reply = caller.post("/v1/backtests", "{\"workflow\":\"brief\",\"windows\":[\"1s\",\"24h\"]}")
                .expect(200);
        JsonNode windows = reply.json().get("windows");
        long asked = reply.json().get("examined").asLong();
        assertEquals(6, windows.at("/0/runs").asLong(), reply.body());
        assertEquals(5, windows.at("/1/runs").asLong(), "a day would have caught the late one: " + reply.body());
        assertEquals(
                asked,
                windows.at("/1/runs").asLong() + windows.at("/1/replayed").asLong());
        JsonNode ship = caller.post("/v1/backtests", "{\"workflow\":\"order\",\"step\":\"ship\",\"windows\":[\"12h\"]}")
                .expect(200)
                .json();
        assertEquals(
                receiver.accepted("/ship").size(), ship.at("/windows/0/sent").asLong(), ship.toString());
    }

    private void assertMetrics(ApiCaller caller) {
        String text = caller.get("/metrics").expect(200).body();
        String conflicts = "semel_requests_total{workspace=\"default\",workflow=\"order\",outcome=\"conflict\"} ";
        assertTrue(counted("conflicts") == 0 || text.contains(conflicts + counted("conflicts") + "\n"), text);
        String writes = "semel_writes_total{workspace=\"default\",workflow=\"order\",step=\"create\"} ";
        assertTrue(text.contains(writes + receiver.accepted("/orders").size() + "\n"), text);
    }
}
