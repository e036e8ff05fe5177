package dev.semel.trials.documents;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import dev.semel.runtime.SemelRuntime;
import dev.semel.runtime.RuntimeOptions;
import dev.semel.error.ErrorCode;
import dev.semel.json.StrictJson;
import dev.semel.server.api.ApiRoutes;
import dev.semel.server.api.FileWorkflow;
import dev.semel.server.api.PrometheusMetrics;
import dev.semel.server.access.UserAccounts;
import dev.semel.server.access.ApiTokens;
import dev.semel.server.settings.SecretEncryptionKeys;
import dev.semel.server.steps.StepServices;
import dev.semel.trials.architecture.SourceFile;
import dev.semel.trials.architecture.SourceTree;
import io.swagger.v3.parser.OpenAPIV3Parser;
import io.swagger.v3.parser.core.models.ParseOptions;
import java.net.http.HttpClient;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** {@code /v1/openapi.json} against a validator, the router, the error codes and the answers of a real server. */
class OpenApiTest {
    private static final String JSON = "application/json";

    @TempDir
    Path folder;

    @Test
    void a_validator_finds_nothing_wrong_with_it() throws Exception {
        var parsed = new OpenAPIV3Parser().readContents(text(), null, new ParseOptions());
        assertEquals(List.of(), parsed.getMessages());
        assertNotNull(parsed.getOpenAPI());
        assertEquals(
                document().operations().size(),
                parsed.getOpenAPI().getPaths().values().stream()
                        .mapToInt(path -> path.readOperations().size())
                        .sum());
        var broken = new OpenAPIV3Parser()
                .readContents(text().replaceFirst("\"responses\"", "\"replies\""), null, new ParseOptions());
        assertFalse(broken.getMessages().isEmpty(), "The validator finds nothing wrong with anything.");
    }

    @Test
    void it_offers_what_the_router_offers_and_asks_for_the_same_scopes() throws Exception {
        TreeSet<String> routes = new TreeSet<>();
        try (SemelRuntime semel = SemelRuntime.open(RuntimeOptions.of(
                "sqlite:" + folder.resolve("a.db"), version -> FileWorkflow.compile(version, _ -> StepServices.UNAVAILABLE)))) {
            var settings = new dev.semel.server.settings.WorkspaceSettings(semel, SecretEncryptionKeys.none());
            new ApiRoutes(semel, ApiTokens.serving(semel), new PrometheusMetrics(semel), false)
                    .addRoutesFor(settings)
                    .addWebhooks(settings, InstantSource.system())
                    .addRoutesFor(UserAccounts.serving(semel))
                    .router()
                    .routes()
                    .forEach(route -> routes.add(route.method() + " " + route.pattern() + " "
                            + route.scope().name().toLowerCase(Locale.ROOT)));
        }
        TreeSet<String> described = new TreeSet<>();
        document().operations().forEach(one -> described.add(one.method() + " " + one.path() + " " + one.scope()));
        assertEquals(routes, described);
    }

    @Test
    void it_lists_every_error_code() throws Exception {
        List<String> listed = new ArrayList<>();
        document()
                .document()
                .at("/components/schemas/Problem/properties/code/enum")
                .forEach(code -> listed.add(code.asString()));
        assertEquals(Stream.of(ErrorCode.values()).map(ErrorCode::slug).toList(), listed);
    }

    @Test
    void the_examples_of_the_errors_page_are_what_the_server_would_say() throws Exception {
        SourceFile page = SourceTree.find().files().stream()
                .filter(file -> file.path().equals("docs/reference/errors.md"))
                .findFirst()
                .orElseThrow();
        List<String> seen = new ArrayList<>();
        for (Block block : Block.of(page)) {
            JsonNode example = StrictJson.parse(block.text());
            assertEquals(List.of(), document().faults("Problem", example), block.place());
            ErrorCode code = Arrays.stream(ErrorCode.values())
                    .filter(one -> one.slug().equals(example.path("code").asString()))
                    .findFirst()
                    .orElseThrow();
            assertEquals(code.title(), example.path("title").asString(), block.place());
            assertEquals(code.status(), example.path("status").asInt(), block.place());
            assertEquals(code.retryable(), example.path("retryable").asBoolean(), block.place());
            seen.add(code.slug());
        }
        assertEquals(Stream.of(ErrorCode.values()).map(ErrorCode::slug).toList(), seen);
    }

    @Test
    void answers_of_a_real_server_are_as_described() throws Exception {
        LocalServer server = new LocalServer();
        server.start();
        try (HttpClient client = HttpClient.newHttpClient()) {
            Asking asking = new Asking(client, server.url(), document());
            triggers(asking);
            events(asking);
            lists(asking);
            versions(asking);
            operating(asking);
            schedules(asking);
            ReviewsAsked.ask(asking);
            SettingsAsked.ask(asking);
            incidents(asking);
            HooksAsked.ask(asking);
            ReplaysAsked.ask(asking);
            PagesAsked.ask(asking);
            refusals(asking);
            assertEquals(List.of(), asking.faults);
            assertEquals(document().operations().size(), asking.operations.size(), "Not asked: " + asking.missing());
        } finally {
            server.stop();
        }
    }

    @Test
    void an_answer_that_is_not_as_described_is_a_fault() throws Exception {
        OpenApi api = document();
        assertEquals(List.of(), api.faults("GET", "/healthz", reply(Map.of(), "{\"status\":\"ok\"}")));
        assertFalse(
                api.faults("GET", "/healthz", reply(Map.of(), "{\"status\":1}")).isEmpty());
        assertFalse(api.faults("GET", "/healthz", reply(Map.of(), "{}")).isEmpty());
        assertFalse(api.faults("GET", "/healthz", reply(Map.of(), "{\"status\":\"ok\",\"more\":1}"))
                .isEmpty());
        assertFalse(api.faults("GET", "/healthz", reply(Map.of("x-new", "1"), "{\"status\":\"ok\"}"))
                .isEmpty());
        assertFalse(api.faults("POST", "/healthz", reply(Map.of(), "{\"status\":\"ok\"}"))
                .isEmpty());
    }

    private static Reply reply(Map<String, String> headers, String body) {
        return new Reply(200, JSON, headers, body);
    }

    private static void triggers(Asking asking) throws Exception {
        String data = "{\"data\":{\"payment_id\":\"pay_1\",\"amount\":4900,\"currency\":\"usd\"}}";
        String trigger = "/v1/workflows/{id}/trigger";
        asking.named("payment_receipt").with("Idempotency-Key", "evt_1");
        asking.ask(200, "POST", trigger, data);
        asking.ask(200, "POST", trigger + "?wait=30s", data);
        asking.with("Prefer", "wait=1, handling=strict").ask(200, "POST", trigger, data);
        asking.ask(422, "POST", trigger, data.replace("4900", "5900"));
        asking.without().ask(200, "POST", trigger, "{\"data\":{\"task_id\":\"t\"},\"more\":1}");
        asking.ask(200, "PUT", "/v1/workflows/{id}/runs/{run_id}", data);
        asking.ask(
                200,
                "POST",
                "/v1/workflows/{id}/trigger-batch",
                "{\"items\":[{\"key\":\"b_1\",\"data\":{}},{\"key\":\"b_1\",\"data\":{}},{\"key\":\"\"}]}");
        asking.publish("loose", "");
        asking.publish("strict", "idempotency: {duplicate_payload: reject}\ntrigger: {http: {require_key: true}}\n");
        asking.publish("flagged", "idempotency: {duplicate_payload: flag, on_failed: run_again}\n");
        asking.named("loose").with("Idempotency-Key", "l_1").ask(200, "POST", trigger, "{\"data\":{\"a\":1}}");
        asking.ask(200, "POST", trigger, "{\"data\":{\"a\":2}}");
        asking.named("strict").ask(400, "POST", trigger, "{}");
        asking.with("Idempotency-Key", "s_1").ask(200, "POST", trigger, "{}");
        asking.without().with("Idempotency-Key", "s_2").ask(409, "POST", trigger, "{}");
        asking.named("flagged").with("Idempotency-Key", "f_1").ask(200, "POST", trigger, "{}");
        asking.without().with("Idempotency-Key", "f_2").ask(200, "POST", trigger, "{}");
    }

    private static void events(Asking asking) throws Exception {
        asking.publish("wanting", "trigger: {events: [{type: paid, when: \"${ event.data.amount > 1 }\"}]}\n");
        asking.publish("picky", "trigger: {events: [{type: paid}]}\ninput: {a: {type: integer, required: true}}\n");
        String event = "{\"id\":\"1\",\"source\":\"/shop\",\"type\":\"paid\",\"data\":{\"amount\":2}}";
        JsonNode first = StrictJson.parse(asking.ask(200, "POST", "/v1/events", event).body());
        asking.event(first.path("event").path("event_id").asString());
        asking.ask(200, "POST", "/v1/events", event.replace("2", "3"));
        asking.ask(200, "POST", "/v1/events", event.replace("amount", "total").replace("\"1\"", "\"2\""));
        asking.ask(200, "POST", "/v1/events", "[" + event + ",{\"id\":\"\"}]");
        asking.ask(400, "POST", "/v1/events", "{\"id\":\"1\"}");
        asking.ask(200, "GET", "/v1/events?type=paid&limit=1", "");
        asking.ask(200, "GET", "/v1/events?unmatched=true&since=2h&source=/shop", "");
        asking.ask(200, "GET", "/v1/events/{event_id}", "");
        asking.ask(200, "POST", "/v1/events/{event_id}/reprocess?dry_run=true", "");
        asking.ask(200, "POST", "/v1/events/{event_id}/reprocess", "");
        asking.ask(200, "POST", "/v1/events/reprocess", "{\"type\":\"paid\",\"dry_run\":true}");
        asking.ask(200, "POST", "/v1/events/reprocess", "");
    }

    private static void lists(Asking asking) throws Exception {
        asking.named("payment_receipt");
        asking.ask(200, "GET", "/v1/runs?limit=2&q=status:completed", "");
        asking.ask(200, "GET", "/v1/workflows/{id}/runs?q=replayed:true", "");
        asking.ask(200, "GET", "/v1/runs/{run_id}", "");
        asking.ask(200, "GET", "/v1/runs/{run_id}/timeline", "");
        asking.ask(200, "GET", "/v1/runs/{run_id}/timeline?limit=1&after=1", "");
        asking.ask(400, "GET", "/v1/runs/{run_id}/timeline?limit=1001", "");
        asking.ask(200, "GET", "/v1/runs/{run_id}/requests", "");
        asking.ask(200, "GET", "/v1/requests", "");
        asking.ask(200, "GET", "/v1/requests?q=kind:conflict+workflow:payment_receipt+since:1h", "");
        asking.ask(400, "GET", "/v1/requests?q=kind:odd", "");
        asking.ask(200, "GET", "/v1/keys?prefix=evt", "");
        asking.ask(200, "GET", "/v1/keys?workflow=payment_receipt&limit=1", "");
        asking.ask(404, "GET", "/v1/keys?workflow=nowhere", "");
        asking.ask(200, "GET", "/v1/keys/{key}?workflow=payment_receipt", "");
        asking.ask(200, "GET", "/v1/workflows", "");
        asking.ask(200, "GET", "/v1/workflows?summary=true&limit=1&name=lead", "");
        asking.ask(400, "GET", "/v1/workflows?limit=0", "");
        asking.ask(200, "GET", "/v1/workflows/{id}", "");
    }

    private static void versions(Asking asking) throws Exception {
        asking.publish("tried", "");
        String file = "semel: 1\nworkflow: tried\ntitle: Two\nsteps: [{id: note, set: {ok: true}}]\n";
        asking.typed("application/yaml").ask(200, "PUT", "/v1/workflows/{id}?share=10", file);
        asking.named("nowhere").ask(404, "PUT", "/v1/workflows/{id}?share=10", file.replace("tried", "nowhere"));
        asking.typed(JSON).named("tried");
        asking.ask(200, "GET", "/v1/workflows/{id}", "");
        asking.ask(200, "GET", "/v1/workflows/{id}/versions?limit=1", "");
        asking.ask(200, "GET", "/v1/workflows/{id}/versions/{version}", "");
        asking.ask(200, "GET", "/v1/workflows/{id}/diff?from=1&to=2", "");
        asking.ask(404, "GET", "/v1/workflows/{id}/diff?from=9", "");
        asking.ask(412, "POST", "/v1/workflows/{id}/promote", "{\"version\":9}");
        asking.ask(200, "POST", "/v1/workflows/{id}/promote", "");
        asking.ask(200, "POST", "/v1/workflows/{id}/rollback", "{\"version\":1}");
        asking.ask(400, "POST", "/v1/workflows/{id}/rollback", "");
        asking.ask(200, "GET", "/schema/workflow-1.json", "");
        asking.named("payment_receipt");
    }

    private static void operating(Asking asking) throws Exception {
        asking.ask(200, "POST", "/v1/workflows/{id}/pause", "");
        asking.ask(200, "POST", "/v1/workflows/{id}/trigger", "{}");
        asking.ask(200, "GET", "/v1/runs?q=status:queued", "");
        asking.ask(200, "POST", "/v1/workflows/{id}/resume", "");
        asking.ask(200, "POST", "/v1/runs/{run_id}/cancel", "{\"reason\":\"a test\"}");
        asking.ask(200, "POST", "/v1/runs/{run_id}/signals/{name}", "{\"data\":{}}");
        asking.ask(200, "POST", "/v1/signals/{name}", "{\"key\":\"order_1\",\"data\":{},\"id\":\"evt_1\"}");
        asking.ask(200, "POST", "/v1/signals/{name}", "{\"key\":\"order_1\",\"data\":{},\"id\":\"evt_1\"}");
        asking.ask(422, "POST", "/v1/signals/{name}", "{\"key\":\"order_2\",\"data\":{},\"id\":\"evt_1\"}");
        asking.ask(400, "POST", "/v1/signals/{name}", "{\"data\":{}}");
        asking.ask(200, "POST", "/v1/runs/{run_id}/decide", "{\"step\":\"x\",\"decision\":\"approve\"}");
        asking.ask(200, "POST", "/v1/keys/{key}/simulate", "{\"after\":\"30h\"}");
        asking.ask(200, "POST", "/v1/keys/{key}/extend", "{\"for\":\"48h\",\"reason\":\"a test\"}");
        asking.ask(200, "POST", "/v1/keys/{key}/release?dry_run=true", "{\"reason\":\"a test\"}");
        asking.ask(200, "POST", "/v1/keys/{key}/release", "{\"reason\":\"a test\"}");
        asking.ask(404, "POST", "/v1/keys/{key}/extend", "{\"for\":\"48h\",\"reason\":\"a test\"}");
        asking.with("Idempotency-Key", "change_1");
        asking.ask(200, "POST", "/v1/keys/{key}/release", "{\"reason\":\"a test\"}");
        asking.ask(200, "POST", "/v1/keys/{key}/release", "{\"reason\":\"a test\"}");
        asking.ask(422, "POST", "/v1/keys/{key}/release", "{\"reason\":\"another\"}");
        asking.without();
        asking.ask(200, "POST", "/v1/tokens", "{\"scopes\":[\"trigger\"],\"quota_per_minute\":1}");
        asking.ask(200, "GET", "/v1/tokens", "");
        asking.ask(200, "DELETE", "/v1/tokens/{token_id}", "");
        asking.ask(200, "GET", "/v1/workers", "");
        asking.ask(200, "GET", "/v1/audit?limit=1&q=action:key", "");
        asking.ask(200, "GET", "/v1/audit?format=jsonl", "");
        asking.ask(400, "GET", "/v1/audit?q=who:me", "");
        asking.ask(200, "GET", "/v1/signals?since=1h", "");
        asking.ask(400, "GET", "/v1/signals?since=yesterday", "");
        asking.ask(200, "GET", "/v1/facts?kind=conflict&limit=1", "");
        asking.ask(200, "GET", "/v1/facts?kind=replayed&workflow=payment_receipt", "");
        asking.ask(200, "GET", "/v1/facts?kind=written", "");
        asking.ask(200, "GET", "/v1/facts?kind=unkeyed", "");
        asking.ask(400, "GET", "/v1/facts?kind=odd", "");
        asking.ask(200, "GET", "/v1/objects?having=writes%3E0", "");
        asking.ask(200, "POST", "/v1/backtests", "{\"workflow\":\"payment_receipt\",\"windows\":[\"1h\"]}");
        asking.ask(400, "POST", "/v1/backtests", "{\"workflow\":\"payment_receipt\",\"windows\":[1]}");
        asking.ask(200, "GET", "/v1/audit", "");
        asking.ask(200, "GET", "/v1/openapi.json", "");
        asking.ask(200, "GET", "/docs/{page}", "");
        asking.ask(200, "GET", "/problems/{code}", "");
        asking.ask(200, "GET", "/healthz", "");
        asking.ask(200, "GET", "/readyz", "");
        asking.ask(200, "GET", "/metrics", "");
    }

    private static void incidents(Asking asking) throws Exception {
        String one = "/v1/incidents/{incident_id}";
        JsonNode made = StrictJson.parse(asking.ask(200, "POST", "/v1/incidents", "{\"since\":\"1h\",\"title\":\"Outage\"}")
                .body());
        asking.incident(made.path("incident_id").asString());
        asking.ask(400, "POST", "/v1/incidents", "{\"title\":\"Outage\"}");
        asking.ask(200, "GET", "/v1/incidents?limit=1", "");
        asking.ask(200, "GET", one, "");
        asking.ask(200, "PUT", one, "{\"answers\":{\"cause\":\"timing\"}}");
        asking.with("If-Match", "\"1\"").ask(412, "PUT", one, "{\"title\":\"Other\"}");
        asking.without().with("Accept", "text/markdown").ask(200, "GET", one, "");
        asking.without();
    }

    private static void schedules(Asking asking) throws Exception {
        String one = "/v1/workflows/{id}/schedules/{name}";
        asking.publish("timed", "trigger: {schedules: [{id: one, every: 1s, jitter: 1s}, {id: two, every: 365d}]}\n");
        asking.ask(200, "GET", "/v1/schedules?limit=1", "");
        Instant hour = Instant.now().minusSeconds(3_600);
        String span = "{\"from\":\"" + hour + "\",\"to\":\"" + hour.plusSeconds(2) + "\"}";
        asking.ask(200, "POST", one + "/backfill", span);
        asking.ask(200, "POST", one + "/backfill", span);
        asking.ask(400, "POST", one + "/backfill", "{\"from\":\"2026-01-01\",\"to\":\"2026-01-01T00:00:02Z\"}");
        asking.ask(
                400, "POST", one + "/backfill", "{\"from\":\"2020-01-01T00:00:00Z\",\"to\":\"2026-01-01T00:00:02Z\"}");
        asking.ask(200, "GET", one + "?next=3", "");
        asking.ask(400, "GET", one + "?next=1000", "");
        asking.ask(200, "GET", one + "/ticks?limit=1", "");
        asking.ask(400, "GET", one + "/ticks?after=x", "");
        asking.ask(200, "POST", one + "/pause", "");
        asking.with("Idempotency-Key", "resume_1").ask(200, "POST", one + "/resume", "");
        asking.ask(200, "POST", one + "/resume", "");
        asking.without();
        asking.named("payment_receipt");
    }

    private static void refusals(Asking asking) throws Exception {
        String trigger = "/v1/workflows/{id}/trigger";
        asking.ask(400, "POST", trigger, "{\"data\":{\"amount\":\"x\"}}");
        asking.ask(400, "POST", trigger, "{\"data\":");
        asking.with("Idempotency-Key", "\"").ask(400, "POST", trigger, "{}");
        asking.without().ask(413, "POST", trigger, " ".repeat((1 << 20) + 1));
        asking.named("nowhere").ask(404, "POST", trigger, "{}");
        asking.ask(404, "GET", "/v1/keys/{key}?workflow=nowhere", "");
        asking.ask(400, "GET", "/v1/runs?limit=0", "");
        asking.named("payment_receipt").typed("text/plain").ask(415, "POST", trigger, "{}");
        asking.typed("application/yaml").ask(400, "PUT", "/v1/workflows/{id}", "semel: 1\nworkflow: x\nstep: []\n");
        asking.typed(JSON).token("nobody").ask(401, "POST", trigger, "{}");
        asking.token(asking.newToken("{\"scopes\":[\"read\"]}")).ask(403, "POST", trigger, "{}");
        asking.token(asking.newToken("{\"scopes\":[\"trigger\"],\"quota_per_minute\":1}"))
                .ask(200, "POST", trigger, "{}");
        asking.ask(429, "POST", trigger, "{}");
    }

    private static OpenApi document() throws Exception {
        return OpenApi.parse(text());
    }

    private static String text() throws Exception {
        try (var in = ApiRoutes.class.getResourceAsStream("/dev/semel/server/openapi.json")) {
            return new String(
                    java.util.Objects.requireNonNull(in).readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
        }
    }
}
