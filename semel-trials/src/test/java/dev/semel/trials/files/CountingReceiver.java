package dev.semel.trials.files;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;

/**
 * Writes down what it is sent. It is busy when it first hears of an order that is called flaky, and its
 * answers below /verbose are long.
 */
final class CountingReceiver implements AutoCloseable {
    private final HttpServer server;
    private final Queue<ReceivedRequest> accepted = new ConcurrentLinkedQueue<>();
    private final Set<String> turnedAway = ConcurrentHashMap.newKeySet();

    record ReceivedRequest(String path, String key, String body) {}

    CountingReceiver() {
        try {
            server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        server.createContext("/", this::hear);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.start();
    }

    private void hear(HttpExchange exchange) throws IOException {
        String path = exchange.getRequestURI().getPath();
        String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
        boolean busy = path.contains("/orders/flaky") && turnedAway.add(path);
        if (!busy) {
            String key = String.valueOf(exchange.getRequestHeaders().getFirst("Idempotency-Key"));
            accepted.add(new ReceivedRequest(path, key, body));
        }
        exchange.getResponseHeaders().add("Content-Type", "application/json");
        String text = path.contains("/verbose") ? "\"" + "x".repeat(2_000_000) + "\"" : "{}";
        byte[] answer = text.getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(busy ? 503 : 200, answer.length);
        exchange.getResponseBody().write(answer);
        exchange.close();
    }

    String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    List<ReceivedRequest> accepted(String prefix) {
        return accepted.stream().filter(one -> one.path().startsWith(prefix)).toList();
    }

    /** How often it was busy at paths that begin so. */
    long turnedAway(String prefix) {
        return turnedAway.stream().filter(path -> path.startsWith(prefix)).count();
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
