package dev.semel.trials.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.HttpReply;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Two servers on one PostgreSQL, one is killed under traffic: the signals are what the clients and the rows say. */
@Tag("trial")
class MetricsKillTest {
    private static final int CLIENTS = 12;
    private static final int LEAST_ANSWERED = 400;

    @TempDir
    Path folder;

    private final Set<String> sent = ConcurrentHashMap.newKeySet();
    private final Set<String> answered = ConcurrentHashMap.newKeySet();
    private final AtomicInteger replays = new AtomicInteger();
    private final AtomicInteger conflicts = new AtomicInteger();
    private final AtomicInteger uncertain = new AtomicInteger();
    private volatile boolean over;

    @Test
    void no_count_is_lost_or_duplicated_by_a_kill() throws Exception {
        Seed seed = Seed.forTrial("signals under a kill");
        String url = RealPostgres.url(RealPostgres.newDatabase());
        try (ProcessServer first = launch("a", url);
                ProcessServer second = launch("b", url)) {
            first.awaitReady();
            second.awaitReady();
            ApiCaller left = new ApiCaller(second.port(), "dev", _ -> {});
            left.publish("""
                semel: 1
                workflow: counted
                idempotency: {fingerprint: [a]}
                steps: [{id: note, set: {ok: true}}]
                """).expect(200);
            try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
                for (int i = 0; i < CLIENTS; i++) {
                    int port = i % 2 == 0 ? first.port() : second.port();
                    RandomGenerator random = seed.part(i);
                    var unused = clients.submit(() -> load(new ApiCaller(port, "dev", _ -> {}), random));
                }
                Await.holds("enough is answered", () -> answered.size() >= LEAST_ANSWERED);
                first.kill();
                int before = answered.size();
                Await.holds("the other goes on", () -> answered.size() >= before + LEAST_ANSWERED / 4);
                over = true;
            }
            assertTrue(uncertain.get() > 0, "the kill met no request in flight");
            sent.forEach(key -> ask(left, key, 1));
            flushed(left, "marker-1");
            flushed(left, "marker-2"); // in another flush than the first, which had all that was gathered before
            Await.holds(
                    "all runs have ended",
                    () -> RealPostgres.number(url, "SELECT count(*) FROM semel_unfinished_run") == 0);
            judge(left, url);
        }
    }

    private ProcessServer launch(String name, String url) throws Exception {
        return ProcessServer.launch(new ProcessServer.Start(Files.createDirectory(folder.resolve(name)), url));
    }

    private void load(ApiCaller caller, RandomGenerator random) {
        while (!over) {
            String key = "k" + random.nextInt(100_000);
            sent.add(key);
            try {
                for (int times = 1 + random.nextInt(3); times > 0; times--) {
                    ask(caller, key, random.nextInt(8) == 0 ? 2 : 1);
                }
            } catch (UncheckedIOException e) {
                uncertain.incrementAndGet();
                return;
            }
        }
    }

    private void ask(ApiCaller caller, String key, int a) {
        // Of one key all first requests have the same data; a conflict is asked for only behind one of them.
        boolean known = answered.contains(key);
        String data = "{\"data\":{\"a\":" + (known ? a : 1) + "}}";
        HttpReply reply = caller.trigger("counted", key, data);
        if (reply.status() == 422) {
            conflicts.incrementAndGet();
        } else if (reply.expect(200).flag("idempotent_replayed")) {
            replays.incrementAndGet();
            answered.add(key);
        } else {
            answered.add(key);
        }
    }

    /** A replay is on record, and so are all that the same server answered before. */
    private void flushed(ApiCaller caller, String key) {
        sent.add(key);
        ask(caller, key, 1);
        ask(caller, key, 1);
        Await.holds(
                "replays are on record",
                () -> caller.get("/v1/keys/" + key)
                                .expect(200)
                                .json()
                                .get("replays")
                                .asLong()
                        == 1);
    }

    private void judge(ApiCaller caller, String url) {
        JsonNode signals = caller.get("/v1/monitoring?since=2h").expect(200).json();
        long started = sent.size();
        long replayed = signals.at("/duplicates_prevented/replayed_requests").asLong();
        assertEquals(
                log(url, "SELECT COALESCE(sum(request_count), 0) FROM semel_duplicate_request WHERE conflict = 0"),
                replayed);
        long conflicting = signals.at("/conflict_rate/conflicts").asLong();
        assertEquals(started, log(url, "SELECT count(*) FROM semel_run"), "a run for each key");
        assertEquals(
                Map.of("keyed", started + replayed + conflicting, "without", 0L),
                Map.of(
                        "keyed", signals.at("/conflict_rate/keyed_triggers").asLong(),
                        "without",
                                signals.at("/additional/requests_without_key").asLong()));
        assertEquals(
                log(url, "SELECT COALESCE(sum(request_count), 0) FROM semel_duplicate_request WHERE conflict = 1"),
                conflicting);
        assertTrue(
                conflicting >= conflicts.get() && conflicting <= conflicts.get() + uncertain.get(),
                conflicting + " conflicts, and the clients saw " + conflicts);
        assertTrue(replayed <= replays.get() + uncertain.get(), "more replays than were answered");
        assertEquals(
                log(url, "SELECT count(*) FROM semel_metric_detail WHERE metric = 7"),
                signals.at("/retry_recoveries/count").asLong());
    }

    private static long log(String url, String question) {
        return RealPostgres.number(url, question);
    }
}
