package dev.semel.server.pages;

import dev.semel.server.auth.People;
import dev.semel.server.http.Answer;
import dev.semel.server.http.Inside;
import dev.semel.server.http.Router;
import dev.semel.server.http.Scope;
import java.util.Map;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** One's own sessions, and what an administrator does to others. */
final class PersonPages {
    private PersonPages() {}

    static void addTo(Router router, Door door) {
        router.add("GET", "/sessions", Scope.OPEN, door.page(PersonPages::sessions))
                .add("POST", "/sessions/{session_id}/end", Scope.OPEN, door.deed(PersonPages::end))
                .add("POST", "/settings/people/turn", Scope.OPEN, door.deed(PersonPages::turn));
    }

    private static Answer sessions(Visit visit) throws Exception {
        String cookie = Cookies.of(visit.request(), Cookies.SESSION);
        return visit.show(
                "sessions",
                "Your sessions",
                "",
                Map.of(
                        "sessions",
                        visit.get("/v1/sessions").items(),
                        "current",
                        cookie == null ? "" : People.sessionId(cookie)));
    }

    private static Answer end(Visit visit, Form form) throws Exception {
        String path = Inside.path("v1", "sessions", visit.part("session_id"));
        visit.send("DELETE", path, JsonNodeFactory.instance.objectNode(), form.text("key"));
        return Look.goTo("/sessions");
    }

    /** Where the form was sent twice the link was on the first answer; somebody whose role was changed gets none. */
    static Answer linked(Visit visit, Doc answer) throws Exception {
        String link =
                answer.has("invitation") ? answer.text("invitation") : answer.has("invitation_id") ? "made before" : "";
        return SettingPages.list(visit, "people", link);
    }

    /** A link that is made is shown on the very page that answers the form: it is kept nowhere. */
    private static Answer turn(Visit visit, Form form) throws Exception {
        String name = form.text("name").strip();
        ObjectNode body = JsonNodeFactory.instance.objectNode();
        String key = form.text("key");
        switch (form.text("turn")) {
            case "disable" -> visit.send("PUT", Inside.path("v1", "people", name), body.put("disabled", true), key);
            case "enable" -> visit.send("PUT", Inside.path("v1", "people", name), body.put("disabled", false), key);
            case "remove" -> visit.send("DELETE", Inside.path("v1", "people", name), body, key);
            case "take-back" -> visit.send("DELETE", Inside.path("v1", "people", name, "invitation"), body, key);
            case "sessions" -> visit.send("DELETE", Inside.path("v1", "people", name, "sessions"), body, key);
            case "reset" -> {
                Doc answer = visit.send("POST", Inside.path("v1", "people", name, "reset"), body, key);
                return linked(visit, answer);
            }
            default -> {
                return Look.goTo("/settings/people");
            }
        }
        return Look.goTo("/settings/people");
    }
}
