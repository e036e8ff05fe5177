package dev.semel.server.pages;

import dev.semel.server.http.Answer;
import dev.semel.server.http.Inside;
import dev.semel.server.http.Router;
import dev.semel.server.http.Scope;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Handles the forms that create and revoke API tokens, and store and remove secrets. */
final class ShownOnce {
    private ShownOnce() {}

    static void addTo(Router router, Door guard) {
        router.add("POST", "/settings/tokens", Scope.OPEN, guard.deed(ShownOnce::createToken))
                .add("POST", "/settings/tokens/{token_id}/revoke", Scope.OPEN, guard.deed(ShownOnce::revokeToken))
                .add("POST", "/settings/secrets", Scope.OPEN, guard.deed(ShownOnce::storeSecret))
                .add("POST", "/settings/secrets/{name}/remove", Scope.OPEN, guard.deed(ShownOnce::removeSecret));
    }

    /** Shows the new token on the response page only. A repeated form does not show it again. */
    private static Answer createToken(Visit visit, Form form) throws Exception {
        ObjectNode body = JsonNodeFactory.instance
                .objectNode()
                .put("name", form.text("name").strip());
        ArrayNode scopes = body.putArray("scopes");
        form.all("scopes").forEach(scopes::add);
        if (form.text("quota").strip().matches("[0-9]{1,8}")) {
            body.put("quota_per_minute", Integer.parseInt(form.text("quota").strip()));
        }
        if (!form.text("workspace").isBlank()) {
            body.put("workspace", form.text("workspace").strip());
        }
        Doc made = visit.send("POST", "/v1/tokens", body, form.text("key"));
        String secret =
                made.has("token") ? made.text("token") : "created before; the server showed it once, at that time";
        return SettingPages.list(visit, "tokens", secret);
    }

    private static Answer revokeToken(Visit visit, Form form) throws Exception {
        ObjectNode nothing = JsonNodeFactory.instance.objectNode();
        visit.send("DELETE", Inside.path("v1", "tokens", visit.part("token_id")), nothing, form.text("key"));
        return Look.goTo("/settings/tokens?did=revoked");
    }

    private static Answer storeSecret(Visit visit, Form form) throws Exception {
        ObjectNode body = JsonNodeFactory.instance.objectNode().put("value", form.text("value"));
        visit.send("PUT", Inside.path("v1", "secrets", form.text("name").strip()), body, form.text("key"));
        return Look.goTo("/settings/secrets?did=saved");
    }

    private static Answer removeSecret(Visit visit, Form form) throws Exception {
        ObjectNode nothing = JsonNodeFactory.instance.objectNode();
        visit.send("DELETE", Inside.path("v1", "secrets", visit.part("name")), nothing, form.text("key"));
        return Look.goTo("/settings/secrets?did=removed");
    }
}
