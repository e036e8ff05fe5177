package dev.semel.trials.attacks;

import static dev.semel.trials.support.SampleWorkflows.data;
import static dev.semel.trials.support.SampleWorkflows.flow;
import static dev.semel.trials.support.TriggerResponseChecks.replay;
import static dev.semel.trials.support.TriggerResponseChecks.started;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.OnBothStores;
import dev.semel.trials.support.ProblemResponseChecks;
import dev.semel.trials.support.ServerFixture;
import org.junit.jupiter.api.Test;

/** Text that wants to be more than text: SQL, patterns, header lines. */
class InjectionTest extends OnBothStores {
    InjectionTest(ServerFixture stage) {
        super(stage);
    }

    @Test
    void s1_sql_in_a_key_is_a_key() {
        admin().publish(flow("plain")).expect(200);
        String[] keys = {
            "x'); DROP TABLE semel_run;--",
            "' OR '1'='1",
            "1; select pg_sleep(5)--",
            "\\'; --",
            "$1",
            "?",
            "%s",
            "x\\0y"
        };
        for (String key : keys) {
            HttpReply first = started(admin().trigger("plain", key, data("")));
            replay(first, admin().trigger("plain", key, data("")));
            HttpReply record = admin().get("/v1/keys/" + encoded(key)).expect(200);
            assertEquals(key, record.text("idempotency_key"));
            assertEquals(first.runId(), record.text("response_reference"));
        }
        assertTrue(stage.count("SELECT count(*) FROM semel_run") >= keys.length);
    }

    @Test
    void s1_sql_in_every_other_name_is_text_or_400() {
        String attack = "zz'); DROP TABLE semel_run;--";
        String path = encoded(attack);
        admin().get("/healthz").expect(200);
        String before = stage.rows();
        for (String list : new String[] {"/v1/runs", "/v1/requests", "/v1/audit"}) {
            ProblemResponseChecks.expect(admin().get(list + "?after=" + path), 400, "invalid-input");
            ProblemResponseChecks.expect(admin().get(list + "?limit=1;select+pg_sleep(5)--"), 400, "invalid-input");
        }
        ProblemResponseChecks.expect(admin().get("/v1/runs?q=status:x%27+OR+%271%27=%271"), 400, "invalid-input");
        ProblemResponseChecks.expect(admin().get("/v1/runs?q=workflow:" + path.replace("%20", "")), 404, "not-found");
        ProblemResponseChecks.expect(admin().get("/v1/runs/" + path), 404, "not-found");
        ProblemResponseChecks.expect(admin().get("/v1/workflows/" + path), 404, "not-found");
        ProblemResponseChecks.expect(admin().get("/v1/workflows/" + path + "/runs"), 404, "not-found");
        ProblemResponseChecks.expect(admin().delete("/v1/tokens/" + path), 404, "not-found");
        ProblemResponseChecks.expect(admin().trigger(path, "k", data("")), 404, "not-found");
        assertEquals(
                "[]",
                admin().get("/v1/keys?prefix=" + path)
                        .expect(200)
                        .json()
                        .get("items")
                        .toString());
        assertEquals(
                "[]",
                admin().get("/v1/runs?q=key:%27--")
                        .expect(200)
                        .json()
                        .get("items")
                        .toString());
        // There is no sort.
        admin().get("/v1/runs?sort=created_at;select%20pg_sleep(5)--").expect(400);
        assertEquals(before, stage.rows());
    }

    @Test
    void s1_sql_in_chosen_ids_reasons_and_names_is_stored_as_text() {
        admin().publish(flow("plain")).expect(200);
        String id = "r');DELETE--" + stage;
        HttpReply run = admin().unkeyed("plain", "{\"data\": {}, \"run_id\": \"" + id + "\"}")
                .expect(200);
        assertEquals(id, run.runId());
        assertEquals("/v1/runs/" + encoded(id), run.header("Location"));
        assertEquals(id, admin().get(String.valueOf(run.header("Location"))).runId());
        String key = stage.key();
        started(admin().trigger("plain", key, data("")));
        admin().post("/v1/keys/" + key + "/release", "{\"reason\": \"'); DROP TABLE semel_audit;--\"}")
                .expect(200);
        assertTrue(admin().get("/v1/audit").expect(200).body().contains("DROP TABLE semel_audit"));
        String token = stage.server().token("\"name\": \"'); DROP TABLE semel_token;--\"", "read");
        stage.server().as(token).get("/v1/runs").expect(200);
    }

    @Test
    void s2_patterns_in_filters_are_literal() {
        admin().publish(flow("plain")).expect(200);
        started(admin().trigger("plain", "plain_key", data("")));
        for (String pattern :
                new String[] {"%25%25", "_", "plain%25", "pl_in", "%5C%5C", "*", ".*", "%25_".repeat(1_500)}) {
            HttpReply reply = admin().get("/v1/keys?prefix=" + pattern).expect(200);
            assertEquals("[]", reply.json().get("items").toString(), pattern);
            assertEquals(
                    "[]",
                    admin().get("/v1/runs?q=key:" + pattern)
                            .expect(200)
                            .json()
                            .get("items")
                            .toString());
        }
        ProblemResponseChecks.expect(admin().get("/v1/runs?q=" + "%25%25_".repeat(1_000)), 400, "invalid-input");
        ProblemResponseChecks.expect(admin().get("/v1/keys?prefix=" + "%25".repeat(3_000)), 400, "invalid-input");
    }

    @Test
    void s13_no_echoed_header_value_can_end_its_line() {
        admin().publish(flow("plain")).expect(200);
        String before = stage.rows();
        for (String name : new String[] {"x%0d%0aSet-Cookie:%20a=b", "x%0aSet-Cookie:a", "x%0d", "x%00"}) {
            for (HttpReply reply : new HttpReply[] {
                admin().trigger(name, stage.key(), data("")),
                admin().put("/v1/workflows/plain/runs/" + name, data("")),
                admin().get("/v1/runs/" + name),
                admin().get("/v1/keys/" + name),
                admin().get("/v1/runs?after=" + name)
            }) {
                ProblemResponseChecks.expect(reply, 400, "invalid-input");
                assertNull(reply.header("Set-Cookie"));
            }
        }
        for (String id : new String[] {"a\\r\\nSet-Cookie: a=b", "a\\nb", "a\\u2028b", "a\\u0085b"}) {
            HttpReply reply = admin().unkeyed("plain", "{\"run_id\": \"" + id + "\"}");
            assertNull(ProblemResponseChecks.expect(reply, 400, "invalid-input").header("Set-Cookie"));
        }
        admin().publish(flow("maker", "trigger: { http: { key: \"${ input.id }\" } }"))
                .expect(200);
        HttpReply derived = admin().unkeyed("maker", data("\"id\": \"k\\r\\nSet-Cookie: a=b\""));
        assertNull(ProblemResponseChecks.expect(derived, 400, "idempotency-key-invalid")
                .header("Set-Cookie"));
        assertEquals(before, stage.rows());
    }

    @Test
    void s13_a_workflow_name_cannot_contain_line_breaks() {
        for (String name : new String[] {"\"x\\r\\nSet-Cookie: a=b\"", "\"a b\"", "\"../x\"", "\"\"", "\"x\\u0000\""}) {
            String yaml = flow("x").replace("workflow: x\n", "workflow: " + name + "\n");
            HttpReply reply = admin().send("PUT", "/v1/workflows/x", yaml, "Content-Type: application/yaml");
            assertNull(ProblemResponseChecks.expect(reply, 400, "invalid-definition")
                    .header("Set-Cookie"));
        }
    }

    private ApiCaller admin() {
        return stage.admin();
    }

    private static String encoded(String text) {
        StringBuilder out = new StringBuilder();
        for (char c : text.toCharArray()) {
            boolean plain =
                    c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || "-._~".indexOf(c) >= 0;
            out.append(plain ? String.valueOf(c) : "%%%02X".formatted((int) c));
        }
        return out.toString();
    }
}
