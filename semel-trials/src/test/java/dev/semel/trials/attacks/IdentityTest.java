package dev.semel.trials.attacks;

import static dev.semel.trials.support.SampleWorkflows.data;
import static dev.semel.trials.support.SampleWorkflows.flow;
import static dev.semel.trials.support.TriggerResponseChecks.replay;
import static dev.semel.trials.support.TriggerResponseChecks.started;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.OnBothStores;
import dev.semel.trials.support.ProblemResponseChecks;
import dev.semel.trials.support.RawConnection;
import dev.semel.trials.support.ServerFixture;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Who asks, and what belongs to whom. Identity comes from the credential and from nothing else. */
class IdentityTest extends OnBothStores {
    IdentityTest(ServerFixture stage) {
        super(stage);
    }

    @Test
    void s3_no_path_spelling_bypasses_authentication() {
        admin().publish(flow("plain")).expect(200);
        started(admin().trigger("plain", stage.key(), data("")));
        for (String path : List.of(
                "/v1/runs",
                "/v1/runs/",
                "/v1/runs/configs",
                "/v1/runs;/healthz",
                "/v1/runs;a=b",
                "//v1/runs",
                "/v1//runs",
                "/healthz/../v1/runs",
                "/healthz/%2e%2e/v1/runs",
                "/v1/%72uns",
                "/%76%31/runs",
                "/V1/RUNS",
                "/v1/Runs",
                "/v1/runs%2f",
                "/v1/runs%00",
                "/v1/./runs",
                "/v1/runs.json",
                "/v1/runs?token=dev",
                "/v1",
                "/v1/",
                "/metrics",
                "/metrics/",
                "/readyz/../metrics",
                "/healthz;/../metrics")) {
            HttpReply reply = stage.server().stranger().get(path);
            assertTrue(
                    reply.status() == 401 || reply.status() == 404 || reply.status() == 400, () -> path + " " + reply);
            ProblemResponseChecks.check(reply);
            assertFalse(reply.body().contains("run_id"), path);
        }
        admin().get("/v1/runs").expect(200);
    }

    @Test
    void s3_no_method_bypasses_authentication() {
        for (String method :
                new String[] {"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "get", "FOO"}) {
            for (String path : new String[] {"/v1/runs", "/v1/tokens", "/v1/workflows/payment_receipt/trigger"}) {
                try (RawConnection wire = stage.server().wire()) {
                    wire.send(stage.server().stranger().head(method, path) + "\r\n");
                    String answer = wire.untilClosed();
                    assertTrue(
                            answer.matches("(?s)HTTP/1.1 (401|400|405) .*"), () -> method + " " + path + " " + answer);
                }
            }
        }
        for (String header :
                new String[] {"X-HTTP-Method-Override: GET", "X-Original-URL: /v1/runs", "X-Rewrite-URL: /v1/runs"}) {
            assertFalse(stage.server()
                    .stranger()
                    .send("GET", "/healthz", "", header)
                    .body()
                    .contains("items"));
        }
    }

    @Test
    void s4_a_credential_is_one_plain_bearer_header() {
        String good = stage.server().adminToken();
        for (String lines : List.of(
                "Authorization: Bearer " + good + "\r\nAuthorization: Bearer " + good,
                "Authorization: Bearer",
                "Authorization: Bearer ",
                "Authorization: bearer",
                "Authorization: " + good,
                "Authorization: Basic " + good,
                "Authorization: Bearer " + good + ", Bearer " + good,
                "Authorization: Bearer " + good + " x",
                "Authorization: Bearer \"" + good + "\"",
                "Authorization: Bearer " + "t".repeat(600),
                "Authorization: Bearer " + good.substring(1),
                "Authorization: Bearer " + good.toUpperCase(java.util.Locale.ROOT),
                "Authorization: Bearer " + good + "=",
                "Authorization: Token " + good,
                "X-Api-Key: " + good,
                "Cookie: token=" + good)) {
            HttpReply reply = stage.server().stranger().send("GET", "/v1/runs", "", lines.split("\r\n"));
            ProblemResponseChecks.expect(reply, 401, "unauthenticated");
            assertFalse(reply.body().contains(good), reply.body());
        }
        ProblemResponseChecks.expect(stage.server().stranger().get("/v1/runs?api_key=" + good), 401, "unauthenticated");
        ProblemResponseChecks.expect(
                stage.server().stranger().get("/v1/runs?access_token=" + good), 401, "unauthenticated");
        for (String line : List.of("Authorization: Bearer a\0b", "Authorization: Bearer " + "t".repeat(64 << 10))) {
            try (RawConnection wire = stage.server().wire()) {
                wire.tryToSend((stage.server().stranger().head("GET", "/v1/runs", line) + "\r\n")
                        .getBytes(java.nio.charset.StandardCharsets.ISO_8859_1));
                String answer = wire.untilClosed();
                assertTrue(answer.isEmpty() || answer.startsWith("HTTP/1.1 400 "), answer);
            }
        }
        assertFalse(stage.log().text().contains(good), "the log shows a token");
        admin().get("/v1/runs").expect(200);
    }

    @Test
    void s5_a_token_is_looked_up_by_its_digest_and_no_part_of_it_is_enough() throws Exception {
        String secret = stage.server().token("\"name\": \"digest\"", "read");
        for (int length = 1; length < secret.length(); length += 5) {
            stage.server().as(secret.substring(0, length)).get("/v1/runs").expect(401);
            stage.server()
                    .as(secret.substring(0, length) + "x".repeat(secret.length() - length))
                    .get("/v1/runs")
                    .expect(401);
        }
        stage.server().as(secret + "x").get("/v1/runs").expect(401);
        byte[] digest =
                MessageDigest.getInstance("SHA-256").digest(secret.getBytes(java.nio.charset.StandardCharsets.UTF_8));
        try (var connection = stage.connect();
                var statement = connection.prepareStatement("SELECT count(*) FROM semel_token WHERE hash = ?")) {
            statement.setBytes(1, digest);
            try (var row = statement.executeQuery()) {
                row.next();
                assertEquals(1, row.getInt(1));
            }
        }
        stage.server().as(HexFormat.of().formatHex(digest)).get("/v1/runs").expect(401);
    }

    @Test
    void s6_resources_of_another_workspace_look_nonexistent() {
        ApiCaller other = otherWorkspace("s-six");
        other.publish(flow("theirs")).expect(200);
        HttpReply run = started(other.trigger("theirs", "their-key", data("")));
        other.put("/v1/workflows/theirs/runs/their-run", data("")).expect(200);
        String token = other.get("/v1/tokens").json().at("/items/0/token_id").asString();
        // An id says when it was made, and so does the refusal; nobody has this one, of the same moment.
        String id = run.runId();
        String nobodys = id.substring(0, id.length() - 1) + (id.endsWith("a") ? "b" : "a");
        String[][] pairs = {
            {"GET", "/v1/runs/" + id, "/v1/runs/" + nobodys},
            {"GET", "/v1/runs/their-run", "/v1/runs/no-run"},
            {"GET", "/v1/runs/" + id + "/timeline", "/v1/runs/" + nobodys + "/timeline"},
            {"GET", "/v1/runs/" + id + "/requests", "/v1/runs/" + nobodys + "/requests"},
            {"GET", "/v1/workflows/theirs", "/v1/workflows/none"},
            {"GET", "/v1/workflows/" + run.text("workflow_id"), "/v1/workflows/wf_0"},
            {"GET", "/v1/workflows/theirs/runs", "/v1/workflows/none/runs"},
            {"GET", "/v1/keys/their-key", "/v1/keys/no-key"},
            {"GET", "/v1/runs?q=workflow:theirs", "/v1/runs?q=workflow:none"},
            {"POST", "/v1/keys/their-key/release", "/v1/keys/no-key/release"},
            {"POST", "/v1/workflows/theirs/pause", "/v1/workflows/none/pause"},
            {"POST", "/v1/workflows/theirs/resume", "/v1/workflows/none/resume"},
            {"POST", "/v1/workflows/" + run.text("workflow_id") + "/trigger", "/v1/workflows/none/trigger"},
            {"PUT", "/v1/workflows/theirs/runs/their-run", "/v1/workflows/none/runs/their-run"},
            {"DELETE", "/v1/tokens/" + token, "/v1/tokens/tok_0"}
        };
        for (String[] pair : pairs) {
            String body = pair[0].equals("POST") && pair[1].endsWith("release") ? "{\"reason\": \"r\"}" : "";
            HttpReply theirs = admin().send(pair[0], pair[1], body, "Content-Type: application/json");
            HttpReply none = admin().send(pair[0], pair[2], body, "Content-Type: application/json");
            ProblemResponseChecks.expect(theirs, 404, "not-found");
            assertEquals(withoutInstance(none), withoutInstance(theirs), pair[1]);
        }
        other.get("/v1/runs/" + run.runId()).expect(200);
        assertEquals("active", other.get("/v1/keys/their-key").text("status"));
        assertFalse(other.get("/v1/workflows/theirs").flag("paused"));
    }

    @Test
    void s6_lists_show_only_the_callers_own_workspace() {
        ApiCaller other = otherWorkspace("s-six-lists");
        other.publish(flow("private_flow")).expect(200);
        String run =
                started(other.trigger("private_flow", "private-key", data(""))).runId();
        other.trigger("private_flow", "private-key", data("")).expect(200);
        for (String list :
                new String[] {"/v1/runs", "/v1/keys", "/v1/requests", "/v1/audit", "/v1/workflows", "/v1/tokens"}) {
            String body = admin().get(list).expect(200).body();
            assertFalse(body.contains(run) || body.contains("private-key") || body.contains("private_flow"), list);
            assertFalse(body.contains("s-six-lists"), () -> list + " " + body);
        }
    }

    @Test
    void s7_a_workspace_named_in_body_header_or_query_is_ignored() {
        ApiCaller other = otherWorkspace("s-seven");
        other.publish(flow("plain")).expect(200);
        admin().publish(flow("plain")).expect(200);
        long before = runsOf("s-seven");
        HttpReply body =
                admin().unkeyed("plain", "{\"data\": {}, \"workspace\": \"s-seven\", \"actor_id\": \"tok_x\"}");
        assertEquals(2, body.expect(200).json().get("warnings").size());
        admin().unkeyed("plain", "{}", "X-Workspace: s-seven", "X-Semel-Workspace: s-seven", "X-Forwarded-User: root")
                .expect(200);
        admin().post("/v1/workflows/plain/trigger?workspace=s-seven", "{}").expect(200);
        admin().post("/v1/workflows/plain/trigger-batch", "{\"items\": [{\"data\": {}, \"workspace\": \"s-seven\"}]}")
                .expect(200);
        assertEquals(before, runsOf("s-seven"));
        HttpReply forbidden = admin().post("/v1/tokens", "{\"workspace\": \"s-seven\", \"scopes\": [\"admin\"]}");
        ProblemResponseChecks.expect(forbidden, 403, "forbidden");
    }

    @Test
    void s8_the_same_key_in_two_workspaces_is_two_keys() {
        ApiCaller other = otherWorkspace("s-eight");
        other.publish(flow("plain")).expect(200);
        admin().publish(flow("plain")).expect(200);
        HttpReply mine = started(admin().trigger("plain", "1", data("\"a\": 1")));
        HttpReply theirs = started(other.trigger("plain", "1", data("\"a\": 2")));
        assertNotEquals(mine.runId(), theirs.runId());
        replay(mine, admin().trigger("plain", "1", data("\"a\": 1")));
        replay(theirs, other.trigger("plain", "1", data("\"a\": 2")));
        assertEquals(mine.runId(), admin().get("/v1/keys/1").runId());
        HttpReply own = started(admin().put("/v1/workflows/plain/runs/same-id", data("")));
        assertEquals(
                "same-id",
                started(other.put("/v1/workflows/plain/runs/same-id", data(""))).runId());
        assertEquals("same-id", own.runId());
    }

    @Test
    void s8_a_trigger_only_token_learns_no_payload_of_a_run() {
        admin().publish(flow("plain")).expect(200);
        String key = stage.key();
        started(admin().trigger("plain", key, data("\"secret\": 5")));
        ApiCaller trigger = stage.server().with("trigger");
        HttpReply met = trigger.trigger("plain", key, "{\"data\": {}}").expect(200);
        assertFalse(met.body().contains(ServerFixture.CANARY) || met.has("input"), met.body());
        ProblemResponseChecks.expect(trigger.get("/v1/runs/" + met.runId()), 403, "forbidden");
        ProblemResponseChecks.expect(trigger.get("/v1/keys/" + key), 403, "forbidden");
    }

    @Test
    void s9_a_read_only_token_changes_nothing() {
        admin().publish(flow("plain")).expect(200);
        String key = stage.key();
        started(admin().trigger("plain", key, data("")));
        ApiCaller reader = stage.server().with("read");
        String before = stage.rows();
        ProblemResponseChecks.expect(reader.trigger("plain", stage.key(), data("")), 403, "forbidden");
        ProblemResponseChecks.expect(reader.put("/v1/workflows/plain/runs/by-reader", data("")), 403, "forbidden");
        ProblemResponseChecks.expect(
                reader.post("/v1/workflows/plain/trigger-batch", "{\"items\": [{}]}"), 403, "forbidden");
        ProblemResponseChecks.expect(reader.post("/v1/workflows/plain/pause", "{}"), 403, "forbidden");
        ProblemResponseChecks.expect(
                reader.post("/v1/keys/" + key + "/release", "{\"reason\": \"r\"}"), 403, "forbidden");
        ProblemResponseChecks.expect(reader.publish(flow("by_reader")), 403, "forbidden");
        ProblemResponseChecks.expect(reader.post("/v1/tokens", "{\"scopes\": [\"admin\"]}"), 403, "forbidden");
        assertEquals(before, stage.rows());
        assertEquals("active", admin().get("/v1/keys/" + key).text("status"));
    }

    @Test
    void item18_an_administrator_of_one_workspace_sees_and_creates_no_other() {
        ApiCaller other = otherWorkspace("server-role");
        HttpReply seen = other.get("/v1/workspaces").expect(200);
        assertEquals(
                "[{\"workspace\":\"server-role\",\"current\":true}]",
                seen.json().path("items").toString());
        assertFalse(other.get("/metrics").expect(200).body().contains("workspace=\"default\""));
        String known = "";
        for (String name : List.of("default", "never-was")) {
            HttpReply reply = other.post("/v1/tokens", "{\"workspace\": \"" + name + "\", \"scopes\": [\"read\"]}");
            ProblemResponseChecks.expect(reply, 403, "forbidden");
            assertEquals("server", reply.text("scope"));
            assertEquals(known.isEmpty() ? withoutInstance(reply) : known, withoutInstance(reply));
            known = withoutInstance(reply);
        }
        ProblemResponseChecks.expect(other.post("/v1/tokens", "{\"scopes\": [\"server\"]}"), 403, "forbidden");
        ProblemResponseChecks.expect(other.post("/v1/clock/confirm", "{}"), 403, "forbidden");
        assertTrue(admin().get("/v1/workspaces?limit=100").expect(200).body().contains("\"server-role\""));
        ProblemResponseChecks.expect(
                stage.server()
                        .with("admin")
                        .post("/v1/tokens", "{\"workspace\": \"never-was\", \"scopes\": [\"read\"]}"),
                403,
                "forbidden");
        stage.server()
                .as(stage.server().token("\"name\":\"s\"", "admin", "server"))
                .get("/v1/workspaces")
                .expect(200);
    }

    private ApiCaller admin() {
        return stage.admin();
    }

    private ApiCaller otherWorkspace(String name) {
        String members = "\"workspace\": \"" + name + "\"";
        return stage.server().as(stage.server().token(members, "trigger", "read", "operate", "admin"));
    }

    private long runsOf(String workspace) {
        return stage.count("SELECT count(*) FROM semel_run r JOIN semel_workspace w ON w.ws = r.ws WHERE w.name = '"
                + workspace + "'");
    }

    private static String withoutInstance(HttpReply reply) {
        return reply.body().replaceAll("urn:uuid:[0-9a-f-]+", "");
    }
}
