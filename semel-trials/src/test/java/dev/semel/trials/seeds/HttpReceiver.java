package dev.semel.trials.seeds;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;

/** An external API that records its requests. A test decides what it answers. */
final class HttpReceiver implements AutoCloseable {
    /** In the place of a status: the connection breaks and the response is lost. */
    static final int LOST = -1;

    private final HttpServer server;
    private final Queue<ReceivedRequest> requests = new ConcurrentLinkedQueue<>();
    private final Map<String, Queue<Answer>> answers = new ConcurrentHashMap<>();

    /** @param key the header Idempotency-Key */
    record ReceivedRequest(
            String method,
            String path,
            @Nullable String key,
            @Nullable String authorization,
            @Nullable String type,
            String body) {}

    private final Map<String, CountDownLatch> held = new ConcurrentHashMap<>();

    private record Answer(int status, String body) {}

    HttpReceiver() {
        try {
            server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        server.createContext("/", this::receive);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.start();
    }

    /** The answer to the next request at this path. Without one the answer is 200. */
    void answer(String path, int status, String body) {
        answers.computeIfAbsent(path, _ -> new ConcurrentLinkedQueue<>()).add(new Answer(status, body));
    }

    private void receive(HttpExchange exchange) throws IOException {
        String path = exchange.getRequestURI().getPath();
        String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
        var headers = exchange.getRequestHeaders();
        requests.add(new ReceivedRequest(
                exchange.getRequestMethod(),
                path,
                headers.getFirst("Idempotency-Key"),
                headers.getFirst("Authorization"),
                headers.getFirst("Content-Type"),
                body));
        Queue<Answer> planned = answers.get(path);
        Answer next = planned == null ? null : planned.poll();
        Answer answer = next == null ? new Answer(200, "{\"id\": \"x1\"}") : next;
        awaitRelease(path);
        if (answer.status() != LOST) {
            byte[] bytes = answer.body().getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().add("Content-Type", "application/json");
            exchange.sendResponseHeaders(answer.status(), bytes.length);
            exchange.getResponseBody().write(bytes);
        }
        exchange.close();
    }

    private void awaitRelease(String path) {
        CountDownLatch latch = held.get(path);
        try {
            if (latch != null) {
                latch.await();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Requests at this path get no answer before {@link #release}. */
    void hold(String path) {
        held.put(path, new CountDownLatch(1));
    }

    void release(String path) {
        CountDownLatch latch = held.remove(path);
        if (latch != null) {
            latch.countDown();
        }
    }

    String url(String path) {
        return "http://127.0.0.1:" + server.getAddress().getPort() + path;
    }

    List<ReceivedRequest> at(String path) {
        return requests.stream().filter(one -> one.path().equals(path)).toList();
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
