package dev.semel.trials.files;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.StoreKind;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.HexFormat;
import java.util.function.Predicate;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;

/** Messages that come by webhook: they start runs and answer questions, once, though the server dies in between. */
@Tag("trial")
class WebhookCrashTest {
    private static final int MOST_LOOKS = 20_000;
    private static final String SECRET = "sms secret";

    @TempDir
    Path folder;

    private static void furnish(ApiCaller admin) {
        admin.put("/v1/secrets/sms", "{\"value\":\"" + SECRET + "\"}").expect(200);
        admin.publish("""
            semel: 1
            workflow: asking
            owner: o
            steps:
              - id: first
                wait_for_reply: {from: "${ input.phone }", timeout: 1d}
              - id: second
                wait_for_reply: {from: "${ input.phone }", timeout: 1d}
            output: { first: "${ steps.first.text }", second: "${ steps.second.text }" }
            """).expect(200);
        admin.publish("""
            semel: 1
            workflow: started
            owner: o
            trigger:
              events: [{ type: sms, source: sms }]
            steps:
              - {id: note, set: {ok: true}}
            """).expect(200);
    }

    private static String hook(ApiCaller admin) {
        return admin.put("/v1/webhooks/sms", """
            {"preset": "generic", "secrets": ["sms"], "id": {"pointer": "/sid"},
             "signature": {"header": "X-Sig", "algorithm": "sha256", "encoding": "hex"},
             "reply": {"from": "/from", "text": "/body"}}
            """).expect(200).text("path");
    }

    private static HttpReply say(ApiCaller admin, String path, String sid, String text) {
        String body = "{\"sid\":\"" + sid + "\",\"from\":\" +49 30 1 \",\"body\":\"" + text + "\"}";
        return new ApiCaller(admin.port(), "", _ -> {}).post(path, body, "X-Sig: " + signature(body));
    }

    private static String signature(String body) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(SECRET.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
            return HexFormat.of().formatHex(mac.doFinal(body.getBytes(StandardCharsets.UTF_8)));
        } catch (GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }

    private static JsonNode until(ApiCaller admin, String run, Predicate<JsonNode> wanted) {
        JsonNode row = admin.get("/v1/runs/" + run).expect(200).json();
        for (int looks = 0; !wanted.test(row) && looks < MOST_LOOKS; looks++) {
            row = admin.get("/v1/runs/" + run).expect(200).json();
        }
        assertTrue(wanted.test(row), row.toString());
        return row;
    }

    private static void untilItWaits(ApiCaller admin, String run, String step) {
        until(
                admin,
                run,
                row -> row.path("waiting_for").path(0).path("step").asString("").equals(step));
    }

    private static ApiCaller there(FlowProcess server) {
        ApiCaller caller = server.caller();
        assertNotNull(caller);
        return caller;
    }

    @ParameterizedTest
    @EnumSource(StoreKind.class)
    void a_crash_between_a_delivery_and_its_run_is_repaired_by_the_next_delivery(StoreKind kind) {
        String store = kind.fresh(folder);
        String path;
        String run;
        try (FlowProcess server = FlowProcess.start(folder, store, new ExampleFlow.HaltPoint("delivery-stored", 2))) {
            ApiCaller admin = there(server);
            furnish(admin);
            path = hook(admin);
            assertEquals(
                    0,
                    say(admin, path, "SM0", "too early")
                            .expect(200)
                            .json()
                            .path("answered")
                            .size());
            run = admin.unkeyed("asking", "{\"data\":{\"phone\":\"+49 30 1\"}}")
                    .expect(200)
                    .runId();
            untilItWaits(admin, run, "first");
            assertThrows(UncheckedIOException.class, () -> say(admin, path, "SM1", "yes"));
            assertNull(server.over(), "the point was never hit");
        }
        try (FlowProcess server = FlowProcess.start(folder, store, new ExampleFlow.HaltPoint("none", 1))) {
            ApiCaller admin = there(server);
            untilItWaits(admin, run, "first");
            HttpReply again = say(admin, path, "SM1", "yes").expect(200);
            assertEquals(1, again.json().get("run_ids").size(), again.body());
            assertEquals(run, again.json().at("/answered/0").asString(), again.body());
            untilItWaits(admin, run, "second");
            HttpReply third = say(admin, path, "SM1", "yes").expect(200);
            assertEquals("true", third.header("X-Idempotent-Replayed"));
            assertEquals(again.json().get("run_ids"), third.json().get("run_ids"));
            untilItWaits(admin, run, "second");
            say(admin, path, "SM2", "no").expect(200);
            JsonNode output =
                    until(admin, run, row -> !row.path("ended_at").isNull()).get("output");
            assertEquals("{\"first\":\"yes\",\"second\":\"no\"}", output.toString());
            JsonNode items =
                    admin.get("/v1/workflows/started/runs").expect(200).json().get("items");
            assertEquals(3, items.size(), "one run for each message, SM0, SM1 and SM2");
        }
    }

    @Test
    void a_reply_between_run_start_and_wait_is_not_lost() {
        try (FlowProcess server =
                FlowProcess.start(folder, StoreKind.SQLITE.fresh(folder), new ExampleFlow.HaltPoint("none", 1))) {
            ApiCaller admin = there(server);
            furnish(admin);
            String path = hook(admin);
            admin.publish("""
                semel: 1
                workflow: slow
                owner: o
                steps:
                  - {id: pause, sleep: 2s}
                  - {id: answer, wait_for_reply: {from: "+49 30 1"}}
                output: { text: "${ steps.answer.text }" }
                """).expect(200);
            String run = admin.unkeyed("slow", "{}").expect(200).runId();
            untilItWaits(admin, run, "pause");
            say(admin, path, "SM1", "quick").expect(200);
            JsonNode row = until(admin, run, one -> !one.path("ended_at").isNull());
            assertEquals("quick", row.at("/output/text").asString());
        }
    }
}
