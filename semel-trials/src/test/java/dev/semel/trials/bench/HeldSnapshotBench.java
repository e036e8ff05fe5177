package dev.semel.trials.bench;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.file.Files;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongFunction;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The server beside a snapshot that somebody holds for a long time, as a backup or a forgotten session does. PostgreSQL
 * then removes no old row version, so rows that change often get ever more of them. `semel-trials/bench-snapshot
 * [seconds per window] [rounds]`; a round is one window of each load.
 */
final class HeldSnapshotBench {
    private static final int CONNECTIONS = 64;
    private static final String BODY = "{\"data\":{\"payment_id\":\"pay_abc\",\"amount\":4900,\"currency\":\"usd\"}}";
    private static final long LONGEST_WINDOW_NANOS = 600_000_000_000L;

    /** Loads whose runs change other tables each. */
    enum LoadKind {
        DISTINCT("", "{id: note, set: {ok: true}}", ""),
        ONE_KEY("", "{id: note, set: {ok: true}}", ""),
        SLEEPING("", "{id: nap, sleep: 1500ms}", ""), // longer than a waiting run stays in memory
        LIMITED(
                "max_concurrent: 16\nrate_limit: {key: \"${ input.currency }\", count: 100000, per: 1s}\n",
                "{id: note, set: {ok: true}}",
                "?wait=30s"),
        DEBOUNCED(
                "debounce: {key: \"${ input.currency }\", quiet: 1s, at_most: 3s}\n",
                "{id: note, set: {ok: true}}",
                "");

        private final String yaml;
        private final String path;

        LoadKind(String limits, String step, String query) {
            this.yaml = "semel: 1\nworkflow: " + workflow() + "\n" + limits + "steps:\n  - " + step + "\n";
            this.path = "/v1/workflows/" + workflow() + "/trigger" + query;
        }

        String workflow() {
            return name().toLowerCase(Locale.ROOT);
        }

        LongFunction<String> keys() {
            SplittableRandom random = new SplittableRandom();
            return this == ONE_KEY ? _ -> "the-one-key" : _ -> Long.toHexString(random.nextLong() | 1L << 63);
        }
    }

    /**
     * One load for some seconds, until its last run ended.
     *
     * @param blocks the pages that the database read in each table and its indexes, for each request
     */
    record Window(double perSecond, Map<String, Double> blocks) {
        double allBlocks() {
            return blocks.values().stream().mapToDouble(Double::doubleValue).sum();
        }
    }

    /** How one load changed from the first to the last window while the snapshot was held. */
    record Change(LoadKind kind, Window before, List<Window> held, Window after) {
        double rateRatio() {
            return held.getLast().perSecond() / held.getFirst().perSecond();
        }

        double blockRatio() {
            return held.getLast().allBlocks() / held.getFirst().allBlocks();
        }

        /** The values are: without the snapshot | with it | after it. */
        String line() {
            return String.format(
                    Locale.ROOT,
                    "%-9s last window: rate %.2f of the first window and %.2f of the window after the snapshot, pages"
                            + " per request %.2f of the first (%s); requests per second %s; pages per request %s",
                    kind.workflow(),
                    rateRatio(),
                    held.getLast().perSecond() / after.perSecond(),
                    blockRatio(),
                    grown(),
                    series(Window::perSecond),
                    series(Window::allBlocks));
        }

        private String series(ToDoubleFunction<Window> value) {
            return Stream.of(List.of(before), held, List.of(after))
                    .map(part -> part.stream()
                            .map(window -> String.format(Locale.ROOT, "%.0f", value.applyAsDouble(window)))
                            .collect(Collectors.joining(" ")))
                    .collect(Collectors.joining(" | "));
        }

        /** The table whose pages per request grew most. */
        private String grown() {
            Map<String, Double> first = held.getFirst().blocks();
            return held.getLast().blocks().entrySet().stream()
                    .max(Comparator.comparingDouble(
                            entry -> entry.getValue() - first.getOrDefault(entry.getKey(), 0.0)))
                    .map(entry -> String.format(
                            Locale.ROOT,
                            "%s from %.2f to %.2f",
                            entry.getKey(),
                            first.getOrDefault(entry.getKey(), 0.0),
                            entry.getValue()))
                    .orElse("no table");
        }
    }

    private final BenchServerProcess server;
    private final Statement sql;
    private final double seconds;

    private HeldSnapshotBench(BenchServerProcess server, Statement sql, double seconds) {
        this.server = server;
        this.sql = sql;
        this.seconds = seconds;
    }

    public static void main(String[] arguments) throws Exception {
        double seconds = arguments.length > 0 ? Double.parseDouble(arguments[0]) : 8;
        int rounds = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 12;
        try (EmbeddedPostgres postgres = EmbeddedPostgres.builder()
                .setServerConfig("fsync", "on")
                .setServerConfig("full_page_writes", "on")
                .setServerConfig("synchronous_commit", "on")
                .setServerConfig("max_connections", "120")
                .setServerConfig("shared_buffers", "256MB")
                .setServerConfig("max_wal_size", "4GB")
                .start()) {
            measure(postgres.getJdbcUrl("postgres", "postgres"), seconds, rounds)
                    .forEach(change -> System.out.println(change.line()));
        }
    }

    /** @param rounds windows of each load, each so many seconds long, while the snapshot is held */
    static List<Change> measure(String url, double seconds, int rounds) throws IOException, SQLException {
        try (BenchServerProcess server = new BenchServerProcess(Files.createTempDirectory("semel-bench"), url);
                Connection connection = DriverManager.getConnection(url);
                Statement sql = connection.createStatement()) {
            for (LoadKind kind : LoadKind.values()) {
                server.publish(kind.workflow(), kind.yaml);
            }
            return new HeldSnapshotBench(server, sql, seconds).measure(url, rounds);
        }
    }

    private List<Change> measure(String url, int rounds) throws IOException, SQLException {
        round(); // the compilers of the JVM are busy at first
        Map<LoadKind, Window> before = round();
        List<Map<LoadKind, Window>> held = new ArrayList<>();
        try (Connection snapshot = DriverManager.getConnection(url);
                Statement reading = snapshot.createStatement()) {
            snapshot.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            snapshot.setAutoCommit(false);
            long runs = number(reading, "SELECT count(*) FROM semel_run");
            for (int i = 0; i < rounds; i++) {
                held.add(round());
            }
            if (number(reading, "SELECT count(*) FROM semel_run") != runs) {
                throw new IllegalStateException("the snapshot was not held");
            }
            snapshot.rollback();
        }
        sql.execute("VACUUM");
        Map<LoadKind, Window> after = round();
        List<Change> changes = new ArrayList<>();
        before.forEach((kind, window) -> changes.add(new Change(
                kind,
                window,
                held.stream()
                        .map(round -> Objects.requireNonNull(round.get(kind)))
                        .toList(),
                Objects.requireNonNull(after.get(kind)))));
        return changes;
    }

    private Map<LoadKind, Window> round() throws IOException, SQLException {
        Map<LoadKind, Window> windows = new EnumMap<>(LoadKind.class);
        for (LoadKind kind : LoadKind.values()) {
            windows.put(kind, window(kind));
        }
        return windows;
    }

    private Window window(LoadKind kind) throws IOException, SQLException {
        Map<String, Double> first = blocks();
        long began = System.nanoTime();
        LoadGenerator.Result result =
                new LoadGenerator(server.port(), CONNECTIONS, kind.path, BODY).run(seconds, kind.keys());
        while (server.metric("semel_runs_unfinished") > 0) {
            if (System.nanoTime() - began > LONGEST_WINDOW_NANOS) {
                throw new IllegalStateException("runs of " + kind + " are unfinished long after the load");
            }
            LockSupport.parkNanos(100_000_000);
        }
        double took = (System.nanoTime() - began) / 1e9;
        Map<String, Double> read = blocks();
        read.replaceAll((table, blocks) -> (blocks - first.getOrDefault(table, 0.0)) / result.requests());
        return new Window(result.requests() / took, read);
    }

    /** Sessions report their statistics about once a second, so a window has a little of its neighbours. */
    private Map<String, Double> blocks() throws SQLException {
        Map<String, Double> blocks = new TreeMap<>();
        try (ResultSet rows = sql.executeQuery("""
            SELECT relname, coalesce(heap_blks_hit, 0) + coalesce(heap_blks_read, 0) + coalesce(idx_blks_hit, 0)
                + coalesce(idx_blks_read, 0) FROM pg_statio_user_tables
            """)) {
            while (rows.next()) {
                blocks.put(rows.getString(1), rows.getDouble(2));
            }
        }
        return blocks;
    }

    private static long number(Statement statement, String question) throws SQLException {
        try (ResultSet row = statement.executeQuery(question)) {
            row.next();
            return row.getLong(1);
        }
    }
}
