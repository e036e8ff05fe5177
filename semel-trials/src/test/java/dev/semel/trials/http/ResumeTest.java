package dev.semel.trials.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.ConcurrentCalls;
import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.OnDevServers;
import dev.semel.trials.support.ProblemResponseChecks;
import dev.semel.trials.support.ServerFixture;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** Failed runs go on in place over HTTP, counted at the provider. */
class ResumeTest extends OnDevServers {
    private final List<String> charges = new CopyOnWriteArrayList<>();
    private final List<String> mails = new CopyOnWriteArrayList<>();
    private final AtomicBoolean down = new AtomicBoolean(true);
    private HttpServer provider;

    ResumeTest(ServerFixture stage) {
        super(stage);
    }

    @BeforeEach
    void open() throws Exception {
        provider = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
        provider.createContext("/", exchange -> {
            boolean mail = exchange.getRequestURI().getPath().equals("/mail");
            boolean refused = mail && down.get();
            if (!refused) {
                (mail ? mails : charges).add(exchange.getRequestHeaders().getFirst("Idempotency-Key"));
            }
            byte[] body = "{\"id\":1}".getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().add("Content-Type", "application/json");
            exchange.sendResponseHeaders(refused ? 400 : 200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        provider.start();
        admin().publish("""
            semel: 1
            workflow: mended
            owner: trials
            steps:
              - id: charge
                http: { method: POST, url: "http://127.0.0.1:%1$d/charge" }
                protect: provider_key
                provider_window: 24h
              - id: mail
                http: { method: POST, url: "http://127.0.0.1:%1$d/mail" }
                protect: provider_key
                provider_window: 24h
            """.formatted(provider.getAddress().getPort())).expect(200);
    }

    @AfterEach
    void close() {
        provider.stop(0);
    }

    private ApiCaller admin() {
        return stage.admin();
    }

    private String failed(String key) {
        HttpReply ended = admin().post("/v1/workflows/mended/trigger?wait=60s", "{}", "Idempotency-Key: " + key);
        assertEquals("failed", ended.expect(200).text("status"));
        return ended.text("run_id");
    }

    private void until(String run, String status) {
        ConcurrentCalls.until(
                "it is " + status,
                () -> admin().get("/v1/runs/" + run).text("status").equals(status));
    }

    private JsonNode timeline(String run) {
        return admin().get("/v1/runs/" + run + "/timeline").expect(200).json();
    }

    private static JsonNode step(JsonNode timeline, String name) {
        for (JsonNode one : timeline.path("items")) {
            if (one.path("name").asString().equals(name)) {
                return one;
            }
        }
        throw new AssertionError("no step " + name + " in " + timeline);
    }

    @Test
    void a_failed_run_resumes_in_place_once_and_nothing_is_sent_twice() {
        String run = failed("in-place");
        String resume = "/v1/runs/" + run + "/resume";
        HttpReply reply = admin().post(resume + "?dry_run=true", "{}").expect(200);
        assertEquals("reuse", reply.json().at("/steps/0/action").asString(), reply::body);
        assertEquals("send", reply.json().at("/steps/1/action").asString(), reply::body);
        down.set(false);
        String body = "{\"reason\":\"the provider is back\"}";
        admin().post(resume, body, "Idempotency-Key: r1").expect(200);
        HttpReply again = admin().post(resume, body, "Idempotency-Key: r1").expect(200);
        assertEquals("true", again.header("X-Idempotent-Replayed"));
        until(run, "completed");
        assertEquals(1, charges.size());
        assertEquals(1, mails.size());
        JsonNode timeline = timeline(run);
        assertEquals("the provider is back", timeline.at("/resumed/0/reason").asString());
        assertEquals("completed", step(timeline, "mail").path("status").asString());
        assertEquals(
                2, step(timeline, "mail").path("attempts").size(), "the one that failed, and the one that did not");
        ProblemResponseChecks.expect(admin().post(resume, body), 409, "resume-refused");
        HttpReply repeat = admin().post("/v1/workflows/mended/trigger", "{}", "Idempotency-Key: in-place");
        assertEquals(run, repeat.expect(200).text("run_id"));
    }

    @Test
    void a_manually_done_step_is_skipped_with_author_and_reason() {
        String run = failed("skipped");
        String body = "{\"reason\":\"sent by hand\",\"skip\":{\"step\":\"mail\",\"result\":{\"id\":7}}}";
        admin().post("/v1/runs/" + run + "/resume", body).expect(200);
        until(run, "completed");
        JsonNode mail = step(timeline(run), "mail");
        assertEquals("skipped", mail.path("status").asString());
        assertEquals("sent by hand", mail.path("reason").asString());
        assertEquals(7, mail.at("/result/id").asInt());
        assertTrue(mail.path("skipped_by").asString().startsWith("tok_"), mail::toString);
        assertEquals(0, mails.size());
    }

    @Test
    void a_run_that_was_replayed_names_its_replay() {
        String run = failed("replayed");
        down.set(false);
        String plan =
                admin().post("/v1/replays", "{\"runs\":[\"" + run + "\"]}").text("replay_id");
        admin().post("/v1/replays/" + plan + "/apply", "").expect(200);
        ConcurrentCalls.until(
                "it has ended",
                () -> admin().get("/v1/replays/" + plan)
                        .json()
                        .at("/progress/verified")
                        .asBoolean());
        String made = admin().get("/v1/runs/" + run).expect(200).text("superseded_by");
        assertEquals(run, admin().get("/v1/runs/" + made).text("replay_of"));
        HttpReply repeat = admin().post("/v1/workflows/mended/trigger", "{}", "Idempotency-Key: replayed");
        assertEquals(run, repeat.expect(200).text("run_id"));
        assertEquals(made, repeat.text("superseded_by"));
        HttpReply refused = admin().post("/v1/runs/" + run + "/resume", "{\"reason\":\"too late\"}");
        ProblemResponseChecks.expect(refused, 409, "resume-refused");
        assertTrue(refused.body().contains(made), refused::body);
        assertEquals(1, mails.size());
    }
}
