package dev.semel.trials.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.sun.net.httpserver.HttpServer;
import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.Databases;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/**
 * kill -9 between a send and its record: the run shows the attempt that the crash cut off, as often as the provider got
 * it and under the key that the provider got.
 */
@Tag("trial")
class LostAttemptTest {
    @TempDir
    Path folder;

    @Test
    void an_attempt_that_a_crash_cut_off_is_listed_on_sqlite() {
        trial(ProcessServer.Start.sqlite(folder));
    }

    @Test
    void an_attempt_that_a_crash_cut_off_is_listed_on_postgres() {
        trial(new ProcessServer.Start(folder, Databases.fresh()));
    }

    private void trial(ProcessServer.Start how) {
        try (Receiver provider = Receiver.start(folder)) {
            resent(how, provider);
            found(how, provider);
            unknown(how, provider);
        }
        read(how);
    }

    /** Sent again with the same key, and the second crash as well. */
    private static void resent(ProcessServer.Start how, Receiver provider) {
        String run;
        try (ProcessServer first = ProcessServer.start(how)) {
            run = start(first, provider, "resent", "dedupe/hangs-2", "provider_key\n    provider_window: 24h");
            cutOff(first, provider, "resent", 1);
        }
        try (ProcessServer second = ProcessServer.start(how)) {
            cutOff(second, provider, "resent", 2);
        }
        try (ProcessServer third = ProcessServer.start(how)) {
            JsonNode step =
                    step(third, run, one -> one.path("status").asString().equals("completed"));
            assertEquals(List.of("lost", "lost", "completed"), texts(step.path("attempts"), "outcome"));
            assertEquals(List.of("1", "2", "3"), texts(step.path("attempts"), "n"));
            agree(third, provider, "resent", step, 3);
        }
    }

    /** Found by a lookup, so the provider got it once. */
    private static void found(ProcessServer.Start how, Receiver provider) {
        String run;
        try (ProcessServer first = ProcessServer.start(how)) {
            String lookup = "lookup\n    lookup: { http: { url: \"" + provider.url() + "/dedupe/hangs-1/found\" } }";
            run = start(first, provider, "found", "dedupe/hangs-1", lookup);
            cutOff(first, provider, "found", 1);
        }
        try (ProcessServer second = ProcessServer.start(how)) {
            JsonNode step =
                    step(second, run, one -> one.path("status").asString().equals("found"));
            assertEquals(List.of("lost"), texts(step.path("attempts"), "outcome"));
            agree(second, provider, "found", step, 1);
        }
    }

    /** Never sent again. */
    private static void unknown(ProcessServer.Start how, Receiver provider) {
        String run;
        try (ProcessServer first = ProcessServer.start(how)) {
            run = start(first, provider, "unknown", "dedupe/hangs-1", "at_most_once");
            cutOff(first, provider, "unknown", 1);
        }
        try (ProcessServer second = ProcessServer.start(how)) {
            JsonNode step =
                    step(second, run, one -> one.path("status").asString().equals("indeterminate"));
            assertEquals(List.of("lost"), texts(step.path("attempts"), "outcome"));
            agree(second, provider, "unknown", step, 1);
        }
    }

    /** A read is no effect, and its attempts are listed all the same. */
    private static void read(ProcessServer.Start how) {
        AtomicInteger requests = new AtomicInteger();
        HttpServer provider = hangsTwice(requests);
        try {
            String run;
            try (ProcessServer first = ProcessServer.start(how)) {
                String file = """
                    semel: 1
                    workflow: read
                    owner: trials
                    steps:
                      - {id: look, http: {url: "http://127.0.0.1:%d/"}}
                    """;
                caller(first)
                        .publish(file.formatted(provider.getAddress().getPort()))
                        .expect(200);
                run = caller(first)
                        .trigger("read", "read-1", "{\"data\":{}}")
                        .expect(200)
                        .runId();
                cutOff(first, run, 1, requests);
            }
            try (ProcessServer second = ProcessServer.start(how)) {
                cutOff(second, run, 2, requests);
            }
            try (ProcessServer third = ProcessServer.start(how)) {
                JsonNode step =
                        step(third, run, one -> one.path("status").asString().equals("completed"));
                assertEquals(List.of("lost", "lost", "completed"), texts(step.path("attempts"), "outcome"));
                step.path("attempts")
                        .forEach(
                                one -> assertEquals(true, one.path("started_at").isString(), step::toString));
                assertEquals(3, requests.get(), "what the provider got");
            }
        } finally {
            provider.stop(0);
        }
    }

    private static HttpServer hangsTwice(AtomicInteger requests) {
        try {
            HttpServer provider = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
            provider.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
            provider.createContext("/", exchange -> {
                if (requests.incrementAndGet() > 2) {
                    exchange.sendResponseHeaders(200, -1);
                    exchange.close();
                }
            });
            provider.start();
            return provider;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The start of a read is stored beside the request, not before it. */
    private static void cutOff(ProcessServer server, String run, int attempts, AtomicInteger requests) {
        Await.holds("request " + attempts, () -> requests.get() == attempts);
        step(server, run, one -> one.path("attempts").size() == attempts);
        server.kill();
    }

    private static String start(
            ProcessServer server, Receiver provider, String name, String manners, String protection) {
        ApiCaller caller = caller(server);
        boolean keyed = !name.equals("found"); // the provider looks up what came without a key
        caller.publish("""
            semel: 1
            workflow: %s
            owner: trials
            steps:
              - id: pay
                http: { method: POST, url: "%s/%s/%s", body: { amount: 7 }, idempotency_header: %s }
                protect: %s
            """.formatted(
                                name, provider.url(), manners, name, keyed ? "Idempotency-Key" : "none", protection))
                .expect(200);
        return caller.trigger(name, name + "-1", "{\"data\":{}}").expect(200).runId();
    }

    private static void cutOff(ProcessServer server, Receiver provider, String name, int posts) {
        Await.holds(
                name + " was sent " + posts + " times",
                () -> posts(provider, name).size() >= posts);
        server.kill();
    }

    private static List<Receiver.ReceivedRequest> posts(Receiver provider, String name) {
        return provider.of(name).stream()
                .filter(Receiver.ReceivedRequest::isPost)
                .toList();
    }

    private static JsonNode step(ProcessServer server, String run, Predicate<JsonNode> reached) {
        ApiCaller caller = caller(server);
        JsonNode[] step = new JsonNode[1];
        Await.holds("the step of " + run + " has ended", () -> {
            step[0] = caller.get("/v1/runs/" + run + "/timeline")
                    .expect(200)
                    .json()
                    .at("/items/0");
            return reached.test(step[0]);
        });
        return step[0];
    }

    /** Timeline, effects and provider have one count of attempts and one key. */
    private static void agree(ProcessServer server, Receiver provider, String name, JsonNode step, int attempts) {
        List<Receiver.ReceivedRequest> posts = posts(provider, name);
        assertEquals(attempts, posts.size(), "what the provider got");
        assertEquals(attempts, step.path("attempts").size(), step::toString);
        for (JsonNode attempt : step.path("attempts")) {
            assertEquals(true, attempt.path("started_at").isString(), attempt::toString);
        }
        String key = posts.getFirst().key();
        assertEquals(key, step.path("sent_key").asString(""), step::toString);
        if (key.isEmpty()) {
            return;
        }
        JsonNode found = caller(server)
                .get("/v1/effects?q=sent_key:" + key)
                .expect(200)
                .json()
                .path("items");
        assertEquals(1, found.size(), found::toString);
        assertEquals(attempts, found.at("/0/attempts").asInt(), found::toString);
        assertEquals(key, found.at("/0/sent_key").asString("none"));
    }

    private static List<String> texts(JsonNode items, String name) {
        List<String> texts = new ArrayList<>();
        items.forEach(item -> texts.add(item.path(name).asString()));
        return texts;
    }

    private static ApiCaller caller(ProcessServer server) {
        return new ApiCaller(server.port(), "dev", _ -> {});
    }
}
