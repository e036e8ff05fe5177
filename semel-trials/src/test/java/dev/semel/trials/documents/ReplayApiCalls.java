package dev.semel.trials.documents;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.json.StrictJson;

/** Asks every route of safe replays once, as the description says. */
final class ReplayApiCalls {
    private static final String ONE = "/v1/replays/{replay_id}";

    private ReplayApiCalls() {}

    static void ask(OpenApiClient asking) throws Exception {
        asking.without();
        asking.ask(200, "POST", "/v1/runs/{run_id}/resume?dry_run=true", "");
        asking.ask(400, "POST", "/v1/runs/{run_id}/resume", "");
        asking.ask(409, "POST", "/v1/runs/{run_id}/resume", "{\"reason\":\"a test\"}");
        asking.named("payment_receipt").with("Idempotency-Key", "plan_1");
        String body = "{\"runs\":[\"chosen-1\"],\"definition\":\"recorded_version\"}";
        Reply made = asking.ask(200, "POST", "/v1/replays", body);
        asking.ask(200, "POST", "/v1/replays", body);
        asking.ask(422, "POST", "/v1/replays", "{\"q\":\"status:failed\"}");
        asking.without().ask(200, "POST", "/v1/replays", "{\"q\":\"status:failed since:2h\",\"approval\":true}");
        asking.ask(400, "POST", "/v1/replays", "{}");
        asking.ask(404, "POST", "/v1/replays", "{\"runs\":[\"nowhere\"]}");
        asking.about(StrictJson.parse(made.body()).path("replay_id").asString(), "");
        asking.ask(200, "GET", "/v1/replays?limit=1", "");
        asking.ask(200, "GET", ONE, "");
        asking.ask(200, "GET", ONE + "/items?limit=1", "");
        asking.ask(400, "GET", ONE + "/items?action=never", "");
        String watched = asking.ask(200, "GET", ONE + "/events?seconds=1", "").body();
        assertTrue(watched.startsWith(": keep-alive\n\nevent: progress\ndata: {"), watched);
        assertEquals(2, watched.split("event: progress").length, "nothing changes: it is told once");
        asking.ask(400, "GET", ONE + "/events?seconds=0", "");
        asking.ask(200, "GET", ONE + "/items?worst=blocked", "");
        asking.ask(400, "GET", ONE + "/items?worst=send&action=send", "");
        asking.ask(200, "POST", ONE + "/approve", "");
        asking.ask(200, "POST", ONE + "/apply", "{\"rate\":0,\"canary\":1}");
        asking.ask(200, "POST", ONE + "/apply", "");
        asking.ask(200, "GET", ONE + "/events", "");
        asking.ask(200, "POST", ONE + "/stop", "{\"reason\":\"enough\"}");
        String none = StrictJson.parse(asking.ask(200, "POST", "/v1/replays", "{\"q\":\"key:nobody\"}")
                        .body())
                .path("replay_id")
                .asString();
        asking.about(none, "").ask(409, "POST", ONE + "/apply", "");
        asking.ask(200, "POST", ONE + "/stop", "");
        asking.ask(412, "POST", ONE + "/apply", "");
        asking.about("rpl_none", "").ask(404, "GET", ONE, "");
    }
}
