package dev.semel.trials.seeds;

import static dev.semel.trials.support.SampleWorkflows.flow;
import static dev.semel.trials.support.SampleWorkflows.keyed;
import static dev.semel.trials.support.TriggerResponseChecks.conflict;
import static dev.semel.trials.support.TriggerResponseChecks.replay;
import static dev.semel.trials.support.TriggerResponseChecks.started;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.ConcurrentCalls;
import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.OnDevServers;
import dev.semel.trials.support.ProblemResponseChecks;
import dev.semel.trials.support.ServerFixture;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** Statements of the seeds about triggers and keys that no other test tries. */
class SeedTriggersTest extends OnDevServers {
    SeedTriggersTest(ServerFixture stage) {
        super(stage);
    }

    private ApiCaller admin() {
        return stage.admin();
    }

    private void publishExample(String name) {
        try {
            admin().publish(Files.readString(Path.of("../examples/" + name + ".yaml")))
                    .expect(200);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String data(String members) {
        return "{\"data\": {" + members + "}}";
    }

    @Test
    void a_uuid_a_content_hash_and_an_event_id_are_keys() {
        admin().publish(flow("any_key")).expect(200);
        for (String key : List.of(
                "unique-event-id-123",
                "3f2504e0-4f89-41d3-9a0c-0305e82c3301",
                "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
                "evt_stripe_ch_xxx",
                "gh_push_sha_abc")) {
            HttpReply first = started(admin().trigger("any_key", key, data("\"task_id\": \"t\"")));
            replay(first, admin().trigger("any_key", key, data("\"task_id\": \"t\"")));
        }
    }

    @Test
    void a_date_in_its_keys_lets_a_batch_run_again_within_the_window() {
        admin().publish(flow("nightly")).expect(200);
        String today = """
            {"items": [{"key": "nightly-2026-11-16/1", "data": {"n": 1}}, {"key": "nightly-2026-11-16/2", "data": {}}]}
            """;
        assertEquals("false false", replayed(today));
        assertEquals("true true", replayed(today));
        assertEquals("false false", replayed(today.replace("11-16", "11-17")));
    }

    private String replayed(String batch) {
        JsonNode items = admin().post("/v1/workflows/nightly/trigger-batch", batch)
                .expect(200)
                .json()
                .path("items");
        return items.path(0).path("idempotent_replayed") + " " + items.path(1).path("idempotent_replayed");
    }

    @Test
    void a_conflict_says_to_use_a_new_key_and_a_new_key_starts_a_run() {
        admin().publish(keyed("other_data", "fingerprint: [amount]")).expect(200);
        String key = stage.key();
        HttpReply first = started(admin().trigger("other_data", key, data("\"amount\": 1")));
        HttpReply rejected = conflict("payload", first, admin().trigger("other_data", key, data("\"amount\": 2")));
        assertTrue(rejected.text("fix").contains("new key"), rejected.body());
        assertNotEquals(
                first.runId(),
                started(admin().trigger("other_data", stage.key(), data("\"amount\": 2")))
                        .runId());
    }

    @Test
    void the_runs_of_a_workflow_are_found_through_the_menu() {
        admin().publish(flow("menu")).expect(200);
        HttpReply first = started(admin().trigger("menu", stage.key(), data("")));
        ApiCaller browser = stage.server().stranger();
        String set = Objects.requireNonNull(
                browser.send("POST", "/login/dev", "", "Content-Type: application/x-www-form-urlencoded")
                        .expect(303)
                        .header("Set-Cookie"));
        String session = "Cookie: " + set.substring(0, set.indexOf(';'));
        String home = browser.send("GET", "/runs", "", session).expect(200).body();
        String menu = home.substring(home.indexOf(">Automation<"), home.indexOf(">Triggers<"));
        assertTrue(menu.contains("href=\"/workflows\""), menu);
        String list = browser.send("GET", "/workflows?name=menu", "", session)
                .expect(200)
                .body();
        assertTrue(list.contains("href=\"/workflows/menu\""), list);
        String page =
                browser.send("GET", "/workflows/menu", "", session).expect(200).body();
        assertTrue(page.replaceAll("\\s+", " ").matches(".*href=\"/workflows/menu/runs\"[^>]*> ?Runs ?<.*"), page);
        String runs = browser.send("GET", "/workflows/menu/runs", "", session)
                .expect(200)
                .body();
        assertTrue(runs.contains("/runs/" + first.runId()), runs);
    }

    @Test
    void a_key_record_names_its_key_its_times_and_the_last_request() {
        admin().publish(keyed("recorded", "fingerprint: [amount]")).expect(200);
        String key = stage.key();
        Instant before = Instant.now().minusSeconds(1);
        started(admin().trigger("recorded", key, data("\"amount\": 1")));
        HttpReply record = admin().get("/v1/keys/" + key).expect(200);
        assertEquals(key, record.text("idempotency_key"));
        Instant created = Instant.parse(record.text("created_at"));
        assertTrue(created.isAfter(before) && created.isBefore(Instant.now().plusSeconds(1)), record.body());
        assertEquals(Duration.ofHours(24), Duration.between(created, Instant.parse(record.text("expires_at"))));
        Instant seen = Instant.parse(record.text("last_seen_at"));
        admin().trigger("recorded", key, data("\"amount\": 1")).expect(200);
        Instant repeated = laterThan(seen, key);
        admin().trigger("recorded", key, data("\"amount\": 2")).expect(422);
        laterThan(repeated, key);
        HttpReply after = admin().get("/v1/keys/" + key).expect(200);
        assertEquals(record.text("created_at"), after.text("created_at"));
        assertEquals(record.text("expires_at"), after.text("expires_at"));
    }

    private Instant laterThan(Instant before, String key) {
        Instant[] seen = {before};
        ConcurrentCalls.until("the request is seen", () -> {
            seen[0] = Instant.parse(admin().get("/v1/keys/" + key).text("last_seen_at"));
            return seen[0].isAfter(before);
        });
        return seen[0];
    }

    @Test
    void two_identical_tickets_under_two_keys_are_two_runs() {
        admin().publish(keyed("ticket", "fingerprint: [subject]")).expect(200);
        String body = data("\"subject\": \"The lamp is broken\"");
        HttpReply first = started(admin().trigger("ticket", stage.key(), body));
        HttpReply second = started(admin().trigger("ticket", stage.key(), body));
        assertNotEquals(first.runId(), second.runId());
        assertFalse(second.has("duplicate_of"), second.body());
    }

    @Test
    void the_contract_of_keys_is_a_page_of_the_server() {
        HttpReply page = stage.server().stranger().get("/docs/idempotency").expect(200);
        assertTrue(page.body().startsWith("# Keys: the contract"), page.body());
        JsonNode trigger =
                admin().get("/v1/openapi.json").expect(200).json().at("/paths/~1v1~1workflows~1{id}~1trigger/post");
        assertTrue(trigger.toString().contains("Idempotency-Key"), trigger::toString);
        assertTrue(trigger.path("responses").has("422"), trigger::toString);
    }

    @Test
    void an_order_is_one_for_each_customer_cart_and_checkout_attempt() {
        publishExample("order_create");
        String body = data("\"customer_id\": \"c1\", \"cart_id\": \"k1\", \"attempt\": 1, \"total\": 4900,"
                + " \"currency\": \"usd\", \"lines\": [{\"sku\": \"A\", \"quantity\": 1, \"price\": 4900}]");
        HttpReply first = started(admin().unkeyed("order_create", body));
        replay(first, admin().unkeyed("order_create", body));
        assertEquals("order:c1:k1:1", first.header("Idempotency-Key"));
        for (String change : List.of("4900,", "usd", "\"A\"")) {
            String to = change.equals("usd")
                    ? "eur"
                    : change.replace("4900", "5900").replace("A", "B");
            conflict("payload", first, admin().unkeyed("order_create", body.replace(change, to)));
        }
        String again = body.replace("\"attempt\": 1", "\"attempt\": 2");
        ProblemResponseChecks.expect(admin().unkeyed("order_create", again), 409, "duplicate-payload");
        started(admin().unkeyed("order_create", again.replace("\"total\": 4900", "\"total\": 9800")));
    }

    @Test
    void total_currency_products_and_a_hash_of_the_address_define_the_action() {
        admin().publish(keyed(
                        "fulfilment",
                        "fingerprint: [total, currency, \"lines[].sku\","
                                + " {address: \"${ sha256(lower(trim(input.address))) }\"}]"))
                .expect(200);
        String key = stage.key();
        String body = data("\"total\": 4900, \"currency\": \"usd\", \"lines\": [{\"sku\": \"A\"}],"
                + " \"address\": \"1 Main St\", \"sent_at\": \"10:00\"");
        HttpReply first = started(admin().trigger("fulfilment", key, body));
        replay(first, admin().trigger("fulfilment", key, body.replace("10:00", "10:05")));
        replay(first, admin().trigger("fulfilment", key, body.replace("1 Main St", " 1 MAIN st ")));
        for (String[] change : new String[][] {
            {"4900", "4901", "total"},
            {"usd", "eur", "currency"},
            {"\"A\"", "\"B\"", "lines[].sku"},
            {"1 Main St", "2 Main St", "address"}
        }) {
            HttpReply rejected = admin().trigger("fulfilment", key, body.replace(change[0], change[1]));
            assertEquals(
                    change[2],
                    conflict("payload", first, rejected).json().at("/changed/0").asString());
        }
    }

    @Test
    void a_form_submission_is_one_lead() {
        publishExample("crm_lead");
        String body = data("\"form_id\": \"demo\", \"submission_id\": \"f1\", \"email\": \"ada@acme.example\"");
        HttpReply first = started(admin().unkeyed("crm_lead", body));
        replay(first, admin().unkeyed("crm_lead", body));
        HttpReply same = replay(first, admin().unkeyed("crm_lead", body.replace("ada@acme", " Ada@ACME")));
        assertFalse(same.flag("payload_mismatch"), same.body());
        assertNotEquals(
                first.runId(),
                started(admin().unkeyed("crm_lead", body.replace("f1", "f2"))).runId());
    }

    @Test
    void a_workflow_names_its_owner() {
        String without = "semel: 1\nworkflow: unowned\nsteps: [{id: note, set: {ok: true}}]\n";
        JsonNode warned = admin().publish(without).expect(200).json();
        assertTrue(warned.path("warnings").toString().contains("no owner"), warned::toString);
        JsonNode owned =
                admin().publish(without + "owner: payments-team\n").expect(200).json();
        assertFalse(owned.path("warnings").toString().contains("no owner"), owned::toString);
        assertEquals("payments-team", admin().get("/v1/workflows/unowned").text("owner"));
    }

    @Test
    void an_index_lists_every_page_of_the_reference_and_each_page_has_its_markdown() throws IOException {
        ApiCaller anyone = stage.server().stranger();
        String index = anyone.get("/llms.txt").expect(200).body();
        String all = anyone.get("/llms-full.txt").expect(200).body();
        assertTrue(index.startsWith("# Semel\n"), index);
        try (Stream<Path> pages = Files.list(Path.of("../docs/reference"))) {
            for (Path page : pages.toList()) {
                String path = "/docs/" + page.getFileName();
                assertTrue(index.contains("](" + path + ")"), path);
                String text = anyone.get(path).expect(200).body();
                assertEquals(Files.readString(page), text, path);
                assertEquals(text, anyone.get(path.replace(".md", "")).body(), path);
                assertTrue(all.contains(text.strip()), path);
            }
        }
        assertEquals(404, anyone.get("/docs/nothing.md").status());
    }
}
