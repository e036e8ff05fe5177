package dev.semel.server.dashboard;

import dev.semel.json.StrictJson;
import dev.semel.server.access.UserAccounts;
import dev.semel.server.http.HttpResponse;
import dev.semel.server.http.InternalApiClient;
import dev.semel.server.http.Router;
import dev.semel.server.http.TokenScope;
import java.util.Map;
import java.util.stream.Stream;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** The pages for a user's own sessions and password, and an administrator's actions on users. */
final class UserPages {
    private UserPages() {}

    static void addTo(Router router, DashboardGuard guard) {
        router.add("GET", "/sessions", TokenScope.OPEN, guard.page(UserPages::sessions))
                .add("POST", "/sessions/{session_id}/end", TokenScope.OPEN, guard.form(UserPages::end))
                .add("POST", "/sessions/password", TokenScope.OPEN, guard.form(UserPages::changePassword))
                .add("POST", "/settings/users/action", TokenScope.OPEN, guard.form(UserPages::turn));
    }

    private static HttpResponse sessions(PageVisit visit) throws Exception {
        return sessions(visit, 200, "");
    }

    private static HttpResponse sessions(PageVisit visit, int status, String problem) throws Exception {
        ApiJson own = visit.get("/v1/sessions");
        return visit.show(
                status,
                new PageRenderer.PageContent(
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

    private static String current(PageVisit visit) {
        String cookie = Cookies.read(visit.request(), Cookies.SESSION);
        return cookie == null ? "" : UserAccounts.sessionId(cookie);
    }

    /** Changes the user's own password and ends all other sessions. */
    private static HttpResponse changePassword(PageVisit visit, SubmittedForm form) throws Exception {
        if (!form.text("new").equals(form.text("again"))) {
            return sessions(visit, 400, "The two new passwords differ. The password was not changed.");
        }
        ObjectNode body = JsonNodeFactory.instance
                .objectNode()
                .put("old", form.text("old"))
                .put("new", form.text("new"))
                .put("keep_session", current(visit));
        String name = visit.user().name();
        try {
            visit.send("POST", InternalApiClient.path("v1", "users", name, "password"), body, form.text("key"));
        } catch (ApiRejectionException e) {
            return sessions(
                    visit,
                    e.status(),
                    e.problem().text("detail") + " " + e.problem().text("fix"));
        }
        return PageRenderer.redirect("/sessions?did=password");
    }

    private static HttpResponse end(PageVisit visit, SubmittedForm form) throws Exception {
        String path = InternalApiClient.path("v1", "sessions", visit.pathParameter("session_id"));
        visit.send("DELETE", path, JsonNodeFactory.instance.objectNode(), form.text("key"));
        return PageRenderer.redirect("/sessions");
    }

    /**
     * Shows the invitation link as a complete URL. If the form was sent twice, only the first response had the link. A
     * role change creates no link.
     */
    static HttpResponse showInvitationLink(PageVisit visit, ApiJson answer) throws Exception {
        String link = answer.has("invitation")
                ? answer.text("invitation")
                : answer.has("invitation_id") ? "created before" : "";
        return SettingPages.list(visit, "users", link.startsWith("/") ? Cookies.origin(visit.request()) + link : link);
    }

    /** Changes an existing user; does not create one. */
    private static InternalApiClient.ApiCall changing(String name, ObjectNode body, String key) {
        InternalApiClient.ApiCall post = InternalApiClient.ApiCall.post(
                InternalApiClient.path("v1", "users", name), StrictJson.bytes(body), key);
        return new InternalApiClient.ApiCall("PUT", post.path(), "", post.headers(), post.body())
                .withHeader("If-Match", "*");
    }

    /** Changes a user. Shows a new link on the response page only, because the server does not store it. */
    private static HttpResponse turn(PageVisit visit, SubmittedForm form) throws Exception {
        String name = form.text("name").strip();
        ObjectNode body = JsonNodeFactory.instance.objectNode();
        String key = form.text("key");
        switch (form.text("action")) {
            case "disable" ->
                visit.send("PUT", InternalApiClient.path("v1", "users", name), body.put("disabled", true), key);
            case "enable" ->
                visit.send("PUT", InternalApiClient.path("v1", "users", name), body.put("disabled", false), key);
            case "remove" -> visit.send("DELETE", InternalApiClient.path("v1", "users", name), body, key);
            case "revoke-invitation" ->
                visit.send("DELETE", InternalApiClient.path("v1", "users", name, "invitation"), body, key);
            case "groups" -> {
                ArrayNode groups = body.putArray("groups");
                Stream.of(form.text("groups").split("[,\\s]+"))
                        .filter(one -> !one.isEmpty())
                        .forEach(groups::add);
                visit.call(changing(name, body, key));
            }
            case "sessions" -> visit.send("DELETE", InternalApiClient.path("v1", "users", name, "sessions"), body, key);
            case "reset" -> {
                ApiJson answer = visit.send("POST", InternalApiClient.path("v1", "users", name, "reset"), body, key);
                return showInvitationLink(visit, answer);
            }
            default -> {
                return PageRenderer.redirect("/settings/users");
            }
        }
        return PageRenderer.redirect("/settings/users");
    }
}
