package dev.semel.server.dashboard;

import dev.semel.server.http.HttpResponse;
import dev.semel.server.http.InternalApiClient;
import dev.semel.server.http.Router;
import dev.semel.server.http.TokenScope;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Handles the forms that create and revoke API tokens, and store and remove secrets. */
final class CredentialForms {
    private CredentialForms() {}

    static void addTo(Router router, DashboardGuard guard) {
        router.add("POST", "/settings/tokens", TokenScope.OPEN, guard.form(CredentialForms::createToken))
                .add(
                        "POST",
                        "/settings/tokens/{token_id}/revoke",
                        TokenScope.OPEN,
                        guard.form(CredentialForms::revokeToken))
                .add("POST", "/settings/secrets", TokenScope.OPEN, guard.form(CredentialForms::storeSecret))
                .add(
                        "POST",
                        "/settings/secrets/{name}/remove",
                        TokenScope.OPEN,
                        guard.form(CredentialForms::removeSecret));
    }

    /** Shows the new token on the response page only. A repeated form does not show it again. */
    private static HttpResponse createToken(PageVisit visit, SubmittedForm form) throws Exception {
        ObjectNode body = JsonNodeFactory.instance
                .objectNode()
                .put("name", form.text("name").strip());
        ArrayNode scopes = body.putArray("scopes");
        form.values("scopes").forEach(scopes::add);
        if (form.text("quota").strip().matches("[0-9]{1,8}")) {
            body.put("quota_per_minute", Integer.parseInt(form.text("quota").strip()));
        }
        if (!form.text("workspace").isBlank()) {
            body.put("workspace", form.text("workspace").strip());
        }
        ApiJson made = visit.send("POST", "/v1/tokens", body, form.text("key"));
        String secret =
                made.has("token") ? made.text("token") : "created before; the server showed it once, at that time";
        return SettingPages.list(visit, "tokens", secret);
    }

    private static HttpResponse revokeToken(PageVisit visit, SubmittedForm form) throws Exception {
        ObjectNode nothing = JsonNodeFactory.instance.objectNode();
        visit.send(
                "DELETE",
                InternalApiClient.path("v1", "tokens", visit.pathParameter("token_id")),
                nothing,
                form.text("key"));
        return PageRenderer.redirect("/settings/tokens?did=revoked");
    }

    private static HttpResponse storeSecret(PageVisit visit, SubmittedForm form) throws Exception {
        ObjectNode body = JsonNodeFactory.instance.objectNode().put("value", form.text("value"));
        visit.send(
                "PUT", InternalApiClient.path("v1", "secrets", form.text("name").strip()), body, form.text("key"));
        return PageRenderer.redirect("/settings/secrets?did=saved");
    }

    private static HttpResponse removeSecret(PageVisit visit, SubmittedForm form) throws Exception {
        ObjectNode nothing = JsonNodeFactory.instance.objectNode();
        visit.send(
                "DELETE",
                InternalApiClient.path("v1", "secrets", visit.pathParameter("name")),
                nothing,
                form.text("key"));
        return PageRenderer.redirect("/settings/secrets?did=removed");
    }
}
