package dev.semel.trials.http;

import static dev.semel.trials.support.SampleWorkflows.data;
import static dev.semel.trials.support.SampleWorkflows.flow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.LiveServer;
import dev.semel.trials.support.OnBothStores;
import dev.semel.trials.support.ProblemResponseChecks;
import dev.semel.trials.support.ServerFixture;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Tokens, scopes, and the addresses for machines. */
class TokensTest extends OnBothStores {
    private static final List<String> SCOPES = List.of("trigger", "read", "operate", "review", "admin");

    TokensTest(ServerFixture stage) {
        super(stage);
    }

    @Test
    void a_token_is_shown_once_listed_without_its_secret_and_invalid_when_revoked() {
        HttpReply made = admin().post(
                        "/v1/tokens",
                        "{\"name\": \"robot\", \"scopes\": [\"read\", \"trigger\"], \"quota_per_minute\": 9}");
        String secret = made.expect(200).text("token");
        String id = made.text("token_id");
        assertEquals("no-store", made.header("Cache-Control"));
        assertFalse(made.json().get("created_at").isNull(), made.body());
        HttpReply list = admin().get("/v1/tokens").expect(200);
        assertFalse(list.body().contains(secret), "the list shows a secret");
        JsonNode listed = find(list.json().get("items"), id);
        assertEquals("[\"trigger\",\"read\"]", listed.get("scopes").toString());
        assertEquals("robot", listed.get("name").asString());
        assertEquals(9, listed.get("quota_per_minute").asInt());
        assertTrue(listed.get("revoked_at").isNull());
        assertFalse(listed.has("token") || listed.has("hash"), listed::toString);
        stage.server().as(secret).get("/v1/runs").expect(200);
        admin().delete("/v1/tokens/" + id).expect(200);
        ProblemResponseChecks.expect(stage.server().as(secret).get("/v1/runs"), 401, "unauthenticated");
        ProblemResponseChecks.expect(admin().delete("/v1/tokens/" + id), 404, "not-found");
        assertFalse(find(admin().get("/v1/tokens").json().get("items"), id)
                .get("revoked_at")
                .isNull());
        assertTrue(admin().get("/v1/audit").body().contains(id), "a revocation is audited");
    }

    @Test
    void the_store_holds_no_secret() throws Exception {
        String secret = stage.server().token("\"name\": \"hidden\"", "read");
        try (var connection = stage.connect();
                var statement = connection.createStatement();
                var row = statement.executeQuery("SELECT token_id, name, hash, scopes FROM semel_token")) {
            int seen = 0;
            while (row.next()) {
                seen++;
                assertEquals(32, row.getBytes(3).length);
                assertFalse((row.getString(1) + row.getString(2) + row.getString(4)).contains(secret));
            }
            assertTrue(seen > 1);
        }
    }

    @Test
    void an_invalid_token_request_creates_none() {
        stage.server();
        String before = stage.rows();
        for (String body : new String[] {
            "{}",
            "{\"scopes\": []}",
            "{\"scopes\": [\"root\"]}",
            "{\"scopes\": [\"open\"]}",
            "{\"scopes\": [5]}",
            "{\"scopes\": [\"read\"], \"quota_per_minute\": -1}",
            "{\"scopes\": [\"read\"], \"quota_per_minute\": \"9\"}",
            "{\"scopes\": [\"read\"], \"quota_per_minute\": 99999999}",
            "{\"scopes\": [\"read\"], \"quota_per_minute\": 1.5}",
            "{\"scopes\": [\"read\"], \"workspace\": \"Not A Name\"}",
            "{\"scopes\": [\"read\"], \"name\": \"a\\nb\"}",
            "{\"scopes\": \"read\"}",
            "[]",
            "{\"workspace\": \"left-behind\", \"scopes\": []}",
            "{\"scopes\": {\"a\": \"read\"}}"
        }) {
            ProblemResponseChecks.expect(admin().post("/v1/tokens", body), 400, "invalid-input");
        }
        assertEquals(before, stage.rows());
    }

    @Test
    void every_route_requires_its_own_scope_and_admin_implies_no_other() {
        admin().publish(flow("plain")).expect(200);
        Map<String, ApiCaller> callers = new TreeMap<>();
        for (String scope : SCOPES) {
            callers.put(scope, stage.server().with(scope));
        }
        Map<String, String> routes = new TreeMap<>(Map.ofEntries(
                Map.entry("POST /v1/workflows/plain/trigger", "trigger"),
                Map.entry("POST /v1/workflows/plain/trigger-batch", "trigger"),
                Map.entry("PUT /v1/workflows/plain/runs/scope-1", "trigger"),
                Map.entry("GET /v1/workflows", "read"),
                Map.entry("GET /v1/workflows/plain", "read"),
                Map.entry("PUT /v1/workflows/plain", "admin"),
                Map.entry("POST /v1/workflows/plain/pause", "operate"),
                Map.entry("POST /v1/workflows/plain/resume", "operate"),
                Map.entry("GET /v1/workflows/plain/runs", "read"),
                Map.entry("GET /v1/workflows/plain/log", "read"),
                Map.entry("GET /v1/runs", "read"),
                Map.entry("GET /v1/runs/x", "read"),
                Map.entry("GET /v1/runs/x/timeline", "read"),
                Map.entry("GET /v1/runs/x/requests", "read"),
                Map.entry("GET /v1/requests", "read"),
                Map.entry("GET /v1/keys", "read"),
                Map.entry("GET /v1/keys/x", "read"),
                Map.entry("POST /v1/keys/x/release", "operate"),
                Map.entry("POST /v1/tokens", "admin"),
                Map.entry("GET /v1/tokens", "admin"),
                Map.entry("DELETE /v1/tokens/x", "admin"),
                Map.entry("GET /v1/audit", "read"),
                Map.entry("GET /v1/openapi.json", "read"),
                Map.entry("GET /metrics", "read")));
        routes.forEach((route, scope) -> callers.forEach((has, caller) -> {
            HttpReply reply = caller.send(route.split(" ")[0], route.split(" ")[1], "");
            if (has.equals(scope)) {
                assertFalse(reply.status() == 403 || reply.status() == 401, () -> route + " " + has + " " + reply);
            } else {
                assertEquals(
                        scope,
                        ProblemResponseChecks.expect(reply, 403, "forbidden").text("scope"),
                        route);
            }
        }));
    }

    @Test
    void the_first_token_is_in_a_file_readable_by_its_owner_only() throws Exception {
        stage.server();
        Path file = stage.data().resolve("admin-token");
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
        assertFalse(stage.log().text().contains(Files.readString(file).strip()), "the log shows the first token");
    }

    @Test
    void health_is_open_and_says_nothing_private() {
        for (String path : new String[] {"/healthz", "/readyz"}) {
            HttpReply reply = stage.server().stranger().get(path).expect(200);
            assertTrue(
                    reply.body().matches("\\{\"status\":\"(ok|ready)\"(,\"durability\":\"(un)?safe\")?}"),
                    reply.body());
            assertNull(reply.header("Server"));
        }
    }

    @Test
    void metrics_need_the_scope_read_and_parse_as_prometheus_text() {
        admin().publish(flow("plain")).expect(200);
        String key = stage.key() + "-" + ServerFixture.CANARY;
        admin().trigger("plain", key, data("")).expect(200);
        admin().trigger("plain", key, data("")).expect(200);
        ProblemResponseChecks.expect(stage.server().stranger().get("/metrics"), 401, "unauthenticated");
        ProblemResponseChecks.expect(stage.server().with("trigger").get("/metrics"), 403, "forbidden");
        HttpReply reply = stage.server().with("read").get("/metrics").expect(200);
        assertPrometheus(reply);
        assertTrue(reply.body().contains("semel_triggers_replayed"), reply.body());
        assertFalse(reply.body().contains(key), "a metric shows a key");
    }

    @Test
    void metrics_show_names_of_other_workspaces_only_with_the_scope_server() {
        admin().publish(flow("of_ours")).expect(200);
        admin().trigger("of_ours", stage.key(), data("")).expect(200);
        ApiCaller theirs =
                stage.server().as(stage.server().token("\"name\":\"t\",\"workspace\":\"theirs\"", "admin", "trigger"));
        theirs.publish(flow("of_theirs")).expect(200);
        theirs.trigger("of_theirs", stage.key(), data("")).expect(200);
        String read = theirs.post("/v1/tokens", "{\"name\":\"r\",\"scopes\":[\"read\"]}")
                .expect(200)
                .text("token");
        String reported = stage.server().as(read).get("/metrics").expect(200).body();
        assertTrue(reported.contains("workflow=\"of_theirs\""), reported);
        assertFalse(reported.contains("of_ours"), reported);
        assertFalse(reported.contains("workspace=\"default\""), reported);
        for (String scope : List.of("operate", "admin")) {
            String ours = stage.server()
                    .with("read", scope)
                    .get("/metrics")
                    .expect(200)
                    .body();
            assertFalse(ours.contains("theirs"), ours);
        }
        String all = stage.server()
                .with("read", "server")
                .get("/metrics")
                .expect(200)
                .body();
        assertTrue(all.contains("of_ours") && all.contains("of_theirs"), all);
    }

    @Test
    void in_dev_metrics_are_open_and_dev_is_a_token_and_in_serve_not(@TempDir Path folder) {
        ProblemResponseChecks.expect(stage.server().as("dev").get("/v1/runs"), 401, "unauthenticated");
        try (LiveServer dev = LiveServer.dev("sqlite:" + folder.resolve("dev.db"), folder)) {
            assertPrometheus(dev.stranger().get("/metrics").expect(200));
            dev.as("dev").get("/v1/runs").expect(200);
            ProblemResponseChecks.expect(dev.stranger().get("/v1/runs"), 401, "unauthenticated");
            assertFalse(Files.exists(folder.resolve("admin-token")));
        }
    }

    private static void assertPrometheus(HttpReply reply) {
        assertTrue(String.valueOf(reply.header("Content-Type")).startsWith("text/plain; version=0.0.4"));
        String sample = "[a-zA-Z_:][a-zA-Z0-9_:]*(\\{([a-zA-Z_][a-zA-Z0-9_]*=\"([^\"\\\\\\n]|\\\\.)*\",?)*})? "
                + "(NaN|[+-]?Inf|[+-]?[0-9.]+([eE][+-]?[0-9]+)?)( [0-9]+)?";
        assertTrue(reply.body().endsWith("\n"));
        for (String line : reply.body().split("\n")) {
            assertTrue(line.startsWith("# HELP ") || line.startsWith("# TYPE ") || line.matches(sample), line);
        }
    }

    private static JsonNode find(JsonNode items, String id) {
        for (JsonNode item : items) {
            if (item.get("token_id").asString().equals(id)) {
                return item;
            }
        }
        throw new AssertionError("no token " + id);
    }

    private ApiCaller admin() {
        return stage.admin();
    }
}
