package dev.semel.trials.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The server as a process of its own, with the heap that docs/performance.md names. */
final class Child implements AutoCloseable {
    private final Process process;
    private final HttpClient http = HttpClient.newHttpClient();
    private final int port;

    Child(Path data, String store, String... flags) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-Xmx512m", "-XX:+UseSerialGC", "--enable-native-access=ALL-UNNAMED"));
        command.addAll(List.of("--sun-misc-unsafe-memory-access=allow"));
        command.addAll(List.of(flags));
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), "dev.semel.server.Main"));
        command.addAll(List.of("dev", "--demo", "--port", "0", "--data", data.toString(), "--store", store));
        process = new ProcessBuilder(command).redirectErrorStream(true).start();
        BufferedReader out = process.inputReader(StandardCharsets.UTF_8);
        int found = 0;
        for (String line = out.readLine(); line != null && !line.equals("ready"); line = out.readLine()) {
            int at = line.indexOf("http://127.0.0.1:");
            if (line.startsWith("postgresql ") || line.startsWith("sqlite ")) {
                System.out.println(line);
            }
            if (at >= 0 && found == 0) {
                found = Integer.parseInt(line.substring(at + 17, line.indexOf('/', at + 17)));
            }
        }
        if (found == 0) {
            throw new IOException("the server did not start");
        }
        port = found;
        Thread.ofPlatform().daemon(true).start(() -> out.lines().forEach(_ -> {}));
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
