package dev.semel.server.dashboard.setting;

import dev.semel.server.access.UserAccountStore;
import dev.semel.server.dashboard.login.DashboardRouter;
import dev.semel.server.dashboard.page.ApiErrorResponseException;
import dev.semel.server.dashboard.page.DashboardCookies;
import dev.semel.server.dashboard.page.DashboardPageRequest;
import dev.semel.server.dashboard.page.DashboardTemplateJsonAccessor;
import dev.semel.server.dashboard.page.PageRenderer;
import dev.semel.server.dashboard.page.SubmittedForm;
import dev.semel.server.http.InProcessApiClient;
import dev.semel.server.http.ServerHttpResponse;
import java.util.stream.Stream;
import tools.jackson.databind.node.ObjectNode;

public final class UserPages {
    private UserPages() {}

    public static void addTo(DashboardRouter routes) {
        routes.page("/sessions", UserPages::sessions)
                .form("/sessions/{session_id}/end", UserPages::end)
                .form("/sessions/password", UserPages::changePassword)
                .form("/settings/users/action", UserPages::turn);
    }

    private static ServerHttpResponse sessions(DashboardPageRequest visit) throws Exception {
        return sessions(visit, 200, "");
    }

    private static ServerHttpResponse sessions(DashboardPageRequest visit, int status, String problem)
            throws Exception {
        DashboardTemplateJsonAccessor own = visit.get("/v1/sessions");
        return visit.page("sessions", "Your sessions", "")
                .with("sessions", own.items())
                .with("current", current(visit))
                .with("password", own.is("password"))
                .with("problem", problem)
                .show(status);
    }

    private static String current(DashboardPageRequest visit) {
        String cookie = DashboardCookies.readSession(visit.request());
        return cookie == null ? "" : UserAccountStore.sessionId(cookie);
    }

    /** Changes the user's own password and ends all other sessions. */
    private static ServerHttpResponse changePassword(DashboardPageRequest visit, SubmittedForm form) throws Exception {
        if (!form.text("new").equals(form.text("again"))) {
            return sessions(visit, 400, "The two new passwords differ. The password was not changed.");
        }
        ObjectNode body = DashboardTemplateJsonAccessor.newObject()
                .put("old", form.text("old"))
                .put("new", form.text("new"))
                .put("keep_session", current(visit));
        String name = visit.user().name();
        try {
            visit.send("POST", form, body, "users", name, "password");
        } catch (ApiErrorResponseException e) {
            return sessions(
                    visit,
                    e.status(),
                    e.problem().text("detail") + " " + e.problem().text("fix"));
        }
        return PageRenderer.redirect("/sessions?did=password");
    }

    private static ServerHttpResponse end(DashboardPageRequest visit, SubmittedForm form) throws Exception {
        visit.send(
                "DELETE",
                form,
                DashboardTemplateJsonAccessor.newObject(),
                "sessions",
                visit.pathParameter("session_id"));
        return PageRenderer.redirect("/sessions");
    }

    /**
     * Shows the invitation link as a complete URL. If the form was sent twice, only the first response had the link. A
     * role change creates no link.
     */
    static ServerHttpResponse showInvitationLink(DashboardPageRequest visit, DashboardTemplateJsonAccessor answer)
            throws Exception {
        String link = answer.has("invitation")
                ? answer.text("invitation")
                : answer.has("invitation_id") ? "created before" : "";
        return WorkspaceSettingListPages.list(
                visit, "users", link.startsWith("/") ? DashboardCookies.origin(visit.request()) + link : link);
    }

    /** Changes a user. Shows a new link on the response page only, because the server does not store it. */
    private static ServerHttpResponse turn(DashboardPageRequest visit, SubmittedForm form) throws Exception {
        String name = form.text("name").strip();
        ObjectNode body = DashboardTemplateJsonAccessor.newObject();
        switch (form.text("action")) {
            case "disable" -> visit.send("PUT", form, body.put("disabled", true), "users", name);
            case "enable" -> visit.send("PUT", form, body.put("disabled", false), "users", name);
            case "remove" -> visit.send("DELETE", form, body, "users", name);
            case "revoke-invitation" -> visit.send("DELETE", form, body, "users", name, "invitation");
            case "groups" -> {
                Stream.of(form.text("groups").split("[,\\s]+"))
                        .filter(one -> !one.isEmpty())
                        .forEach(body.putArray("groups")::add);
                // Only an existing user: this must not create one.
                String path = InProcessApiClient.path("v1", "users", name);
                visit.call(DashboardPageRequest.change("PUT", path, "", body, form.text("key"))
                        .withHeader("If-Match", "*"));
            }
            case "sessions" -> visit.send("DELETE", form, body, "users", name, "sessions");
            case "reset" -> {
                DashboardTemplateJsonAccessor answer = visit.send("POST", form, body, "users", name, "reset");
                return showInvitationLink(visit, answer);
            }
            default -> {}
        }
        return PageRenderer.redirect("/settings/users");
    }
}
