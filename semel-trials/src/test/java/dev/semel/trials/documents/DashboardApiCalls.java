package dev.semel.trials.documents;

import static org.junit.jupiter.api.Assertions.assertTrue;

/** What the pages need beyond the rest: explanations, streams and people, asked as the description says. */
final class DashboardApiCalls {
    private DashboardApiCalls() {}

    static void ask(OpenApiClient asking) throws Exception {
        asking.named("payment_receipt");
        asking.ask(200, "GET", "/v1/workflows/{id}/explanation", "");
        asking.ask(200, "GET", "/v1/workflows/{id}/log?limit=5", "");
        asking.named("new_lead").ask(200, "GET", "/v1/workflows/{id}/log", "");
        asking.named("payment_receipt");
        drafts(asking);
        streams(asking);
        String one = "/v1/users/{name}";
        asking.ask(200, "PUT", one, "{\"role\":\"viewer\"}");
        asking.ask(400, "PUT", one, "{\"role\":\"king\"}");
        asking.ask(200, "GET", "/v1/users?limit=1", "");
        asking.ask(200, "GET", "/v1/workspaces?limit=1", "");
        asking.ask(200, "GET", "/v1/invitations", "");
        asking.ask(200, "DELETE", one + "/invitation", "");
        asking.ask(404, "DELETE", one + "/invitation", "");
        asking.ask(404, "GET", one, "");
        asking.ask(404, "DELETE", one, "");
        asking.ask(404, "PUT", one, "{\"disabled\":true}");
        asking.ask(404, "POST", one + "/reset", "");
        asking.ask(404, "DELETE", one + "/sessions", "");
        asking.ask(404, "GET", one + "/sessions", "");
        asking.ask(404, "POST", one + "/password", "{\"old\":\"what it was before\",\"new\":\"what it is now\"}");
        asking.ask(200, "GET", "/v1/sessions", "");
        asking.ask(404, "DELETE", "/v1/sessions/{session_id}", "");
        asking.ask(400, "POST", "/v1/runs/{run_id}/reveal", "{\"reason\":\"a test\"}");
    }

    private static void drafts(OpenApiClient asking) throws Exception {
        String text = "\"text\":\"semel: 1\\nworkflow: small\\nsteps:\\n  - {id: a, set: {ok: true}}\"";
        asking.ask(200, "POST", "/v1/drafts", "{" + text + ",\"step\":\"a\"}");
        asking.ask(200, "POST", "/v1/drafts", "{" + text + ",\"workflow\":\"payment_receipt\"}");
        asking.ask(400, "POST", "/v1/drafts", "{" + text + ",\"edits\":[{\"op\":\"up\",\"step\":\"a\"}]}");
        asking.ask(404, "POST", "/v1/drafts", "{" + text + ",\"workflow\":\"none\"}");
    }

    private static void streams(OpenApiClient asking) throws Exception {
        String all = asking.ask(200, "GET", "/v1/tail?seconds=1", "").body();
        assertTrue(all.contains("\n\nevent: run\ndata: {\"run_id\":"), all);
        String one =
                asking.ask(200, "GET", "/v1/runs/{run_id}/events?seconds=1", "").body();
        assertTrue(one.contains("chosen-1"), one);
        asking.ask(400, "GET", "/v1/tail?seconds=0", "");
    }
}
