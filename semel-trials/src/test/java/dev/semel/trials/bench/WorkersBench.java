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
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.function.LongFunction;

/**
 * The figures of docs/performance.md for many workers on one PostgreSQL, each a ratio within one run:
 * `semel-trials/bench-workers [seconds] [three takeover fence counts owner retention]`.
 */
final class WorkersBench {
    private static final String SMALLEST = "semel: 1\nworkflow: bench\nsteps:\n  - {id: note, set: {ok: true}}\n";
    private static final String BODY = "{\"data\":{\"payment_id\":\"pay_abc\",\"amount\":4900,\"currency\":\"usd\"}}";
    static final int ROUNDS = 3;
    private static final int CONNECTIONS = 192;
    private static final int UNFINISHED = 5_000;

    private WorkersBench() {}

    public static void main(String[] arguments) throws Exception {
        if (arguments.length == 2 && arguments[0].equals("leave")) {
            leave(arguments[1]);
            return;
        }
        double seconds = arguments.length > 0 ? Double.parseDouble(arguments[0]) : 5;
        List<String> parts = arguments.length > 1
                ? Arrays.asList(arguments).subList(1, arguments.length)
                : List.of("three", "takeover", "fence", "counts", "owner", "retention");
        for (String part : parts) {
            try (EmbeddedPostgres postgres = EmbeddedPostgres.builder()
                    .setServerConfig("fsync", "on")
                    .setServerConfig("full_page_writes", "on")
                    .setServerConfig("synchronous_commit", "on")
                    .setServerConfig("max_connections", "120")
                    .setServerConfig("shared_buffers", "256MB")
                    .setServerConfig("max_wal_size", "4GB")
                    .start()) {
                String url = postgres.getJdbcUrl("postgres", "postgres");
                say("%s, load average of the machine %.1f", part, load());
                switch (part) {
                    case "three" -> three(url, seconds);
                    case "takeover" -> takeover(url);
                    case "fence" -> FenceCostBench.measure(url, FenceCostBench.OptionalStatement.FENCE);
                    case "counts" -> FenceCostBench.measure(url, FenceCostBench.OptionalStatement.COUNTS);
                    case "owner" -> OwnerIndexBench.measure(url, seconds);
                    case "retention" -> RetentionBench.measure(url, seconds);
                    default -> throw new IllegalArgumentException("no such part: " + part);
                }
            }
        }
    }

    static void say(String format, Object... values) {
        System.out.printf(Locale.ROOT, format + "%n", values);
    }

    static double load() {
        return ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
    }

    static BenchServerProcess server(String url) throws IOException {
        BenchServerProcess server = new BenchServerProcess(Files.createTempDirectory("semel-bench"), url);
        server.publish("bench", SMALLEST);
        return server;
    }

    /** Distinct triggers a second, all of these servers together; the connections are shared out among them. */
    static double rate(double seconds, BenchServerProcess... servers) throws Exception {
        return rate(seconds, CONNECTIONS, servers);
    }

    private static double rate(double seconds, int callers, BenchServerProcess... servers) throws Exception {
        try (ExecutorService threads = Executors.newFixedThreadPool(servers.length)) {
            List<Future<LoadGenerator.Result>> loads = new ArrayList<>();
            for (int i = 0; i < servers.length; i++) {
                int connections = callers / servers.length + (i < callers % servers.length ? 1 : 0);
                LoadGenerator load =
                        new LoadGenerator(servers[i].port(), connections, "/v1/workflows/bench/trigger", BODY);
                loads.add(threads.submit(() -> load.run(seconds, random())));
            }
            double sum = 0;
            for (Future<LoadGenerator.Result> one : loads) {
                sum += one.get().perSecond();
            }
            return sum;
        } catch (ExecutionException e) {
            throw e.getCause() instanceof Exception cause ? cause : e;
        }
    }

    static double median(double... values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }

    private static LongFunction<String> random() {
        SplittableRandom random = new SplittableRandom();
        return _ -> Long.toHexString(random.nextLong() | 1L << 63) + Long.toHexString(random.nextLong() | 1L << 63);
    }

    private static void three(String url, double seconds) throws Exception {
        double[] alone = new double[ROUNDS];
        double[] one = new double[ROUNDS];
        double[] all = new double[ROUNDS];
        double[] busy = new double[ROUNDS];
        try (BenchServerProcess first = server(url)) {
            rate(Math.max(5, seconds * 2), first); // the compilers of the JVM are busy at first
            for (int i = 0; i < ROUNDS; i++) {
                alone[i] = rate(seconds, first);
            }
            try (BenchServerProcess second = server(url);
                    BenchServerProcess third = server(url)) {
                // Each has run as long as the first before anything is compared: the second and third had stayed cold.
                rate(seconds * (ROUNDS + 2), second);
                rate(seconds * (ROUNDS + 2), third);
                for (int i = 0; i < ROUNDS; i++) {
                    one[i] = rate(seconds, first);
                    all[i] = rate(seconds, first, second, third);
                    busy[i] = rate(seconds, 3 * CONNECTIONS, first, second, third);
                }
            }
        }
        say(
                "triggers a second: one worker alone %.0f, one of three %.0f; three together with the same callers"
                        + " %.0f: %.2f of one alone, %.2f of one of three; with three times the callers %.0f: %.2f and"
                        + " %.2f",
                median(alone),
                median(one),
                median(all),
                median(all) / median(alone),
                median(all) / median(one),
                median(busy),
                median(busy) / median(alone),
                median(busy) / median(one));
    }

    private static SemelRuntime open(String url) {
        WorkflowCatalog.VersionCompiler none = version -> {
            throw new WorkflowCatalog.WorkflowNotRegistered(version.name(), version.workflowId());
        };
        return SemelRuntime.open(RuntimeOptions.of(url, none));
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

    /** In a process of its own: starts runs that do not end, and dies with them. */
    private static void leave(String url) throws InterruptedException {
        CountDownLatch entered = new CountDownLatch(UNFINISHED);
        SemelRuntime semel = open(url);
        Workflow<Long, Integer> flow = blocking(entered, new CountDownLatch(1));
        semel.register(flow);
        Semaphore free = new Semaphore(256);
        for (int i = 0; i < UNFINISHED; i++) {
            free.acquire();
            String key = "k" + i;
            Thread.ofVirtual().start(() -> {
                try {
                    RunHandle<Integer> unused = semel.start(flow, 1L, Start.withKey(key));
                } finally {
                    free.release();
                }
            });
        }
        entered.await();
        Runtime.getRuntime().halt(137);
    }

    private static void takeover(String url) throws Exception {
        CountDownLatch entered = new CountDownLatch(UNFINISHED);
        CountDownLatch go = new CountDownLatch(1);
        try (SemelRuntime survivor = open(url)) {
            survivor.register(blocking(entered, go));
            Process victim = JavaProcess.of(
                            List.of("-Xmx512m", "-XX:+UseSerialGC"),
                            WorkersBench.class.getName(),
                            List.of("leave", url))
                    .inheritIO()
                    .start();
            if (victim.waitFor() != 137) {
                throw new IllegalStateException("the worker that was to die ended with " + victim.exitValue());
            }
            long began = System.nanoTime();
            entered.await();
            double took = (System.nanoTime() - began) / 1e9;
            double lease = EngineLimits.DEFAULT.lease().toMillis() / 1e3;
            say(
                    "%d runs of a killed worker continued at another one %.1f s later: %.1f x the lease of %.0f s",
                    UNFINISHED, took, took / lease, lease);
            go.countDown();
        }
    }
}
