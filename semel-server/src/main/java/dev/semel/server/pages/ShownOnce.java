package dev.semel.server.pages;

import dev.semel.server.http.Answer;
import dev.semel.server.http.Inside;
import dev.semel.server.http.Router;
import dev.semel.server.http.Scope;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** What is shown once and never again: tokens of the API, and secrets. */
final class ShownOnce {
    private ShownOnce() {}

    static void addTo(Router router, Door door) {
        router.add("POST", "/settings/tokens", Scope.OPEN, door.deed(ShownOnce::make))
                .add("POST", "/settings/tokens/{token_id}/revoke", Scope.OPEN, door.deed(ShownOnce::revoke))
                .add("POST", "/settings/secrets", Scope.OPEN, door.deed(ShownOnce::hide))
                .add("POST", "/settings/secrets/{name}/remove", Scope.OPEN, door.deed(ShownOnce::forget));
    }

    /** The secret stands on the very page that answers the form, and nowhere else; sent again, it says so. */
    private static Answer make(Visit visit, Form form) throws Exception {
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
                made.has("token") ? made.text("token") : "made before; its secret was shown then, and only then";
        return SettingPages.list(visit, "tokens", secret);
    }

    private static Answer revoke(Visit visit, Form form) throws Exception {
        ObjectNode nothing = JsonNodeFactory.instance.objectNode();
        visit.send("DELETE", Inside.path("v1", "tokens", visit.part("token_id")), nothing, form.text("key"));
        return Look.goTo("/settings/tokens?did=revoked");
    }

    private static Answer hide(Visit visit, Form form) throws Exception {
        ObjectNode body = JsonNodeFactory.instance.objectNode().put("value", form.text("value"));
        visit.send("PUT", Inside.path("v1", "secrets", form.text("name").strip()), body, form.text("key"));
        return Look.goTo("/settings/secrets?did=kept");
    }

    private static Answer forget(Visit visit, Form form) throws Exception {
        ObjectNode nothing = JsonNodeFactory.instance.objectNode();
        visit.send("DELETE", Inside.path("v1", "secrets", visit.part("name")), nothing, form.text("key"));
        return Look.goTo("/settings/secrets?did=removed");
    }
}
