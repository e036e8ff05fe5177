package dev.semel.trials.bench;

import dev.semel.trials.dashboard.FirstPaint;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.function.Supplier;

/**
 * What lists and pages cost on a store that is large, and what open pages cost a trigger: `semel-trials/bench-large
 * [runs] [keys of a run] [sqlite postgres]`.
 */
final class LargeBench {
    private static final int FLOWS = 10;
    private static final int ASKS = 100;
    private static final int PAINTS = 40;
    private static final int LISTENERS = 200;
    private static final int ROUNDS = 5;
    private static final double SECONDS = 4;

    private final int runs;
    private final BenchServerProcess server;
    private final HttpClient http = HttpClient.newHttpClient();
    private final String cookie;

    private LargeBench(int runs, BenchServerProcess server) throws IOException, InterruptedException {
        this.runs = runs;
        this.server = server;
        HttpResponse<String> entered = http.send(
                HttpRequest.newBuilder(uri("/login/dev"))
                        .header("Content-Type", "application/x-www-form-urlencoded")
                        .header("Sec-Fetch-Site", "same-origin")
                        .POST(HttpRequest.BodyPublishers.ofString("next=/"))
                        .build(),
                HttpResponse.BodyHandlers.ofString());
        this.cookie = entered.headers()
                .firstValue("Set-Cookie")
                .orElseThrow(() -> new IOException("no entrance: " + entered.statusCode() + " " + entered.body()))
                .split(";", 2)[0];
    }

    public static void main(String[] arguments) throws Exception {
        int runs = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 1_000_000;
        int keys = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 5;
        List<String> stores = arguments.length > 2
                ? Arrays.asList(arguments).subList(2, arguments.length)
                : List.of("sqlite", "postgres");
        Path folder = Files.createTempDirectory("semel-bench");
        if (stores.contains("sqlite")) {
            Path file = folder.resolve("semel.db");
            measure(new StoreTarget("SQLite", "sqlite:" + file, "jdbc:sqlite:" + file), runs, keys);
        }
        if (stores.contains("postgres")) {
            try (EmbeddedPostgres postgres = EmbeddedPostgres.builder()
                    .setServerConfig("fsync", "on")
                    .setServerConfig("synchronous_commit", "on")
                    .setServerConfig("max_connections", "120")
                    .setServerConfig("shared_buffers", "256MB")
                    .setServerConfig("max_wal_size", "4GB")
                    .start()) {
                String url = postgres.getJdbcUrl("postgres", "postgres");
                measure(new StoreTarget("PostgreSQL", url, url), runs, keys);
            }
        }
    }

    /** A store: how the server is notified of it, and how JDBC is. */
    private record StoreTarget(String what, String store, String url) {}

    private static void measure(StoreTarget storeTarget, int runs, int keys) throws Exception {
        Path folder = Files.createTempDirectory("semel-bench");
        try (BenchServerProcess first = new BenchServerProcess(folder, storeTarget.store())) {
            for (int i = 0; i < FLOWS; i++) {
                first.publish(
                        "flow" + i, "semel: 1\nworkflow: flow" + i + "\nsteps:\n  - {id: note, set: {ok: true}}\n");
            }
        }
        long began = System.nanoTime();
        LargeStoreWriter.fill(storeTarget.url(), runs, keys, Instant.now().toEpochMilli() * 1_000);
        say(
                "%s: %d runs and %d keys written in %.0f s",
                storeTarget.what(), runs, (long) runs * keys, (System.nanoTime() - began) / 1e9);
        try (BenchServerProcess server = new BenchServerProcess(folder, storeTarget.store())) {
            LargeBench bench = new LargeBench(runs, server);
            bench.lists(storeTarget.what());
            bench.paint(storeTarget.what());
            bench.live(storeTarget.what());
        }
    }

    private void lists(String what) throws IOException, InterruptedException {
        SplittableRandom random = new SplittableRandom(1);
        Supplier<String> key = () -> LargeStoreWriter.key(random.nextInt(runs), 0);
        ask(what, "story of a key", () -> "/v1/keys/" + key.get());
        ask(what, "keys", () -> "/v1/keys");
        ask(what, "keys by prefix", () -> "/v1/keys?prefix=" + key.get().substring(0, 4));
        for (String filter : List.of(
                "",
                "status:failed",
                "status:completed",
                "status:waiting",
                "status:cancelled",
                "workflow:flow0",
                "workflow:flow9",
                "workflow:flow9 status:failed",
                "workflow:flow1 status:failed since:2h",
                "since:1m",
                "workflow:flow9 since:1m",
                "replayed:true",
                "workflow:flow9 replayed:true")) {
            ask(what, "runs " + filter, () -> "/v1/runs?limit=50&q=" + filter.replace(" ", "%20"));
        }
        ask(what, "runs of a key", () -> "/v1/runs?q=key:" + key.get());
        ask(what, "requests", () -> "/v1/requests");
        for (String filter : List.of("", "state:in_doubt", "workflow:flow9", "protection:ask")) {
            ask(what, "effects " + filter, () -> "/v1/effects?q=" + filter);
        }
        ask(what, "reviews", () -> "/v1/reviews");
        ask(what, "five signals", () -> "/v1/monitoring");
        ask(what, "page of runs", () -> "/workflows/flow0/runs");
        ask(what, "page of failed runs", () -> "/runs?q=status:failed");
        ask(what, "page of a key", () -> "/keys/" + key.get());
        ask(what, "page of workflows", () -> "/workflows");
    }

    private void ask(String what, String name, Supplier<String> path) throws IOException, InterruptedException {
        double[] millis = new double[ASKS];
        int status = 0;
        for (int i = 0; i < ASKS + 20; i++) {
            HttpRequest request = asked(path.get());
            long began = System.nanoTime();
            status = http.send(request, HttpResponse.BodyHandlers.discarding()).statusCode();
            if (i >= 20) {
                millis[i - 20] = (System.nanoTime() - began) / 1e6;
            }
            if (i == 25 && millis[5] > 2_000) {
                say("%-12s %-44s %d: %.0f ms, asked once", what, name, status, millis[5]);
                return;
            }
        }
        Arrays.sort(millis);
        say(
                "%-12s %-44s %d: half within %.1f ms, 95 of 100 within %.1f ms",
                what, name, status, millis[ASKS / 2], millis[ASKS * 95 / 100]);
    }

    /** In a real browser, which shares the cores of this machine with the server. */
    private void paint(String what) {
        try (FirstPaint browser = new FirstPaint(server.port())) {
            for (String path : List.of("/workflows/flow0/runs", "/runs?q=status:failed", "/workflows")) {
                double[] millis = new double[PAINTS];
                browser.millis(path);
                Arrays.setAll(millis, i -> browser.millis(path));
                Arrays.sort(millis);
                say(
                        "%-12s first paint of %-29s half within %.0f ms, 95 of 100 within %.0f ms",
                        what, path, millis[PAINTS / 2], millis[PAINTS * 95 / 100]);
            }
        }
    }

    private HttpRequest asked(String path) {
        HttpRequest.Builder request = HttpRequest.newBuilder(uri(path)).GET();
        return path.startsWith("/v1")
                ? request.header("Authorization", "Bearer dev").build()
                : request.header("Cookie", cookie).header("Accept", "text/html").build();
    }

    /** Rounds with and without listeners in turn, in one process: only their ratio is notified. */
    private void live(String what) throws IOException, InterruptedException {
        LoadGenerator load =
                new LoadGenerator(server.port(), 64, "/v1/workflows/flow0/trigger", "{\"data\":{\"amount\":4900}}");
        long[] round = {0};
        load.run(12, n -> "warm-" + n);
        double[] alone = new double[ROUNDS];
        double[] watched = new double[ROUNDS];
        double[] costs = new double[ROUNDS];
        double[] watchedCosts = new double[ROUNDS];
        for (int i = 0; i < ROUNDS; i++) {
            String name = "r" + round[0]++;
            alone[i] = round(load, name + "a-", costs, i);
            List<InputStream> open = new ArrayList<>();
            List<Thread> readers = new ArrayList<>();
            for (int l = 0; l < LISTENERS; l++) {
                InputStream in = http.send(asked("/v1/tail"), HttpResponse.BodyHandlers.ofInputStream())
                        .body();
                open.add(in);
                readers.add(Thread.startVirtualThread(() -> drain(in)));
            }
            watched[i] = round(load, name + "b-", watchedCosts, i);
            for (InputStream in : open) {
                in.close();
            }
            for (Thread reader : readers) {
                reader.join();
            }
        }
        Arrays.sort(alone);
        Arrays.sort(watched);
        Arrays.sort(costs);
        Arrays.sort(watchedCosts);
        say(
                "%-12s time of a core that the server takes for a trigger: %.1f us alone, %.1f us beside %d live"
                        + " pages: %.3f",
                what,
                costs[ROUNDS / 2],
                watchedCosts[ROUNDS / 2],
                LISTENERS,
                watchedCosts[ROUNDS / 2] / costs[ROUNDS / 2]);
        say(
                "%-12s triggers a second: %.0f alone, %.0f beside %d live pages: %.3f",
                what, alone[ROUNDS / 2], watched[ROUNDS / 2], LISTENERS, watched[ROUNDS / 2] / alone[ROUNDS / 2]);
    }

    /** Triggers a second; what one takes of a core goes into {@code costs}, in microseconds. */
    private double round(LoadGenerator load, String name, double[] costs, int at) throws IOException {
        long before = taken();
        LoadGenerator.Result result = load.run(SECONDS, n -> name + n);
        costs[at] = (taken() - before) / 1e3 / result.requests();
        return result.perSecond();
    }

    private long taken() {
        return ProcessHandle.of(server.pid())
                .flatMap(process -> process.info().totalCpuDuration())
                .orElseThrow()
                .toNanos();
    }

    private static void drain(InputStream in) {
        try {
            in.transferTo(java.io.OutputStream.nullOutputStream());
        } catch (IOException e) {
            // Closed by us: the round is over.
        }
    }

    private URI uri(String path) {
        return URI.create("http://127.0.0.1:" + server.port() + path);
    }

    private static void say(String words, Object... values) {
        System.out.printf(Locale.ROOT, words + "%n", values);
    }
}
