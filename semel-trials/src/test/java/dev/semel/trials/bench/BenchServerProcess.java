package dev.semel.trials.bench;

import dev.semel.trials.support.JavaProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** The server as a process of its own, with the heap that docs/performance.md names. */
final class BenchServerProcess implements AutoCloseable {
    private static final String ADDRESS = "http://127.0.0.1:";
    private final Process process;
    private final HttpClient http = HttpClient.newHttpClient();
    private final int port;

    BenchServerProcess(Path data, String store, String... flags) throws IOException {
        List<String> options = new ArrayList<>(List.of("-Xmx512m", "-XX:+UseSerialGC"));
        options.addAll(List.of(flags));
        // The log goes to a file, as in production; reading it here would take from the cores that are measured.
        Path log = data.resolve("server.log");
        process = JavaProcess.of(
                        options,
                        "dev.semel.server.Main",
                        List.of("dev", "--demo", "--port", "0", "--data", data.toString(), "--store", store))
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        List<String> lines = awaitReady(log);
        lines.stream()
                .filter(line -> line.startsWith("postgresql ") || line.startsWith("sqlite "))
                .forEach(System.out::println);
        port = lines.stream()
                .filter(line -> line.contains(ADDRESS))
                .map(line -> line.substring(line.indexOf(ADDRESS) + ADDRESS.length()))
                .mapToInt(rest -> Integer.parseInt(rest.replaceFirst("[^0-9].*", "")))
                .findFirst()
                .orElseThrow();
    }

    private List<String> awaitReady(Path log) throws IOException {
        while (process.isAlive()) {
            List<String> lines = Files.readAllLines(log);
            if (lines.contains("ready")) {
                return lines;
            }
            LockSupport.parkNanos(50_000_000);
        }
        throw new IOException("the server did not start: " + Files.readString(log));
    }

    int port() {
        return port;
    }

    String get(String path) {
        return call(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                .GET());
    }

    void publish(String name, String yaml) {
        call(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/v1/workflows/" + name))
                .header("Content-Type", "application/yaml")
                .PUT(HttpRequest.BodyPublishers.ofString(yaml)));
    }

    private String call(HttpRequest.Builder request) {
        try {
            HttpResponse<String> answer = http.send(
                    request.header("Authorization", "Bearer dev").build(), HttpResponse.BodyHandlers.ofString());
            if (answer.statusCode() != 200) {
                throw new IOException("the server answered " + answer.statusCode() + " " + answer.body());
            }
            return answer.body();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** A number from /metrics. */
    double metric(String name) {
        return get("/metrics")
                .lines()
                .filter(line -> line.startsWith(name + " ") || line.startsWith(name + "_total "))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.indexOf(' ') + 1)))
                .findFirst()
                .orElse(Double.NaN);
    }

    long pid() {
        return process.pid();
    }

    @Override
    public void close() {
        process.destroy();
        try {
            process.waitFor(30, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        process.destroyForcibly();
    }
}
