package dev.semel.trials.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.runtime.ManualClock;
import dev.semel.server.SemelServer;
import dev.semel.server.cli.server.ServerOptions;
import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.ProblemResponseChecks;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the sources remember, and for how long, with a clock that is moved by hand. */
class IngressRetentionTest {
    private static final int MOST_LOOKS = 20_000;
    private static final String SECRET = "whsec_of_the_test";

    private final ManualClock clock = ManualClock.startingNow();

    @TempDir
    Path folder;

    private SemelServer serve;

    @BeforeEach
    void start() {
        String store = "sqlite:" + folder.resolve("semel.db");
        serve = SemelServer.start(new ServerOptions(true, false, "127.0.0.1", 0, folder, store, null), clock.ambient());
        admin().put("/v1/secrets/stripe", "{\"value\":\"" + SECRET + "\"}").expect(200);
        admin().publish("""
            semel: 1
            workflow: paid
            owner: o
            trigger:
              events: [{ type: paid }]
            steps:
              - {id: note, set: {ok: true}}
            """).expect(200);
    }

    @AfterEach
    void stop() {
        serve.close();
    }

    private ApiCaller admin() {
        return new ApiCaller(serve.port(), "dev", _ -> {});
    }

    private String hook(String name, String keep) {
        String document = "{\"preset\":\"stripe\",\"secrets\":[\"stripe\"],\"keep\":\"" + keep + "\"}";
        return admin().put("/v1/webhooks/" + name, document).expect(200).text("path");
    }

    private HttpReply deliver(String path, String id) {
        String body = "{\"id\":\"" + id + "\",\"type\":\"paid\"}";
        WebhookProvider.SignedRequest sent =
                new WebhookProvider.SignedRequest("", clock.now().getEpochSecond(), body);
        String[] lines = WebhookProvider.STRIPE.sign(SECRET, sent).toArray(String[]::new);
        return new ApiCaller(serve.port(), "", _ -> {}).post(path, body, lines).expect(200);
    }

    private static HttpReply until(Supplier<HttpReply> ask, Predicate<HttpReply> wanted) {
        HttpReply reply = ask.get();
        for (int looks = 0; !wanted.test(reply) && looks < MOST_LOOKS; looks++) {
            reply = ask.get();
        }
        assertTrue(wanted.test(reply), reply.body());
        return reply;
    }

    @Test
    void a_delivery_whose_runs_may_be_deleted_is_not_reprocessed() {
        String path = hook("longer", "30d");
        String delivery = deliver(path, "evt_1").text("delivery_id");
        String again = "/v1/webhooks/longer/deliveries/" + delivery + "/reprocess";
        assertEquals("true", admin().post(again, "").expect(200).header("X-Idempotent-Replayed"));
        clock.advance(Duration.ofDays(8));
        HttpReply old = admin().post(again, "");
        ProblemResponseChecks.expect(old, 404, "not-found");
        assertTrue(old.text("detail").contains("more than seven days old"), old.body());
        assertEquals(
                1,
                admin().get("/v1/workflows/paid/runs")
                        .expect(200)
                        .json()
                        .get("items")
                        .size());
    }

    @Test
    void an_expired_webhook_delivery_is_not_reprocessed_as_an_event_either() {
        deliver(hook("shorter", "1h"), "evt_1");
        String event = admin().get("/v1/events?source=shorter&id=evt_1")
                .expect(200)
                .json()
                .at("/items/0/event_id")
                .asString();
        admin().post("/v1/events/" + event + "/reprocess", "{}").expect(200);
        clock.advance(Duration.ofHours(2));
        HttpReply gone =
                until(() -> admin().post("/v1/events/" + event + "/reprocess", "{}"), reply -> reply.status() != 200);
        ProblemResponseChecks.expect(gone, 404, "not-found");
        assertTrue(gone.text("detail").contains("no longer stores the payload"), gone.body());
    }

    @Test
    void an_event_repeated_after_its_window_is_new_and_stays_listed() {
        String event = "{\"id\":\"e-1\",\"source\":\"/shop\",\"type\":\"paid\"}";
        String first = admin().post("/v1/events", event)
                .expect(200)
                .json()
                .at("/runs/0/run_id")
                .asString();
        until(
                () -> admin().get("/v1/runs/" + first).expect(200),
                reply -> !reply.json().path("ended_at").isNull()); // the name of an unfinished run does not expire
        clock.advance(Duration.ofDays(7).plusSeconds(1));
        HttpReply again = admin().post("/v1/events", event).expect(200);
        assertEquals(null, again.header("X-Idempotent-Replayed"));
        assertTrue(!first.equals(again.json().at("/runs/0/run_id").asString()), again.body());
        assertEquals(
                1,
                admin().get("/v1/events?type=paid")
                        .expect(200)
                        .json()
                        .get("items")
                        .size());
    }
}
