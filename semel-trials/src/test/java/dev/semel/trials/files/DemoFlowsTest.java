package dev.semel.trials.files;

import static dev.semel.trials.support.TriggerResponseChecks.fresh;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.json.StrictJsonCodec;
import dev.semel.server.demo.DemoDataSeeder;
import dev.semel.server.demo.DemoExternalApi;
import dev.semel.server.settings.WorkspaceSettingRepository;
import dev.semel.store.StoreWriteCommand;
import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.StoreKind;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;

/** The example files as `semel dev --demo` has them, from the trigger to providers that count. */
class DemoFlowsTest {
    private static final String PAYMENT = """
        {"data": {"payment_id": "pay_1", "amount": 4900, "currency": "usd", "email": "ada@acme.example"}}\
        """;

    @TempDir
    Path folder = Path.of("");

    @ParameterizedTest
    @EnumSource(StoreKind.class)
    void a_payment_gets_one_license_and_one_receipt_despite_a_lost_response(StoreKind kind) {
        try (DemoServer scene = new DemoServer(kind, folder)) {
            scene.lose(DemoExternalApi.LICENSES);
            String run = fresh(scene.caller().trigger("receipt_and_license", "evt_1", PAYMENT))
                    .text("run_id");
            JsonNode output = scene.completed(run).get("output");
            assertTrue(output.get("license").asString().startsWith("LIC-"), output.toString());
            HttpReply again = scene.caller()
                    .trigger("receipt_and_license", "evt_1", PAYMENT)
                    .expect(200);
            assertEquals(run, again.runId());
            assertTrue(again.flag("idempotent_replayed"), again.body());
            scene.counted(DemoExternalApi.PAYMENTS, 1, 0);
            scene.counted(DemoExternalApi.LICENSES, 2, 1);
            scene.counted(DemoExternalApi.MAIL, 1, 1);
        }
    }

    @ParameterizedTest
    @EnumSource(StoreKind.class)
    void a_receipt_is_not_sent_again_for_the_same_payment_under_another_key(StoreKind kind) {
        try (DemoServer scene = new DemoServer(kind, folder)) {
            scene.completed(fresh(scene.caller().trigger("receipt_and_license", "evt_1", PAYMENT))
                    .text("run_id"));
            String second = fresh(scene.caller().trigger("receipt_and_license", "evt_2", PAYMENT))
                    .text("run_id");
            // The license step has no key across runs: another run asks for another license, so the words differ and a
            // person is asked whether they may go out.
            scene.untilStatus(second, "waiting");
            scene.counted(DemoExternalApi.MAIL, 1, 1);
            String step = scene.step(second, "waiting").get("path").asString();
            HttpReply decided = scene.caller()
                    .post("/v1/runs/" + second + "/decide", "{\"step\":\"" + step + "\",\"decision\":\"suppress\"}")
                    .expect(200);
            assertTrue(decided.flag("decided"), decided.body());
            scene.completed(second);
            scene.counted(DemoExternalApi.MAIL, 1, 1);
        }
    }

    @ParameterizedTest
    @EnumSource(StoreKind.class)
    void a_user_who_submits_twice_is_welcomed_once(StoreKind kind) {
        try (DemoServer scene = new DemoServer(kind, folder)) {
            scene.lose(DemoExternalApi.LEADS);
            String first = fresh(scene.caller().unkeyed("new_lead", lead("s1", "basic")))
                    .text("run_id");
            scene.untilStatus(first, "waiting"); // for the digest, which it sends after a quarter of an hour
            scene.counted(DemoExternalApi.LEADS, 2, 1); // the call without an answer, and the question
            scene.counted(DemoExternalApi.MAIL, 1, 1);

            String second =
                    fresh(scene.caller().unkeyed("new_lead", lead("s2", "pro"))).text("run_id");
            JsonNode output = scene.completed(second).get("output");
            assertTrue(output.get("lead").asString().startsWith("lead_"), output.toString());
            scene.counted(DemoExternalApi.LEADS, 3, 2);
            scene.counted(DemoExternalApi.MAIL, 1, 1);
            JsonNode welcome = scene.step(second, "suppressed");
            assertTrue(welcome.get("path").asString().contains("welcome"), welcome.toString());
            scene.counted(DemoExternalApi.CHAT, 0, 0);
        }
    }

    private static String lead(String submission, String plan) {
        return """
            {"data": {"form_submission_id": "%s", "email": "ada@acme.example", "region": "emea", "plan": "%s"}}\
            """.formatted(submission, plan);
    }

    @ParameterizedTest
    @EnumSource(StoreKind.class)
    void a_paid_order_is_picked_and_shipped_once(StoreKind kind) {
        try (DemoServer scene = new DemoServer(kind, folder)) {
            String order = order("o1", "{\"sku\":\"A\",\"qty\":1},{\"sku\":\"B\",\"qty\":2}");
            String run = fresh(scene.caller().unkeyed("fulfil_order", order)).text("run_id");
            scene.untilStatus(run, "waiting");
            scene.counted(DemoExternalApi.PICKS, 0, 0);
            captured(scene, run);
            captured(scene, run);
            JsonNode output = scene.completed(run).get("output");
            assertTrue(output.get("tracking").asString().startsWith("TRK-"), output.toString());
            assertEquals(
                    run,
                    scene.caller().unkeyed("fulfil_order", order).expect(200).runId());
            scene.counted(DemoExternalApi.PICKS, 2, 2);
            scene.counted(DemoExternalApi.PARCELS, 1, 1);
            HttpReply children =
                    scene.caller().get("/v1/workflows/ship_parcel/runs").expect(200);
            assertEquals(1, children.json().get("items").size(), children.body());
        }
    }

    @ParameterizedTest
    @EnumSource(StoreKind.class)
    void a_pick_with_an_unknown_outcome_waits_for_a_user(StoreKind kind) {
        try (DemoServer scene = new DemoServer(kind, folder)) {
            scene.lose(DemoExternalApi.PICKS);
            String run = fresh(scene.caller().unkeyed("fulfil_order", order("o2", "{\"sku\":\"A\",\"qty\":1}")))
                    .text("run_id");
            captured(scene, run);
            scene.untilStatus(run, "in_doubt");
            scene.counted(DemoExternalApi.PICKS, 1, 1);
            String step = scene.step(run, "in_doubt").get("path").asString();
            HttpReply decided = scene.caller()
                    .post(
                            "/v1/runs/" + run + "/decide",
                            "{\"step\":\"" + step + "\",\"decision\":\"happened\",\"result\":{}}")
                    .expect(200);
            assertTrue(decided.flag("decided"), decided.body());
            scene.completed(run);
            scene.counted(DemoExternalApi.PICKS, 1, 1);
            scene.counted(DemoExternalApi.PARCELS, 1, 1);
        }
    }

    private static String order(String id, String lines) {
        return "{\"data\":{\"order_id\":\"" + id + "\",\"warehouse\":\"berlin\",\"total\":4900,\"lines\":[" + lines
                + "]}}";
    }

    private static void captured(DemoServer scene, String run) {
        scene.caller()
                .post("/v1/runs/" + run + "/signals/payment.captured", "{\"data\":{}}", "Idempotency-Key: evt_" + run)
                .expect(200);
    }

    @ParameterizedTest
    @EnumSource(StoreKind.class)
    void a_repeated_setup_changes_nothing(StoreKind kind) {
        try (DemoServer scene = new DemoServer(kind, folder)) {
            var semel = scene.server().serve().semel();
            var settings = scene.server().serve().settings();
            int ws = semel.change(new StoreWriteCommand.CreateWorkspace("default", semel.newSecret(32)))
                    .ws();
            DemoDataSeeder demo = new DemoDataSeeder(semel, settings, ws);
            List<Integer> before = versions(scene);
            demo.save(scene.playground().url());
            assertEquals(before, versions(scene));

            // Another port: the channels follow. A channel that somebody has made their own does not.
            semel.change(settings.channels()
                    .preparePut(new WorkspaceSettingRepository.SettingDraft(
                            ws,
                            "chat",
                            StrictJsonCodec.parse("{\"kind\":\"chat\",\"url\":\"https://chat.example/\"}"),
                            null,
                            "somebody")));
            demo.save("http://127.0.0.1:1");
            assertEquals(List.of(2, 2, 1, 1, 1, 1, 1), versions(scene));
        }
    }

    private static List<Integer> versions(DemoServer scene) {
        return List.of(
                        "channels/email",
                        "channels/chat",
                        "templates/receipt",
                        "templates/welcome",
                        "templates/leads-digest",
                        "routes/lead.welcome",
                        "cohorts/do-not-mail")
                .stream()
                .map(path -> scene.caller()
                        .get("/v1/" + path)
                        .expect(200)
                        .json()
                        .get("version")
                        .intValue())
                .toList();
    }
}
