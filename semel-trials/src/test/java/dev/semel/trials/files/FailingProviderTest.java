package dev.semel.trials.files;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import dev.semel.trials.support.ConcurrentCalls;
import dev.semel.trials.support.ServerFixture;
import dev.semel.trials.support.StoreKind;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;

/** What the API says of effects whose provider fails: no outcome is guessed, and the last problem is shown. */
class FailingProviderTest {
    private final List<ServerFixture> stages = new ArrayList<>();
    private final CountDownLatch answers = new CountDownLatch(1);
    private final HttpServer provider;
    private volatile int status = 503;

    FailingProviderTest() throws IOException {
        provider = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        provider.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        provider.createContext("/fails", exchange -> {
            exchange.sendResponseHeaders(status, -1);
            exchange.close();
        });
        provider.createContext("/hangs", exchange -> {
            try {
                answers.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            exchange.sendResponseHeaders(200, -1);
            exchange.close();
        });
        provider.start();
    }

    private ServerFixture stage() {
        return stages.getLast();
    }

    private void open(StoreKind kind) {
        stages.add(new ServerFixture(kind, true));
    }

    @AfterEach
    void close() {
        answers.countDown();
        provider.stop(0);
        stages.forEach(ServerFixture::end);
    }

    private String start(String name, String path, String options) {
        stage().admin()
                .publish("""
                    semel: 1
                    workflow: %s
                    owner: trials
                    steps:
                      - id: visit
                        http: {method: POST, url: "http://127.0.0.1:%d/%s", body: {a: 1}}
                    %s\
                    """.formatted(name, provider.getAddress().getPort(), path, options.indent(4)))
                .expect(200);
        return stage().admin()
                .post("/v1/workflows/" + name + "/trigger", "{\"data\":{}}", "Idempotency-Key: " + stage().key())
                .expect(200)
                .runId();
    }

    private JsonNode run(String id) {
        return stage().admin().get("/v1/runs/" + id).expect(200).json();
    }

    private JsonNode effect(String workflow) {
        return stage().admin()
                .get("/v1/effects?q=workflow:" + workflow)
                .expect(200)
                .json()
                .at("/items/0");
    }

    @ParameterizedTest
    @CsvSource({
        "SQLITE, none, 503, unknown, 1",
        "SQLITE, repeatable, 503, unknown, 0",
        "SQLITE, none, 429, not_done, 0",
        "POSTGRES, none, 503, unknown, 1"
    })
    void a_failed_effect_that_may_have_happened_is_unknown_and_counts_as_possible_duplicate(
            StoreKind kind, String protection, int answer, String shown, int possible) {
        open(kind);
        status = answer;
        String name = "visit-" + protection + answer;
        String run = start(name, "fails", """
            protect: %s
            because: it only counts visits
            retry: {attempts: 2, first: 1s}
            on_error: continue
            """.formatted(protection));
        ConcurrentCalls.until(
                "on_error continues", () -> run(run).path("status").asString().equals("completed"));
        JsonNode effect = effect(name);
        assertEquals(shown, effect.path("status").asString());
        assertEquals(2, effect.path("attempts").asInt());
        JsonNode facts = stage().admin()
                .post("/v1/incidents", "{\"since\":\"1h\",\"workflow\":\"" + name + "\"}")
                .expect(200)
                .json()
                .get("facts");
        assertEquals(possible, facts.get("possibly_duplicated").asInt(), facts::toString);
    }

    @ParameterizedTest
    @EnumSource
    void a_run_that_waits_for_the_next_attempt_shows_why_the_last_one_failed(StoreKind kind) {
        open(kind);
        String run =
                start("waits", "fails", "protect: provider_key\nprovider_window: 24h\nretry: {attempts: 9, first: 1h}");
        ConcurrentCalls.until("it waits", () -> run(run).path("waiting_for").size() == 1);
        JsonNode wait = run(run).at("/waiting_for/0");
        assertEquals("retry", wait.path("kind").asString());
        assertEquals("step-failed", wait.at("/error/code").asString());
        assertTrue(wait.at("/error/message").asString().contains("503"), wait::toString);
    }

    @ParameterizedTest
    @EnumSource
    void an_effect_in_flight_shows_until_when_a_resend_is_safe(StoreKind kind) {
        open(kind);
        start("hangs", "hangs", "protect: provider_key\nprovider_window: 24h");
        ConcurrentCalls.until(
                "it is sent", () -> effect("hangs").path("status").asString().equals("in_flight"));
        JsonNode effect = effect("hangs");
        assertTrue(effect.path("window_ends_at").isNull(), effect::toString);
        assertFalse(effect.path("safe_to_resend_until").isNull(), effect::toString);
    }
}
