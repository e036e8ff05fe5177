package dev.semel.trials.documents;

import static org.junit.jupiter.api.Assertions.assertTrue;

/** What the pages need beyond the rest: explanations, streams and people, asked as the description says. */
final class DashboardApiCalls {
    private DashboardApiCalls() {}

    static void ask(OpenApiClient client) throws Exception {
        client.named("payment_receipt");
        client.ask(200, "GET", "/v1/workflows/{id}/explanation", "");
        client.ask(200, "GET", "/v1/workflows/{id}/log?limit=5", "");
        client.named("new_lead").ask(200, "GET", "/v1/workflows/{id}/log", "");
        client.named("payment_receipt");
        drafts(client);
        streams(client);
        String one = "/v1/users/{name}";
        client.ask(200, "PUT", one, "{\"role\":\"viewer\"}");
        client.ask(400, "PUT", one, "{\"role\":\"king\"}");
        client.ask(200, "GET", "/v1/users?limit=1", "");
        client.ask(200, "GET", "/v1/workspaces?limit=1", "");
        client.ask(200, "GET", "/v1/invitations", "");
        client.ask(200, "DELETE", one + "/invitation", "");
        client.ask(404, "DELETE", one + "/invitation", "");
        client.ask(404, "GET", one, "");
        client.ask(404, "DELETE", one, "");
        client.ask(404, "PUT", one, "{\"disabled\":true}");
        client.ask(404, "POST", one + "/reset", "");
        client.ask(404, "DELETE", one + "/sessions", "");
        client.ask(404, "GET", one + "/sessions", "");
        client.ask(404, "POST", one + "/password", "{\"old\":\"what it was before\",\"new\":\"what it is now\"}");
        client.ask(200, "GET", "/v1/sessions", "");
        client.ask(404, "DELETE", "/v1/sessions/{session_id}", "");
        client.ask(400, "POST", "/v1/runs/{run_id}/reveal", "{\"reason\":\"a test\"}");
    }

    private static void drafts(OpenApiClient client) throws Exception {
        String text = "\"text\":\"semel: 1\\nworkflow: small\\nsteps:\\n  - {id: a, set: {ok: true}}\"";
        client.ask(200, "POST", "/v1/drafts", "{" + text + ",\"step\":\"a\"}");
        client.ask(200, "POST", "/v1/drafts", "{" + text + ",\"workflow\":\"payment_receipt\"}");
        client.ask(400, "POST", "/v1/drafts", "{" + text + ",\"edits\":[{\"op\":\"up\",\"step\":\"a\"}]}");
        client.ask(404, "POST", "/v1/drafts", "{" + text + ",\"workflow\":\"none\"}");
    }

    private static void streams(OpenApiClient client) throws Exception {
        String all = client.ask(200, "GET", "/v1/tail?seconds=1", "").body();
        assertTrue(all.contains("\n\nevent: run\ndata: {\"run_id\":"), all);
        String one =
                client.ask(200, "GET", "/v1/runs/{run_id}/events?seconds=1", "").body();
        assertTrue(one.contains("chosen-1"), one);
        client.ask(400, "GET", "/v1/tail?seconds=0", "");
    }
}
