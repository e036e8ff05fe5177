package dev.semel.server.services;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.engine.EngineLimits;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.Sha256;
import dev.semel.json.StrictJsonCodec;
import dev.semel.runtime.RuntimeOptions;
import dev.semel.runtime.SemelRuntime;
import dev.semel.server.files.steps.NotificationDigestCollector;
import dev.semel.server.files.steps.YamlStepDependencies;
import dev.semel.server.operations.PublishedYamlWorkflow;
import dev.semel.store.StoreWriteCommand;
import dev.semel.workflow.Start;
import dev.semel.workflow.Workflow;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** What is gathered from many runs, on both stores; most of the runs are not there, so each next item leads. */
@ParameterizedClass
@ValueSource(strings = {"sqlite", "postgres"})
class WorkspaceDigestCollectorTest {
    private static final InstantSource NOON = InstantSource.fixed(Instant.parse("2026-05-04T12:00:00Z"));

    private static final Workflow<String, String> WAITING = Workflow.define("waiting", String.class, String.class)
            .body((ctx, input) -> {
                ctx.sleep("wait", Duration.ofDays(1));
                return input;
            });
    private static @Nullable EmbeddedPostgres postgres;

    @TempDir
    Path folder = Path.of("");

    private final String kind;
    private int others;
    private int workspace;
    private SemelRuntime semel;
    private NotificationDigestCollector digests;

    WorkspaceDigestCollectorTest(String kind) {
        this.kind = kind;
    }

    @AfterAll
    static void stop() throws IOException {
        EmbeddedPostgres running = postgres;
        if (running != null) {
            running.close();
            postgres = null;
        }
    }

    private String store() throws IOException, SQLException {
        if (kind.equals("sqlite")) {
            return "sqlite:" + folder.resolve("semel.db");
        }
        if (postgres == null) {
            postgres = EmbeddedPostgres.start();
        }
        String database = "digest_" + UUID.randomUUID().toString().replace('-', '_');
        try (var connection = postgres.getPostgresDatabase().getConnection();
                var statement = connection.createStatement()) {
            statement.execute("CREATE DATABASE " + database);
        }
        return postgres.getJdbcUrl("postgres", database);
    }

    @BeforeEach
    void open() throws IOException, SQLException {
        semel = SemelRuntime.open(RuntimeOptions.of(
                store(), version -> PublishedYamlWorkflow.compile(version, _ -> YamlStepDependencies.UNAVAILABLE)));
        workspace = semel.change(new StoreWriteCommand.CreateWorkspace("default", new byte[32]))
                .ws();
        digests = new WorkspaceDigestCollector(semel, workspace, NOON);
    }

    @AfterEach
    void close() {
        semel.close();
    }

    private static NotificationDigestCollector.DigestItem item(String id) {
        return new NotificationDigestCollector.DigestItem(
                "sales", id, "run-of-" + id, StrictJsonCodec.parse("\"" + id + "\""));
    }

    @Test
    void of_two_runs_that_would_send_a_digest_the_one_that_closes_it_sends() {
        JsonNode first = digests.collect(item("a"));
        JsonNode second = digests.collect(item("b"));
        assertTrue(first.path("leader").booleanValue() && second.path("leader").booleanValue(), second.toString());
        assertEquals("{\"items\":[\"a\",\"b\"],\"count\":2}", StrictJsonCodec.write(digests.close(item("b"), 1)));
        assertEquals(
                "{\"sent_by\":\"run-of-b\"}",
                StrictJsonCodec.write(digests.close(item("a"), 1)),
                "and the other is notified");
        assertEquals(2, digests.close(item("b"), 1).path("count").intValue(), "asked again it answers the same");
    }

    @Test
    void an_item_is_added_once_and_a_late_one_goes_into_the_next_batch() {
        digests.collect(item("a"));
        JsonNode again = digests.collect(item("a"));
        assertEquals("2026-05-04T12:00:00Z", again.path("opened_at").asString());
        assertEquals(1, digests.close(item("a"), 1).path("count").intValue());
        assertEquals(1, digests.collect(item("a")).path("batch").intValue(), "it was sent with the first");
        assertEquals(2, digests.collect(item("c")).path("batch").intValue());
    }

    /** What a worker does that died after a change of the digest and before its run recorded the result. */
    private String unfinishedRun() {
        semel.register(WAITING);
        return semel.start(WAITING, "x", Start.withKey("waiting")).id();
    }

    /** Closes so many batches that nothing of earlier ones is kept for no reason. */
    private void pushOut() {
        for (int i = 0; i < 30; i++) {
            var other = item("other-" + others++);
            long batch = digests.collect(other).path("batch").longValue();
            digests.close(other, batch);
            digests.release(other, batch);
        }
    }

    @Test
    void a_closed_batch_stays_until_its_run_has_recorded_the_items() {
        NotificationDigestCollector.DigestItem own = new NotificationDigestCollector.DigestItem(
                "sales", "a", unfinishedRun(), StrictJsonCodec.parse("\"a\""));
        digests.collect(own);
        digests.collect(item("b"));
        JsonNode closed = digests.close(own, 1);
        pushOut();
        assertEquals(closed, digests.close(own, 1), "the next worker sends the same items");
        digests.release(own, 1);
        pushOut();
        SemelException gone = assertThrows(SemelException.class, () -> digests.close(own, 1));
        assertEquals(ErrorCode.NOT_FOUND, gone.code());
    }

    @Test
    void an_item_is_not_added_again_after_its_batch_was_removed() {
        JsonNode place = digests.collect(item("a"));
        assertEquals(1, digests.close(item("a"), 1).path("count").intValue());
        digests.release(item("a"), 1);
        pushOut();
        assertEquals(place, digests.collect(item("a")), "it was sent with the first batch");
    }

    @Test
    void items_that_arrive_together_are_stored_together() throws Exception {
        int burst = 400;
        Set<String> places = ConcurrentHashMap.newKeySet();
        AtomicInteger leaders = new AtomicInteger();
        String run = unfinishedRun();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Callable<Boolean>> all = new ArrayList<>();
            for (int i = 0; i < burst; i++) {
                var one = new NotificationDigestCollector.DigestItem(
                        "sales", "i" + i, run, JsonNodeFactory.instance.stringNode("v" + i));
                all.add(() -> {
                    JsonNode place = digests.collect(one);
                    leaders.addAndGet(place.path("leader").booleanValue() ? 1 : 0);
                    return places.add(one.id() + " " + place.path("batch"));
                });
            }
            for (Future<Boolean> added : threads.invokeAll(all)) {
                assertTrue(added.get());
            }
        }
        assertEquals(1, leaders.get());
        JsonNode closed = digests.close(item("i0"), 1);
        assertEquals(burst, closed.path("count").intValue());
        Set<String> values = new HashSet<>();
        closed.path("items").forEach(value -> values.add(value.stringValue()));
        assertEquals(burst, values.size());
        long writes = Objects.requireNonNull(
                        semel.view(reads -> reads.setting(workspace, "digest", Sha256.hex("sales"))))
                .version();
        assertTrue(writes < burst / 2, writes + " writes for " + burst + " items");
        assertEquals(1, digests.collect(item("i7")).path("batch").intValue(), "it was added before");
    }

    @Test
    void items_that_arrive_together_again_after_their_batch_was_removed_keep_their_places() throws Exception {
        List<NotificationDigestCollector.DigestItem> items =
                IntStream.range(0, 50).mapToObj(i -> item("i" + i)).toList();
        digests.collect(items.getFirst());
        digests.collect(items.get(25));
        digests.close(items.getFirst(), 1);
        digests.release(items.getFirst(), 1);
        pushOut();
        Map<String, Integer> batches = new HashMap<>();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Callable<Integer>> all = new ArrayList<>();
            items.forEach(
                    one -> all.add(() -> digests.collect(one).path("batch").intValue()));
            List<Future<Integer>> collected = threads.invokeAll(all);
            for (int i = 0; i < collected.size(); i++) {
                batches.put("i" + i, collected.get(i).get());
            }
        }
        assertEquals(1, batches.remove("i0"));
        assertEquals(1, batches.remove("i25"));
        assertEquals(Set.of(32), Set.copyOf(batches.values()));
        assertEquals(48, digests.close(items.get(1), 32).path("count").intValue());
    }

    @Test
    void large_batches_that_wait_for_their_runs_reject_items_and_lose_none() {
        String run = unfinishedRun();
        JsonNode value = JsonNodeFactory.instance.stringNode("x".repeat(200_000));
        for (int i = 0; i < 2; i++) {
            var own = new NotificationDigestCollector.DigestItem("sales", "big-" + i, run, value);
            digests.close(own, digests.collect(own).path("batch").longValue());
        }
        var third = new NotificationDigestCollector.DigestItem("sales", "big-2", run, value);
        SemelException full = assertThrows(SemelException.class, () -> digests.collect(third));
        assertEquals(ErrorCode.OVERLOADED, full.code());
        assertTrue(full.detail().contains(run), full.detail());
        var first = new NotificationDigestCollector.DigestItem("sales", "big-0", run, value);
        assertEquals(1, digests.close(first, 1).path("count").intValue());
        digests.release(first, 1);
        assertEquals(3, digests.collect(third).path("batch").intValue());
    }

    @Test
    void everything_that_a_digest_accepts_fits_into_the_recorded_result_of_its_close() {
        // A quote needs two characters in JSON, so the text of the items is twice as long as the items.
        String value = "\"".repeat(20_000);
        int accepted = 0;
        SemelException full = null;
        while (full == null && accepted < 1_000) {
            try {
                digests.collect(new NotificationDigestCollector.DigestItem(
                        "sales", "i" + accepted, "run", JsonNodeFactory.instance.stringNode(value)));
                accepted++;
            } catch (SemelException rejected) {
                full = rejected;
            }
        }
        assertEquals(ErrorCode.PAYLOAD_TOO_LARGE, full == null ? null : full.code());
        JsonNode closed = digests.close(
                new NotificationDigestCollector.DigestItem(
                        "sales", "i0", "run", JsonNodeFactory.instance.stringNode(value)),
                1);
        assertEquals(accepted, closed.path("count").intValue());
        int recorded = StrictJsonCodec.write(closed).length();
        assertTrue(recorded <= EngineLimits.DEFAULT.stepResultBytes(), accepted + " items, " + recorded);
        assertTrue(recorded > EngineLimits.DEFAULT.stepResultBytes() / 2, accepted + " items, " + recorded);
    }
}
