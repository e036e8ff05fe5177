package dev.semel.trials.documents;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import dev.semel.error.ErrorCode;
import dev.semel.json.StrictJsonCodec;
import dev.semel.runtime.RuntimeOptions;
import dev.semel.runtime.SemelRuntime;
import dev.semel.server.ApiRoutes;
import dev.semel.server.access.ApiTokenStore;
import dev.semel.server.access.UserAccountStore;
import dev.semel.server.api.ApiDescription;
import dev.semel.server.connectors.notification.UnsubscribeLinks;
import dev.semel.server.files.steps.YamlStepDependencies;
import dev.semel.server.operations.PublishedYamlWorkflow;
import dev.semel.server.operations.system.PrometheusMetrics;
import dev.semel.server.settings.SecretEncryptionKeys;
import dev.semel.trials.architecture.SourceFile;
import dev.semel.trials.architecture.SourceTree;
import io.swagger.v3.parser.OpenAPIV3Parser;
import io.swagger.v3.parser.core.models.ParseOptions;
import java.net.http.HttpClient;
import java.nio.charset.StandardCharsets;
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
    void the_description_is_valid() throws Exception {
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
    void the_description_has_the_routes_and_scopes_of_the_router() throws Exception {
        TreeSet<String> routes = new TreeSet<>();
        try (SemelRuntime semel = SemelRuntime.open(RuntimeOptions.of(
                "sqlite:" + folder.resolve("a.db"),
                version -> PublishedYamlWorkflow.compile(version, _ -> YamlStepDependencies.UNAVAILABLE)))) {
            var settings =
                    new dev.semel.server.settings.WorkspaceSettingRepositories(semel, SecretEncryptionKeys.of(""));
            new ApiRoutes(semel, ApiTokenStore.serving(semel), new PrometheusMetrics(semel), false)
                    .addRoutesFor(settings)
                    .addWebhooks(settings, InstantSource.system(), "")
                    .addUnsubscribeLinks(settings, UnsubscribeLinks.NONE)
                    .addRoutesFor(UserAccountStore.serving(semel))
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
    void the_description_lists_every_error_code() throws Exception {
        List<String> listed = new ArrayList<>();
        document()
                .document()
                .at("/components/schemas/Problem/properties/code/enum")
                .forEach(code -> listed.add(code.asString()));
        assertEquals(Stream.of(ErrorCode.values()).map(ErrorCode::slug).toList(), listed);
    }

    @Test
    void the_examples_of_the_errors_page_match_the_server() throws Exception {
        SourceFile page = SourceTree.find().files().stream()
                .filter(file -> file.path().equals("docs/reference/errors.md"))
                .findFirst()
                .orElseThrow();
        List<String> seen = new ArrayList<>();
        for (CodeBlock block : CodeBlock.of(page)) {
            JsonNode example = StrictJsonCodec.parse(block.text());
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
    void responses_of_a_real_server_match_the_description() throws Exception {
        LocalServer server = new LocalServer();
        server.start();
        try (HttpClient client = HttpClient.newHttpClient()) {
            OpenApiClient asking = new OpenApiClient(client, server.url(), document());
            triggers(asking);
            events(asking);
            lists(asking);
            versions(asking);
            operating(asking);
            schedules(asking);
            ReviewApiCalls.ask(asking);
            SettingsApiCalls.ask(asking);
            incidents(asking);
            WebhookApiCalls.ask(asking);
            ReplayApiCalls.ask(asking);
            DashboardApiCalls.ask(asking);
            refusals(asking);
            assertEquals(List.of(), asking.faults);
            assertEquals(document().operations().size(), asking.operations.size(), "Not asked: " + asking.missing());
        } finally {
            server.stop();
        }
    }

    @Test
    void a_response_that_does_not_match_the_description_is_reported() throws Exception {
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

    private static void triggers(OpenApiClient client) throws Exception {
        String data = "{\"data\":{\"payment_id\":\"pay_1\",\"amount\":4900,\"currency\":\"usd\"}}";
        String trigger = "/v1/workflows/{id}/trigger";
        client.named("payment_receipt").with("Idempotency-Key", "evt_1");
        client.ask(200, "POST", trigger, data);
        client.ask(200, "POST", trigger + "?wait=30s", data);
        client.with("Prefer", "wait=1, handling=strict").ask(200, "POST", trigger, data);
        client.ask(422, "POST", trigger, data.replace("4900", "5900"));
        client.without().ask(200, "POST", trigger, "{\"data\":{\"task_id\":\"t\"},\"more\":1}");
        client.ask(200, "PUT", "/v1/workflows/{id}/runs/{run_id}", data);
        client.ask(
                200,
                "POST",
                "/v1/workflows/{id}/trigger-batch",
                "{\"items\":[{\"key\":\"b_1\",\"data\":{}},{\"key\":\"b_1\",\"data\":{}},{\"key\":\"\"}]}");
        client.publish("loose", "");
        client.publish("strict", "idempotency: {duplicate_payload: reject}\ntrigger: {http: {require_key: true}}\n");
        client.publish("flagged", "idempotency: {duplicate_payload: flag, on_failed: run_again}\n");
        client.named("loose").with("Idempotency-Key", "l_1").ask(200, "POST", trigger, "{\"data\":{\"a\":1}}");
        client.ask(200, "POST", trigger, "{\"data\":{\"a\":2}}");
        client.named("strict").ask(400, "POST", trigger, "{}");
        client.with("Idempotency-Key", "s_1").ask(200, "POST", trigger, "{}");
        client.without().with("Idempotency-Key", "s_2").ask(409, "POST", trigger, "{}");
        client.named("flagged").with("Idempotency-Key", "f_1").ask(200, "POST", trigger, "{}");
        client.without().with("Idempotency-Key", "f_2").ask(200, "POST", trigger, "{}");
    }

    private static void events(OpenApiClient client) throws Exception {
        client.publish("wanting", "trigger: {events: [{type: paid, when: \"${ event.data.amount > 1 }\"}]}\n");
        client.publish("picky", "trigger: {events: [{type: paid}]}\ninput: {a: {type: integer, required: true}}\n");
        String event = "{\"id\":\"1\",\"source\":\"/shop\",\"type\":\"paid\",\"data\":{\"amount\":2}}";
        JsonNode first = StrictJsonCodec.parse(
                client.ask(200, "POST", "/v1/events", event).body());
        client.event(first.path("event").path("event_id").asString());
        client.ask(200, "POST", "/v1/events", event.replace("2", "3"));
        client.ask(200, "POST", "/v1/events", event.replace("amount", "total").replace("\"1\"", "\"2\""));
        client.ask(200, "POST", "/v1/events", "[" + event + ",{\"id\":\"\"}]");
        client.ask(400, "POST", "/v1/events", "{\"id\":\"1\"}");
        client.ask(200, "GET", "/v1/events?type=paid&limit=1", "");
        client.ask(200, "GET", "/v1/events?unmatched=true&since=2h&source=/shop", "");
        client.ask(200, "GET", "/v1/events/{event_id}", "");
        client.ask(200, "POST", "/v1/events/{event_id}/reprocess?dry_run=true", "");
        client.ask(200, "POST", "/v1/events/{event_id}/reprocess", "");
        client.ask(200, "POST", "/v1/events/reprocess", "{\"type\":\"paid\",\"dry_run\":true}");
        client.ask(200, "POST", "/v1/events/reprocess", "");
    }

    private static void lists(OpenApiClient client) throws Exception {
        client.named("payment_receipt");
        client.ask(200, "GET", "/v1/runs?limit=2&q=status:completed", "");
        client.ask(200, "GET", "/v1/workflows/{id}/runs?q=replayed:true", "");
        client.ask(200, "GET", "/v1/runs/{run_id}", "");
        client.ask(200, "GET", "/v1/runs/{run_id}/timeline", "");
        client.ask(200, "GET", "/v1/runs/{run_id}/timeline?limit=1&after=1", "");
        client.ask(400, "GET", "/v1/runs/{run_id}/timeline?limit=1001", "");
        client.ask(200, "GET", "/v1/runs/{run_id}/requests", "");
        client.ask(200, "GET", "/v1/recovery", "");
        client.ask(200, "GET", "/v1/requests", "");
        client.ask(200, "GET", "/v1/requests?q=kind:conflict+workflow:payment_receipt+since:1h", "");
        client.ask(400, "GET", "/v1/requests?q=kind:odd", "");
        client.ask(200, "GET", "/v1/keys?prefix=evt", "");
        client.ask(200, "GET", "/v1/keys?workflow=payment_receipt&limit=1", "");
        client.ask(404, "GET", "/v1/keys?workflow=nowhere", "");
        client.ask(200, "GET", "/v1/keys/{key}?workflow=payment_receipt", "");
        client.ask(200, "GET", "/v1/workflows", "");
        client.ask(200, "GET", "/v1/workflows?summary=true&limit=1&name=lead", "");
        client.ask(400, "GET", "/v1/workflows?limit=0", "");
        client.ask(200, "GET", "/v1/workflows/{id}", "");
    }

    private static void versions(OpenApiClient client) throws Exception {
        client.publish("tried", "");
        String file = "semel: 1\nworkflow: tried\ntitle: Two\nsteps: [{id: note, set: {ok: true}}]\n";
        client.typed("application/yaml").ask(200, "PUT", "/v1/workflows/{id}?percentage=10", file);
        client.named("nowhere").ask(404, "PUT", "/v1/workflows/{id}?percentage=10", file.replace("tried", "nowhere"));
        client.typed(JSON).named("tried");
        client.ask(200, "GET", "/v1/workflows/{id}", "");
        client.ask(200, "GET", "/v1/workflows/{id}/versions?limit=1", "");
        client.ask(200, "GET", "/v1/workflows/{id}/versions/{version}", "");
        client.ask(200, "GET", "/v1/workflows/{id}/diff?from=1&to=2", "");
        client.ask(404, "GET", "/v1/workflows/{id}/diff?from=9", "");
        client.ask(412, "POST", "/v1/workflows/{id}/promote", "{\"version\":9}");
        client.ask(200, "POST", "/v1/workflows/{id}/promote", "");
        client.ask(200, "POST", "/v1/workflows/{id}/rollback", "{\"version\":1}");
        client.ask(400, "POST", "/v1/workflows/{id}/rollback", "");
        client.ask(200, "GET", "/schema/workflow-1.json", "");
        client.named("payment_receipt");
    }

    private static void operating(OpenApiClient client) throws Exception {
        client.ask(200, "POST", "/v1/workflows/{id}/pause", "");
        client.ask(200, "POST", "/v1/workflows/{id}/trigger", "{}");
        client.ask(200, "GET", "/v1/runs?q=status:queued", "");
        client.ask(200, "POST", "/v1/workflows/{id}/resume", "");
        client.ask(200, "POST", "/v1/runs/{run_id}/cancel", "{\"reason\":\"a test\"}");
        client.ask(200, "POST", "/v1/runs/{run_id}/signals/{name}", "{\"data\":{}}");
        client.ask(200, "POST", "/v1/signals/{name}", "{\"key\":\"order_1\",\"data\":{},\"id\":\"evt_1\"}");
        client.ask(200, "POST", "/v1/signals/{name}", "{\"key\":\"order_1\",\"data\":{},\"id\":\"evt_1\"}");
        client.ask(422, "POST", "/v1/signals/{name}", "{\"key\":\"order_2\",\"data\":{},\"id\":\"evt_1\"}");
        client.ask(400, "POST", "/v1/signals/{name}", "{\"data\":{}}");
        client.ask(200, "POST", "/v1/runs/{run_id}/decide", "{\"step\":\"x\",\"decision\":\"approve\"}");
        client.ask(200, "POST", "/v1/keys/{key}/simulate", "{\"after\":\"30h\"}");
        client.ask(200, "POST", "/v1/keys/{key}/extend", "{\"for\":\"48h\",\"reason\":\"a test\"}");
        client.ask(200, "POST", "/v1/keys/{key}/release?dry_run=true", "{\"reason\":\"a test\"}");
        client.ask(200, "POST", "/v1/keys/{key}/release", "{\"reason\":\"a test\"}");
        client.ask(404, "POST", "/v1/keys/{key}/extend", "{\"for\":\"48h\",\"reason\":\"a test\"}");
        client.with("Idempotency-Key", "change_1");
        client.ask(200, "POST", "/v1/keys/{key}/release", "{\"reason\":\"a test\"}");
        client.ask(200, "POST", "/v1/keys/{key}/release", "{\"reason\":\"a test\"}");
        client.ask(422, "POST", "/v1/keys/{key}/release", "{\"reason\":\"another\"}");
        client.without();
        client.ask(200, "POST", "/v1/tokens", "{\"scopes\":[\"trigger\"],\"quota_per_minute\":1}");
        client.ask(200, "GET", "/v1/tokens", "");
        client.ask(200, "DELETE", "/v1/tokens/{token_id}", "");
        client.ask(200, "GET", "/v1/workers", "");
        client.ask(200, "GET", "/v1/clock", "");
        client.ask(200, "POST", "/v1/clock/confirm", "");
        client.ask(200, "GET", "/v1/audit?limit=1&q=action:key", "");
        client.ask(200, "GET", "/v1/audit?format=jsonl", "");
        client.ask(400, "GET", "/v1/audit?q=who:me", "");
        client.ask(200, "GET", "/v1/monitoring?since=1h", "");
        client.ask(400, "GET", "/v1/monitoring?since=yesterday", "");
        client.ask(200, "GET", "/v1/facts?kind=conflict&limit=1", "");
        client.ask(200, "GET", "/v1/facts?kind=replayed&workflow=payment_receipt", "");
        client.ask(200, "GET", "/v1/facts?kind=written", "");
        client.ask(200, "GET", "/v1/facts?kind=unkeyed", "");
        client.ask(400, "GET", "/v1/facts?kind=odd", "");
        client.ask(200, "GET", "/v1/objects?having=writes%3E0", "");
        client.ask(200, "POST", "/v1/backtests", "{\"workflow\":\"payment_receipt\",\"windows\":[\"1h\"]}");
        client.ask(400, "POST", "/v1/backtests", "{\"workflow\":\"payment_receipt\",\"windows\":[1]}");
        client.ask(200, "GET", "/v1/audit", "");
        client.ask(200, "GET", "/v1/openapi.json", "");
        client.ask(200, "GET", "/docs/{page}", "");
        client.ask(200, "GET", "/llms.txt", "");
        client.ask(200, "GET", "/llms-full.txt", "");
        client.ask(200, "GET", "/problems/{code}", "");
        client.ask(200, "GET", "/healthz", "");
        client.ask(200, "GET", "/readyz", "");
        client.ask(200, "GET", "/metrics", "");
    }

    private static void incidents(OpenApiClient client) throws Exception {
        String one = "/v1/incidents/{incident_id}";
        JsonNode made = StrictJsonCodec.parse(
                client.ask(200, "POST", "/v1/incidents", "{\"since\":\"1h\",\"title\":\"Outage\"}")
                        .body());
        client.incident(made.path("incident_id").asString());
        client.ask(400, "POST", "/v1/incidents", "{\"title\":\"Outage\"}");
        client.ask(200, "GET", "/v1/incidents?limit=1", "");
        client.ask(200, "GET", one, "");
        client.ask(200, "PUT", one, "{\"answers\":{\"cause\":\"timing\"}}");
        client.with("If-Match", "\"1\"").ask(412, "PUT", one, "{\"title\":\"Other\"}");
        client.without().with("Accept", "text/markdown").ask(200, "GET", one, "");
        client.without();
    }

    private static void schedules(OpenApiClient client) throws Exception {
        String one = "/v1/workflows/{id}/schedules/{name}";
        client.publish("timed", "trigger: {schedules: [{id: one, every: 1s, jitter: 1s}, {id: two, every: 365d}]}\n");
        client.ask(200, "GET", "/v1/schedules?limit=1", "");
        Instant hour = Instant.now().minusSeconds(3_600);
        String span = "{\"from\":\"" + hour + "\",\"to\":\"" + hour.plusSeconds(2) + "\"}";
        client.ask(200, "POST", one + "/backfill", span);
        client.ask(200, "POST", one + "/backfill", span);
        client.ask(400, "POST", one + "/backfill", "{\"from\":\"2026-01-01\",\"to\":\"2026-01-01T00:00:02Z\"}");
        client.ask(
                400, "POST", one + "/backfill", "{\"from\":\"2020-01-01T00:00:00Z\",\"to\":\"2026-01-01T00:00:02Z\"}");
        client.ask(200, "GET", one + "?next=3", "");
        client.ask(400, "GET", one + "?next=1000", "");
        client.ask(200, "GET", one + "/ticks?limit=1", "");
        client.ask(400, "GET", one + "/ticks?after=x", "");
        client.ask(200, "POST", one + "/pause", "");
        client.with("Idempotency-Key", "resume_1").ask(200, "POST", one + "/resume", "");
        client.ask(200, "POST", one + "/resume", "");
        client.without();
        client.named("payment_receipt");
    }

    private static void refusals(OpenApiClient client) throws Exception {
        String trigger = "/v1/workflows/{id}/trigger";
        client.ask(400, "POST", trigger, "{\"data\":{\"amount\":\"x\"}}");
        client.ask(400, "POST", trigger, "{\"data\":");
        client.with("Idempotency-Key", "\"").ask(400, "POST", trigger, "{}");
        client.without().ask(413, "POST", trigger, " ".repeat((1 << 20) + 1));
        client.named("nowhere").ask(404, "POST", trigger, "{}");
        client.ask(404, "GET", "/v1/keys/{key}?workflow=nowhere", "");
        client.ask(400, "GET", "/v1/runs?limit=0", "");
        client.named("payment_receipt").typed("text/plain").ask(415, "POST", trigger, "{}");
        client.typed("application/yaml").ask(400, "PUT", "/v1/workflows/{id}", "semel: 1\nworkflow: x\nstep: []\n");
        client.typed(JSON).token("nobody").ask(401, "POST", trigger, "{}");
        client.token(client.newToken("{\"scopes\":[\"read\"]}")).ask(403, "POST", trigger, "{}");
        client.token(client.newToken("{\"scopes\":[\"trigger\"],\"quota_per_minute\":1}"))
                .ask(200, "POST", trigger, "{}");
        client.ask(429, "POST", trigger, "{}");
    }

    private static OpenApi document() throws Exception {
        return OpenApi.parse(text());
    }

    private static String text() {
        return new String(ApiDescription.openApi(), StandardCharsets.UTF_8);
    }
}
