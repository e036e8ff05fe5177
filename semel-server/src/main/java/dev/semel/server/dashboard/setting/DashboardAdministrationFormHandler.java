package dev.semel.server.dashboard.setting;

import dev.semel.json.StrictJsonCodec;
import dev.semel.server.dashboard.login.DashboardRouter;
import dev.semel.server.dashboard.page.DashboardPageRequest;
import dev.semel.server.dashboard.page.DashboardTemplateJsonAccessor;
import dev.semel.server.dashboard.page.PageRenderer;
import dev.semel.server.dashboard.page.SubmittedForm;
import dev.semel.server.http.InProcessApiClient;
import dev.semel.server.http.ServerHttpResponse;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Each form has a key that the API gets as `Idempotency-Key`, so that a double click is one action. */
public final class DashboardAdministrationFormHandler {
    private DashboardAdministrationFormHandler() {}

    public static void addTo(DashboardRouter routes) {
        routes.form("/workflows/{id}/pause", (visit, form) -> turn(visit, form, "pause"))
                .form("/workflows/{id}/resume", (visit, form) -> turn(visit, form, "resume"))
                .form("/keys/{key}/release", DashboardAdministrationFormHandler::release)
                .form("/keys/{key}/extend", DashboardAdministrationFormHandler::extend)
                .form("/events/{event_id}/reprocess", DashboardAdministrationFormHandler::reprocess)
                .form("/schedules/{workflow}/{name}/{action}", DashboardAdministrationFormHandler::schedule)
                .form("/settings/users", DashboardAdministrationFormHandler::invite);
    }

    /** Parses the form's JSON field; an empty field is an empty object. */
    public static JsonNode parseData(SubmittedForm form) {
        String text = form.text("data").strip();
        return text.isEmpty() ? DashboardTemplateJsonAccessor.newObject() : StrictJsonCodec.parse(text);
    }

    private static ServerHttpResponse turn(DashboardPageRequest visit, SubmittedForm form, String which)
            throws Exception {
        visit.send(
                "POST", form, DashboardTemplateJsonAccessor.newObject(), "workflows", visit.pathParameter("id"), which);
        return visit.redirect(which, "workflows", visit.pathParameter("id"));
    }

    private static ServerHttpResponse release(DashboardPageRequest visit, SubmittedForm form) throws Exception {
        ObjectNode body = DashboardTemplateJsonAccessor.newObject()
                .put("reason", form.text("reason"))
                .put("run_id", form.text("run_id"));
        visit.send("POST", form, body, "keys", visit.pathParameter("key"), "release");
        return PageRenderer.redirect(InProcessApiClient.path("keys", visit.pathParameter("key"))
                + "?did=release&workflow=" + InProcessApiClient.encode(form.text("workflow")));
    }

    private static ServerHttpResponse extend(DashboardPageRequest visit, SubmittedForm form) throws Exception {
        ObjectNode body = DashboardTemplateJsonAccessor.newObject()
                .put("for", form.text("for").strip())
                .put("reason", form.text("reason"));
        String path = InProcessApiClient.path("v1", "keys", visit.pathParameter("key"), "extend");
        // Several workflows can have this key; the form names the workflow of the page.
        String of = "workflow=" + InProcessApiClient.encode(form.text("workflow"));
        visit.call(DashboardPageRequest.change("POST", path, of, body, form.text("key")));
        return PageRenderer.redirect(
                InProcessApiClient.path("keys", visit.pathParameter("key")) + "?" + of + "&did=extend");
    }

    private static ServerHttpResponse reprocess(DashboardPageRequest visit, SubmittedForm form) throws Exception {
        visit.send(
                "POST",
                form,
                DashboardTemplateJsonAccessor.newObject(),
                "events",
                visit.pathParameter("event_id"),
                "reprocess");
        return visit.redirect("reprocess", "events", visit.pathParameter("event_id"));
    }

    private static ServerHttpResponse schedule(DashboardPageRequest visit, SubmittedForm form) throws Exception {
        if (visit.pathParameter("action").equals("backfill")) {
            return ScheduleEventWorkerAuditPages.backfill(visit, form);
        }
        String action = visit.pathParameter("action").equals("resume") ? "resume" : "pause";
        String workflow = visit.pathParameter("workflow");
        String name = visit.pathParameter("name");
        visit.send(
                "POST",
                form,
                DashboardTemplateJsonAccessor.newObject(),
                "workflows",
                workflow,
                "schedules",
                name,
                action);
        return visit.redirect(action + "_schedule", "schedules", workflow, name);
    }

    /** Shows the invitation link on the response page only, because the server does not store it. */
    private static ServerHttpResponse invite(DashboardPageRequest visit, SubmittedForm form) throws Exception {
        ObjectNode body = DashboardTemplateJsonAccessor.newObject().put("role", form.text("role"));
        DashboardTemplateJsonAccessor answer =
                visit.send("PUT", form, body, "users", form.text("name").strip());
        return UserPages.showInvitationLink(visit, answer);
    }
}
