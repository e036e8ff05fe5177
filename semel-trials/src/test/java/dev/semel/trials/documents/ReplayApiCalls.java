package dev.semel.trials.documents;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.json.StrictJsonCodec;

/** Asks every route of safe replays once, as the description says. */
final class ReplayApiCalls {
    private static final String ONE = "/v1/replays/{replay_id}";

    private ReplayApiCalls() {}

    static void ask(OpenApiClient client) throws Exception {
        client.without();
        client.ask(200, "POST", "/v1/runs/{run_id}/resume?dry_run=true", "");
        client.ask(400, "POST", "/v1/runs/{run_id}/resume", "");
        client.ask(409, "POST", "/v1/runs/{run_id}/resume", "{\"reason\":\"a test\"}");
        client.named("payment_receipt").with("Idempotency-Key", "plan_1");
        String body = "{\"runs\":[\"chosen-1\"],\"definition\":\"recorded_version\"}";
        Reply made = client.ask(200, "POST", "/v1/replays", body);
        client.ask(200, "POST", "/v1/replays", body);
        client.ask(422, "POST", "/v1/replays", "{\"q\":\"status:failed\"}");
        client.without().ask(200, "POST", "/v1/replays", "{\"q\":\"status:failed since:2h\",\"approval\":true}");
        client.ask(400, "POST", "/v1/replays", "{}");
        client.ask(404, "POST", "/v1/replays", "{\"runs\":[\"nowhere\"]}");
        client.about(StrictJsonCodec.parse(made.body()).path("replay_id").asString(), "");
        client.ask(200, "GET", "/v1/replays?limit=1", "");
        client.ask(200, "GET", ONE, "");
        client.ask(200, "GET", ONE + "/items?limit=1", "");
        client.ask(400, "GET", ONE + "/items?action=never", "");
        String watched = client.ask(200, "GET", ONE + "/events?seconds=1", "").body();
        assertTrue(watched.startsWith(": keep-alive\n\nevent: progress\ndata: {"), watched);
        assertEquals(2, watched.split("event: progress").length, "nothing changes: it is notified once");
        client.ask(400, "GET", ONE + "/events?seconds=0", "");
        client.ask(200, "GET", ONE + "/items?worst=blocked", "");
        client.ask(400, "GET", ONE + "/items?worst=send&action=send", "");
        client.ask(200, "POST", ONE + "/approve", "");
        client.ask(200, "POST", ONE + "/apply", "{\"rate\":0,\"canary\":1}");
        client.ask(200, "POST", ONE + "/apply", "");
        client.ask(200, "GET", ONE + "/events", "");
        client.ask(200, "POST", ONE + "/stop", "{\"reason\":\"enough\"}");
        String none = StrictJsonCodec.parse(client.ask(200, "POST", "/v1/replays", "{\"q\":\"key:nobody\"}")
                        .body())
                .path("replay_id")
                .asString();
        client.about(none, "").ask(409, "POST", ONE + "/apply", "");
        client.ask(200, "POST", ONE + "/stop", "");
        client.ask(412, "POST", ONE + "/apply", "");
        client.about("rpl_none", "").ask(404, "GET", ONE, "");
    }
}
