package dev.semel.trials.files;

import static dev.semel.trials.support.TriggerResponseChecks.conflict;
import static dev.semel.trials.support.TriggerResponseChecks.fresh;
import static dev.semel.trials.support.TriggerResponseChecks.replay;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.server.demo.DemoExternalApi;
import dev.semel.server.demo.DemoExternalApiServer;
import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.ConcurrentCalls;
import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.RawConnection;
import dev.semel.trials.support.StoreKind;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;

/**
 * The five ways in which one intended action becomes two, each from the caller to a receiver that counts. Where it says
 * nothing else the receiver is a warehouse that knows no keys: every call that reaches it is a pick.
 */
@ParameterizedClass(name = "{0}")
@EnumSource(StoreKind.class)
class FiveFailuresTest {
    private static final int CLICKS = 8;

    @TempDir
    static Path folder = Path.of("");

    private static @Nullable DemoServer shared;

    private final StoreKind kind;

    FiveFailuresTest(StoreKind kind) {
        this.kind = kind;
    }

    @AfterParameterizedClassInvocation
    static void the_invariants_hold() {
        DemoServer open = shared;
        shared = null;
        if (open != null) {
            open.close();
        }
    }

    private DemoServer scene() {
        DemoServer open = shared;
        if (open == null) {
            try {
                open = new DemoServer(kind, Files.createDirectory(folder.resolve(kind.name())));
                shared = open;
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return open;
    }

    private ApiCaller caller() {
        return scene().caller();
    }

    /** A workflow with one step that picks, which a person is asked about where its outcome is not known. */
    private void picking(String name, String idempotency, String once) {
        caller().publish("""
            semel: 1
            workflow: NAME
            owner: trials
            idempotency: { IDEMPOTENCY }
            steps:
              - id: pick
                http: { method: POST, url: PLAYGROUND/picks, body: { order: "${ input.order }" } }
                protect: ask
            ONCE
            """.replace("NAME", name)
                        .replace("IDEMPOTENCY", idempotency)
                        .replace("PLAYGROUND", scene().playground().url())
                        .replace("ONCE", once.isEmpty() ? "" : "    idempotent: { " + once + " }"))
                .expect(200);
    }

    private static String order(String order, int amount) {
        return "{\"data\":{\"order\":\"" + order + "\",\"amount\":" + amount + "}}";
    }

    /** What a provider was asked and did since then. */
    private DemoExternalApiServer.CallCounts since(DemoExternalApiServer.CallCounts before, DemoExternalApi provider) {
        DemoExternalApiServer.CallCounts now = counts(provider);
        return new DemoExternalApiServer.CallCounts(now.calls() - before.calls(), now.effects() - before.effects());
    }

    private DemoExternalApiServer.CallCounts counts(DemoExternalApi provider) {
        return scene().playground().counts(provider);
    }

    private static DemoExternalApiServer.CallCounts once() {
        return new DemoExternalApiServer.CallCounts(1, 1);
    }

    @Test
    void lost_response_a_retry_gets_the_original_result() {
        picking("lost_answer", "fingerprint: [order]", "");
        DemoExternalApiServer.CallCounts before = counts(DemoExternalApi.PICKS);
        hangUp("lost_answer", "lost-1", order("o1", 1));
        ConcurrentCalls.until(
                "the write is done though nobody heard so",
                () -> caller().get("/v1/keys/lost-1").status() == 200);
        HttpReply again =
                caller().trigger("lost_answer", "lost-1", order("o1", 1)).expect(200);
        assertTrue(again.flag("idempotent_replayed"), again.body());
        scene().completed(again.runId());
        assertEquals(once(), since(before, DemoExternalApi.PICKS));
        assertEquals(1, runs("lost_answer").size());
    }

    /** Sends a request and is gone before a byte of its answer comes. */
    private void hangUp(String workflow, String key, String body) {
        try (RawConnection wire = scene().server().wire()) {
            String head = caller().head(
                            "POST",
                            "/v1/workflows/" + workflow + "/trigger",
                            "Content-Type: application/json",
                            "Idempotency-Key: " + key);
            wire.send(head + "Content-Length: " + body.getBytes(StandardCharsets.UTF_8).length + "\r\n\r\n" + body);
        }
    }

    @Test
    void double_click_all_clicks_are_one_action() {
        picking("double_click", "fingerprint: [order]", "");
        DemoExternalApiServer.CallCounts before = counts(DemoExternalApi.PICKS);
        List<HttpReply> clicks =
                ConcurrentCalls.atOnce(CLICKS, _ -> caller().trigger("double_click", "form-1", order("o1", 1)));
        List<HttpReply> fresh = clicks.stream()
                .filter(click -> !click.expect(200).flag("idempotent_replayed"))
                .toList();
        assertEquals(1, fresh.size());
        clicks.forEach(click -> assertEquals(fresh.getFirst().runId(), click.runId()));
        scene().completed(fresh.getFirst().runId());
        assertEquals(once(), since(before, DemoExternalApi.PICKS));
    }

    @Test
    void retry_worker_a_redelivered_job_sends_the_same_key() {
        caller().publish("""
            semel: 1
            workflow: retry_worker
            owner: trials
            steps:
              - id: issue
                http: { method: POST, url: PLAYGROUND/licenses, body: { order: "${ input.order }" } }
                protect: provider_key
                provider_window: 24h
            output: { serial: "${ steps.issue.serial }" }
            """.replace("PLAYGROUND", scene().playground().url())).expect(200);
        DemoExternalApiServer.CallCounts before = counts(DemoExternalApi.LICENSES);
        scene().lose(DemoExternalApi.LICENSES); // it issues the license, and the answer never comes
        HttpReply first = fresh(caller().trigger("retry_worker", "job-1", order("o1", 1)));
        replay(first, caller().trigger("retry_worker", "job-1", order("o1", 1))); // the queue is not sure either
        JsonNode run = scene().completed(first.runId());
        replay(first, caller().trigger("retry_worker", "job-1", order("o1", 1)));
        assertEquals(new DemoExternalApiServer.CallCounts(2, 1), since(before, DemoExternalApi.LICENSES));
        assertTrue(run.at("/output/serial").asString().startsWith("LIC-"), run.toString());
    }

    @Test
    void changed_payload_is_rejected_and_the_field_is_named() {
        picking("changed_payload", "fingerprint: [order, amount]", "");
        DemoExternalApiServer.CallCounts before = counts(DemoExternalApi.PICKS);
        HttpReply first = fresh(caller().trigger("changed_payload", "pay-1", order("o1", 4900)));
        HttpReply refused = conflict("payload", first, caller().trigger("changed_payload", "pay-1", order("o1", 5900)));
        assertEquals("[\"amount\"]", refused.json().get("changed").toString());
        scene().completed(first.runId());
        replay(first, caller().trigger("changed_payload", "pay-1", order("o1", 4900)));
        assertEquals(once(), since(before, DemoExternalApi.PICKS));
        assertTrue(
                caller().get("/v1/requests").expect(200).body().contains("\"conflict\""),
                "the conflict can be looked up");
    }

    @Test
    void key_expired_too_soon_an_effect_with_its_own_window_is_not_resent() {
        picking("expired_kept", "window: 1s", "key: '${ key(\"pick\", input.order) }', time: 30, unit: days");
        DemoExternalApiServer.CallCounts before = counts(DemoExternalApi.PICKS);
        HttpReply second = afterExpiry("expired_kept", "late-1");
        assertEquals(
                "suppressed",
                scene().step(second.runId(), "suppressed").get("status").asString());
        assertEquals(once(), since(before, DemoExternalApi.PICKS));
    }

    @Test
    void key_expired_too_soon_is_reported_and_counted_without_an_effect_window() {
        picking("expired_sent", "window: 1s", "");
        DemoExternalApiServer.CallCounts before = counts(DemoExternalApi.PICKS);
        afterExpiry("expired_sent", "late-2");
        assertEquals(new DemoExternalApiServer.CallCounts(2, 2), since(before, DemoExternalApi.PICKS));
        assertTrue(
                caller().get("/metrics")
                        .body()
                        .lines()
                        .anyMatch(line -> line.startsWith("semel_triggers_expired_key")
                                && !line.endsWith(" 0.0")
                                && !line.endsWith(" 0")),
                "the late retry is counted");
    }

    /** A retry that comes when its key is over; the new run names the one before it, and completes. */
    private HttpReply afterExpiry(String workflow, String key) {
        HttpReply first = fresh(caller().trigger(workflow, key, order(key, 1)));
        scene().completed(first.runId());
        ConcurrentCalls.until(
                "the key is over",
                () -> caller().get("/v1/keys/" + key).text("status").equals("expired"));
        HttpReply second = fresh(caller().trigger(workflow, key, order(key, 1)));
        assertNotEquals(first.runId(), second.runId());
        assertEquals(first.runId(), second.text("previous_run_id"));
        scene().completed(second.runId());
        return second;
    }

    private JsonNode runs(String workflow) {
        return caller().get("/v1/workflows/" + workflow + "/runs")
                .expect(200)
                .json()
                .get("items");
    }
}
