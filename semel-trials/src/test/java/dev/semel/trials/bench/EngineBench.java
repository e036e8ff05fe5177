package dev.semel.trials.bench;

import dev.semel.engine.EngineLimits;
import dev.semel.engine.run.WorkflowCatalog;
import dev.semel.runtime.RunHandle;
import dev.semel.runtime.RuntimeOptions;
import dev.semel.runtime.SemelRuntime;
import dev.semel.trials.support.JavaProcess;
import dev.semel.workflow.Start;
import dev.semel.workflow.Workflow;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongFunction;

/**
 * The figures of docs/performance.md for the engine: `semel-trials/bench-engine [seconds] [sqlite|postgres|all]`. Runs
 * of three steps over HTTP, runs asleep, and recovery after kill -9; `-Dparts=` names fewer of them.
 */
final class EngineBench {
    private static final String THREE = """
        semel: 1
        workflow: three
        steps:
          - {id: one, set: {n: "${ input.amount + 1 }"}}
          - {id: two, set: {n: "${ steps.one.n + 1 }"}}
          - {id: three, set: {n: "${ steps.two.n + 1 }"}}
        output: {n: "${ steps.three.n }"}
        """;
    private static final String BODY = "{\"data\":{\"amount\":4900}}";
    private static final int ROUNDS = 3;
    private static final int ASLEEP = 100_000;
    private static final int UNFINISHED = 10_000;

    private EngineBench() {}

    public static void main(String[] arguments) throws Exception {
        if (arguments.length > 2) {
            part(arguments);
            return;
        }
        double seconds = arguments.length > 0 ? Double.parseDouble(arguments[0]) : 10;
        String which = arguments.length > 1 ? arguments[1] : "all";
        if (!which.equals("postgres")) {
            Path folder = Files.createTempDirectory("semel-bench");
            all("SQLite", folder, name -> "sqlite:" + folder.resolve(name + ".db"), seconds);
        }
        if (!which.equals("sqlite")) {
            try (EmbeddedPostgres postgres = EmbeddedPostgres.builder()
                    .setServerConfig("fsync", "on")
                    .setServerConfig("full_page_writes", "on")
                    .setServerConfig("synchronous_commit", "on")
                    .setServerConfig("max_connections", "120")
                    .setServerConfig("shared_buffers", "256MB")
                    .setServerConfig("max_wal_size", "4GB")
                    .start()) {
                Path folder = Files.createTempDirectory("semel-bench");
                String url = postgres.getJdbcUrl("postgres", "postgres");
                all("PostgreSQL", folder, _ -> url, seconds);
            }
        }
    }

    private interface Stores {
        String url(String name);
    }

    private static void all(String store, Path folder, Stores stores, double seconds) throws Exception {
        String parts = System.getProperty("parts", "three asleep recovery");
        if (parts.contains("three")) {
            threeSteps(store, folder, stores.url("three"), seconds);
        }
        if (parts.contains("asleep")) {
            child(store, stores.url("asleep"), "asleep", "-Xmx256m");
        }
        if (parts.contains("recovery")) {
            recovery(store, stores.url("recovery"));
        }
    }

    private static void threeSteps(String store, Path folder, String url, double seconds) throws IOException {
        try (BenchServerProcess server = new BenchServerProcess(folder, url)) {
            server.publish("three", THREE);
            LoadGenerator load = new LoadGenerator(server.port(), 64, "/v1/workflows/three/trigger?wait=30s", BODY);
            load.run(Math.max(5, seconds * 2), random());
            double[] rates = new double[ROUNDS];
            double[] p99 = new double[ROUNDS];
            for (int i = 0; i < ROUNDS; i++) {
                LoadGenerator.Result result = load.run(seconds, random());
                rates[i] = result.perSecond();
                p99[i] = result.p99Millis();
            }
            Arrays.sort(rates);
            Arrays.sort(p99);
            LoadGenerator one = new LoadGenerator(server.port(), 1, "/v1/workflows/three/trigger?wait=30s", BODY);
            one.run(2, random());
            LoadGenerator.Result alone = one.run(seconds, random());
            System.out.printf(
                    Locale.ROOT,
                    "%-12s three steps, waited for: %6.0f runs/s  p99 %5.1f ms; one client: p50 %.2f ms%n",
                    store,
                    rates[1],
                    p99[1],
                    alone.p50Millis());
        }
    }

    private static LongFunction<String> random() {
        SplittableRandom random = new SplittableRandom();
        return _ -> Long.toHexString(random.nextLong() | 1L << 63) + Long.toHexString(random.nextLong() | 1L << 63);
    }

    /** One part in a process of its own: `part url name`. */
    private static void part(String[] arguments) throws Exception {
        String store = arguments[0];
        String url = arguments[1];
        switch (arguments[2]) {
            case "asleep" -> asleep(store, url);
            case "leave" -> leave(url);
            case "recover" -> recover(store, url);
            default -> throw new IllegalArgumentException(arguments[2]);
        }
    }

    private static Process launch(String store, String url, String part, String heap) throws IOException {
        return JavaProcess.of(List.of(heap, "-XX:+UseSerialGC"), EngineBench.class.getName(), List.of(store, url, part))
                .inheritIO()
                .start();
    }

    private static void child(String store, String url, String part, String heap) throws Exception {
        if (launch(store, url, part, heap).waitFor() != 0) {
            System.out.println(store + " " + part + " failed");
        }
    }

    private static SemelRuntime open(String url) {
        WorkflowCatalog.VersionCompiler none = version -> {
            throw new WorkflowCatalog.WorkflowNotRegistered(version.name(), version.workflowId());
        };
        RuntimeOptions settings =
                RuntimeOptions.of(url, none).withLimits(EngineLimits.DEFAULT.withLease(Duration.ofSeconds(3)));
        return SemelRuntime.open(settings);
    }

    private static void asleep(String store, String url) throws InterruptedException {
        AtomicInteger awake = new AtomicInteger();
        CountDownLatch all = new CountDownLatch(ASLEEP);
        Workflow<Long, Integer> flow = Workflow.define("asleep", Long.class, Integer.class)
                .body((ctx, due) -> {
                    ctx.sleepUntil("night", Instant.ofEpochSecond(due));
                    all.countDown();
                    return awake.incrementAndGet();
                });
        try (SemelRuntime semel = open(url)) {
            semel.register(flow);
            long began = System.nanoTime();
            long due = Instant.now().getEpochSecond() + 120;
            start(semel, flow, due, ASLEEP);
            while (semel.count("parkedRuns") < ASLEEP) {
                all.await(50, TimeUnit.MILLISECONDS);
            }
            double took = (System.nanoTime() - began) / 1e9;
            Runtime.getRuntime().gc();
            long heap =
                    Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
            while (Instant.now().getEpochSecond() < due) {
                all.await(20, TimeUnit.MILLISECONDS);
            }
            long dawn = System.nanoTime();
            all.await();
            System.out.printf(
                    Locale.ROOT,
                    "%-12s %d runs asleep after %.1f s: %d MiB of heap in use (limit 256); all awake %.1f s after they"
                            + " were due%n",
                    store,
                    ASLEEP,
                    took,
                    heap >> 20,
                    (System.nanoTime() - dawn) / 1e9);
        }
    }

    /** From so many threads at once that the commits are shared. */
    private static void start(SemelRuntime semel, Workflow<Long, Integer> flow, long value, int runs)
            throws InterruptedException {
        Semaphore free = new Semaphore(256);
        CountDownLatch started = new CountDownLatch(runs);
        for (int i = 0; i < runs; i++) {
            free.acquire();
            String key = flow.name() + i;
            Thread.ofVirtual().start(() -> {
                try {
                    RunHandle<Integer> run = semel.start(flow, value, Start.withKey(key));
                    if (run.replayed()) {
                        throw new IllegalStateException("the key was new");
                    }
                } finally {
                    free.release();
                    started.countDown();
                }
            });
        }
        started.await();
    }

    private static Workflow<Long, Integer> blocking(CountDownLatch entered, CountDownLatch go) {
        return Workflow.define("blocking", Long.class, Integer.class).body((ctx, n) -> {
            ctx.step("first", Integer.class, _ -> 1);
            ctx.awaitDurable();
            return ctx.step("second", Integer.class, _ -> {
                entered.countDown();
                go.await();
                return 2;
            });
        });
    }

    /** Starts runs that do not end, says so and waits to be killed. */
    private static void leave(String url) throws InterruptedException {
        CountDownLatch entered = new CountDownLatch(UNFINISHED);
        SemelRuntime semel = open(url);
        Workflow<Long, Integer> flow = blocking(entered, new CountDownLatch(1));
        semel.register(flow);
        start(semel, flow, 1, UNFINISHED);
        entered.await();
        Runtime.getRuntime().halt(137);
    }

    private static void recover(String store, String url) throws InterruptedException {
        long began = System.nanoTime();
        CountDownLatch entered = new CountDownLatch(UNFINISHED);
        CountDownLatch go = new CountDownLatch(1);
        try (SemelRuntime semel = open(url)) {
            semel.register(blocking(entered, go));
            entered.await();
            double took = (System.nanoTime() - began) / 1e9;
            go.countDown();
            System.out.printf(
                    Locale.ROOT,
                    "%-12s %d unfinished runs continued %.1f s after the start after kill -9 (lease 3 s)%n",
                    store,
                    UNFINISHED,
                    took);
        }
    }

    private static void recovery(String store, String url) throws Exception {
        int code = launch(store, url, "leave", "-Xmx512m").waitFor();
        if (code != 137) {
            System.out.println(store + " leave ended with " + code);
        }
        child(store, url, "recover", "-Xmx512m");
    }
}
