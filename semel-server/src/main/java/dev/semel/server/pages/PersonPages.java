package dev.semel.server.pages;

import dev.semel.json.Json;
import dev.semel.server.auth.People;
import dev.semel.server.http.Answer;
import dev.semel.server.http.Inside;
import dev.semel.server.http.Router;
import dev.semel.server.http.Scope;
import java.util.Map;
import java.util.stream.Stream;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** The pages for a user's own sessions and password, and an administrator's actions on users. */
final class PersonPages {
    private PersonPages() {}

    static void addTo(Router router, Door guard) {
        router.add("GET", "/sessions", Scope.OPEN, guard.page(PersonPages::sessions))
                .add("POST", "/sessions/{session_id}/end", Scope.OPEN, guard.deed(PersonPages::end))
                .add("POST", "/sessions/password", Scope.OPEN, guard.deed(PersonPages::changePassword))
                .add("POST", "/settings/people/turn", Scope.OPEN, guard.deed(PersonPages::turn));
    }

    private static Answer sessions(Visit visit) throws Exception {
        return sessions(visit, 200, "");
    }

    private static Answer sessions(Visit visit, int status, String problem) throws Exception {
        Doc own = visit.get("/v1/sessions");
        return visit.show(
                status,
                new Look.Sheet(
                        "sessions",
                        "Your sessions",
                        "",
                        Map.of(
                                "sessions",
                                own.items(),
                                "current",
                                current(visit),
                                "password",
                                own.is("password"),
                                "problem",
                                problem)));
    }

    private static String current(Visit visit) {
        String cookie = Cookies.of(visit.request(), Cookies.SESSION);
        return cookie == null ? "" : People.sessionId(cookie);
    }

    /** Changes the user's own password and ends all other sessions. */
    private static Answer changePassword(Visit visit, Form form) throws Exception {
        if (!form.text("new").equals(form.text("again"))) {
            return sessions(visit, 400, "The two new passwords differ. The password was not changed.");
        }
        ObjectNode body = JsonNodeFactory.instance
                .objectNode()
                .put("old", form.text("old"))
                .put("new", form.text("new"))
                .put("keep_session", current(visit));
        String name = visit.visitor().name();
        try {
            visit.send("POST", Inside.path("v1", "people", name, "password"), body, form.text("key"));
        } catch (Refused e) {
            return sessions(
                    visit,
                    e.status(),
                    e.problem().text("detail") + " " + e.problem().text("fix"));
        }
        return Look.goTo("/sessions?did=password");
    }

    private static Answer end(Visit visit, Form form) throws Exception {
        String path = Inside.path("v1", "sessions", visit.part("session_id"));
        visit.send("DELETE", path, JsonNodeFactory.instance.objectNode(), form.text("key"));
        return Look.goTo("/sessions");
    }

    /**
     * Shows the invitation link as a complete URL. If the form was sent twice, only the first response had the link. A
     * role change creates no link.
     */
    static Answer linked(Visit visit, Doc answer) throws Exception {
        String link =
                answer.has("invitation")
                        ? answer.text("invitation")
                        : answer.has("invitation_id") ? "created before" : "";
        return SettingPages.list(visit, "people", link.startsWith("/") ? Cookies.origin(visit.request()) + link : link);
    }

    /** Changes an existing user; does not create one. */
    private static Inside.Call changing(String name, ObjectNode body, String key) {
        Inside.Call post = Inside.Call.post(Inside.path("v1", "people", name), Json.bytes(body), key);
        return new Inside.Call("PUT", post.path(), "", post.headers(), post.body()).with("If-Match", "*");
    }

    /** Changes a user. Shows a new link on the response page only, because the server does not store it. */
    private static Answer turn(Visit visit, Form form) throws Exception {
        String name = form.text("name").strip();
        ObjectNode body = JsonNodeFactory.instance.objectNode();
        String key = form.text("key");
        switch (form.text("turn")) {
            case "disable" -> visit.send("PUT", Inside.path("v1", "people", name), body.put("disabled", true), key);
            case "enable" -> visit.send("PUT", Inside.path("v1", "people", name), body.put("disabled", false), key);
            case "remove" -> visit.send("DELETE", Inside.path("v1", "people", name), body, key);
            case "take-back" -> visit.send("DELETE", Inside.path("v1", "people", name, "invitation"), body, key);
            case "groups" -> {
                ArrayNode groups = body.putArray("groups");
                Stream.of(form.text("groups").split("[,\\s]+"))
                        .filter(one -> !one.isEmpty())
                        .forEach(groups::add);
                visit.ask(changing(name, body, key));
            }
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
