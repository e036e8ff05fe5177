package dev.semel.trials.bench;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Events and schedules instead of triggers: `semel-trials/bench-ingress events [seconds]`, on PostgreSQL. */
final class IngressBench {
    private static final String WANTING = """
        semel: 1
        workflow: wanting
        trigger: { events: [{ type: paid }] }
        steps:
          - {id: note, set: {ok: true}}
        """;
    private static final int ROUNDS = 3;
    private static final int BATCH = 100;

    private IngressBench() {}

    public static void main(String[] arguments) throws Exception {
        double seconds = arguments.length > 1 ? Double.parseDouble(arguments[1]) : 10;
        try (EmbeddedPostgres postgres = EmbeddedPostgres.builder()
                .setServerConfig("fsync", "on")
                .setServerConfig("full_page_writes", "on")
                .setServerConfig("synchronous_commit", "on")
                .setServerConfig("max_connections", "120")
                .setServerConfig("shared_buffers", "256MB")
                .setServerConfig("max_wal_size", "4GB")
                .start()) {
            events(postgres.getJdbcUrl("postgres", "postgres"), seconds);
        }
    }

    private static void events(String url, double seconds) throws IOException {
        Path folder = Files.createTempDirectory("semel-bench");
        AtomicLong ids = new AtomicLong();
        try (BenchServerProcess server = new BenchServerProcess(folder, url)) {
            server.publish("wanting", WANTING);
            LoadGenerator single = new LoadGenerator(server.port(), 64, "/v1/events", _ -> event(ids));
            LoadGenerator batch = new LoadGenerator(
                    server.port(),
                    8,
                    "/v1/events",
                    _ -> IntStream.range(0, BATCH)
                            .mapToObj(_ -> event(ids))
                            .collect(Collectors.joining(",", "[", "]")));
            single.run(Math.max(20, seconds), _ -> "unused"); // the compilers of the JVM are busy at first
            rounds("PostgreSQL events, one by one", single, seconds, 1);
            batch.run(Math.max(10, seconds), _ -> "unused");
            rounds("PostgreSQL events, by the hundred", batch, seconds, BATCH);
            LoadGenerator again = new LoadGenerator(server.port(), 64, "/v1/events", _ -> event(new AtomicLong(7)));
            rounds("PostgreSQL one event again", again, seconds, 1);
            System.out.printf(
                    Locale.ROOT,
                    "%-36s %.0f writes in %.0f transactions%n",
                    "",
                    server.metric("semel_store_writes"),
                    server.metric("semel_store_batches"));
        }
    }

    private static String event(AtomicLong ids) {
        return "{\"id\":\"pay_" + ids.incrementAndGet()
                + "\",\"source\":\"/shop\",\"type\":\"paid\",\"data\":{\"amount\":4900,\"currency\":\"usd\"}}";
    }

    private static void rounds(String what, LoadGenerator load, double seconds, int each) throws IOException {
        double[] rates = new double[ROUNDS];
        double[] p99 = new double[ROUNDS];
        for (int i = 0; i < ROUNDS; i++) {
            LoadGenerator.Result result = load.run(seconds, _ -> "unused");
            rates[i] = result.perSecond() * each;
            p99[i] = result.p99Millis();
        }
        Arrays.sort(rates);
        Arrays.sort(p99);
        System.out.printf(Locale.ROOT, "%-36s %8.0f /s   p99 %6.1f ms%n", what, rates[ROUNDS / 2], p99[ROUNDS / 2]);
    }
}
