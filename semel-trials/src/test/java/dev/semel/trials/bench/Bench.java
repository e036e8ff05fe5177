package dev.semel.trials.bench;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.function.LongFunction;

/**
 * The figures of docs/performance.md: triggers a second over HTTP on both stores, server and load on one machine.
 * `semel-trials/bench [seconds] [sqlite|postgres|all] [keys already stored]`.
 */
final class Bench {
    private static final String SMALLEST = "semel: 1\nworkflow: bench\nsteps:\n  - {id: note, set: {ok: true}}\n";
    private static final String BODY = "{\"data\":{\"payment_id\":\"pay_abc\",\"amount\":4900,\"currency\":\"usd\"}}";
    private static final int ROUNDS = 3;

    private Bench() {}

    public static void main(String[] arguments) throws Exception {
        double seconds = arguments.length > 0 ? Double.parseDouble(arguments[0]) : 10;
        String which = arguments.length > 1 ? arguments[1] : "all";
        int grown = arguments.length > 2 ? Integer.parseInt(arguments[2]) : 0;
        if (!which.equals("postgres")) {
            sqlite(seconds, grown);
        }
        if (!which.equals("sqlite")) {
            postgres(seconds, grown);
        }
    }

    private static void sqlite(double seconds, int grown) throws Exception {
        Path folder = Files.createTempDirectory("semel-bench");
        String file = folder.resolve("semel.db").toString();
        measure("SQLite", folder, "sqlite:" + file, seconds);
        if (grown > 0) {
            GrownStoreWriter.sqlite(file, grown);
            measure("SQLite, " + grown + " keys", folder, "sqlite:" + file, seconds);
        }
    }

    private static void postgres(double seconds, int grown) throws Exception {
        Path folder = Files.createTempDirectory("semel-bench");
        try (EmbeddedPostgres postgres = EmbeddedPostgres.builder()
                .setServerConfig("fsync", "on")
                .setServerConfig("full_page_writes", "on")
                .setServerConfig("synchronous_commit", "on")
                .setServerConfig("max_connections", "120")
                .setServerConfig("shared_buffers", "256MB")
                .setServerConfig("max_wal_size", "4GB")
                .start()) {
            String url = postgres.getJdbcUrl("postgres", "postgres");
            Pgbench.measure(postgres.getPort(), seconds);
            measure("PostgreSQL", folder, url, seconds);
            Pgbench.measure(postgres.getPort(), seconds);
            if (grown > 0) {
                GrownStoreWriter.postgres(url, grown);
                measure("PostgreSQL, " + grown + " keys", folder, url, seconds);
            }
        }
    }

    private static void measure(String store, Path folder, String url, double seconds) throws IOException {
        try (BenchServerProcess server = new BenchServerProcess(folder, url)) {
            server.publish("bench", SMALLEST);
            LoadGenerator load = new LoadGenerator(server.port(), 64, "/v1/workflows/bench/trigger", BODY);
            load.run(Math.max(5, seconds * 2), random()); // the compilers of the JVM are busy at first
            rounds(store + " distinct", load, seconds, Bench::random);
            settle(server);
            rounds(store + " one key", load, seconds, () -> _ -> "the-one-key");
            rounds(store + " 1,000 keys", load, seconds, () -> n -> "key-" + n * 7919 % 1000);
            settle(server);
            String key = server.get("/v1/keys/the-one-key");
            System.out.println("                                 the one key: "
                    + key.replaceAll(".*(\"replays\":\\d+).*", "$1") + " on record");
            System.out.printf(
                    Locale.ROOT,
                    "%-32s %.0f writes in %.0f transactions, %.0f MiB of heap in use at most%n",
                    store,
                    server.metric("semel_store_writes"),
                    server.metric("semel_store_batches"),
                    server.metric("semel_heap_peak_bytes") / 1048576);
        }
    }

    private static LongFunction<String> random() {
        SplittableRandom random = new SplittableRandom();
        return _ -> Long.toHexString(random.nextLong() | 1L << 63) + Long.toHexString(random.nextLong() | 1L << 63);
    }

    private interface Keys {
        LongFunction<String> fresh();
    }

    private static void rounds(String what, LoadGenerator load, double seconds, Keys keys) throws IOException {
        double[] rates = new double[ROUNDS];
        double[] p99 = new double[ROUNDS];
        long replayed = 0;
        long requests = 0;
        for (int i = 0; i < ROUNDS; i++) {
            LoadGenerator.Result result = load.run(seconds, keys.fresh());
            rates[i] = result.perSecond();
            p99[i] = result.p99Millis();
            replayed += result.replayed();
            requests += result.requests();
        }
        Arrays.sort(rates);
        Arrays.sort(p99);
        System.out.printf(
                Locale.ROOT,
                "%-32s %8.0f /s   p99 %6.1f ms   (of %d requests %d replayed)%n",
                what,
                rates[ROUNDS / 2],
                p99[ROUNDS / 2],
                requests,
                replayed);
    }

    /** The figures count only if every run is completed and every replay is on record five seconds later. */
    private static void settle(BenchServerProcess server) {
        long deadline = System.nanoTime() + 5_000_000_000L;
        double left = server.metric("semel_runs_unfinished");
        while (left > 0 && System.nanoTime() < deadline) {
            left = server.metric("semel_runs_unfinished");
        }
        System.out.printf(
                Locale.ROOT,
                "%-32s %.0f runs unfinished after the load, %.1f s after it%n",
                "",
                left,
                5 - (deadline - System.nanoTime()) / 1e9);
    }
}
