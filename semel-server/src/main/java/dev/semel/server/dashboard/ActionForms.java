package dev.semel.server.dashboard;

import dev.semel.json.StrictJson;
import dev.semel.server.http.HttpResponse;
import dev.semel.server.http.InternalApiClient;
import dev.semel.server.http.Router;
import dev.semel.server.http.TokenScope;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Handles dashboard forms that change workflows, keys, events, schedules and users. Each form has a key that the API
 * gets as `Idempotency-Key`, so that a double click is one action.
 */
final class ActionForms {
    private ActionForms() {}

    static void addTo(Router router, DashboardGuard guard) {
        router.add(
                        "POST",
                        "/workflows/{id}/pause",
                        TokenScope.OPEN,
                        guard.form((visit, form) -> turn(visit, form, "pause")))
                .add(
                        "POST",
                        "/workflows/{id}/resume",
                        TokenScope.OPEN,
                        guard.form((visit, form) -> turn(visit, form, "resume")))
                .add("POST", "/keys/{key}/release", TokenScope.OPEN, guard.form(ActionForms::release))
                .add("POST", "/keys/{key}/extend", TokenScope.OPEN, guard.form(ActionForms::extend))
                .add("POST", "/events/{event_id}/reprocess", TokenScope.OPEN, guard.form(ActionForms::reprocess))
                .add(
                        "POST",
                        "/schedules/{workflow}/{name}/{action}",
                        TokenScope.OPEN,
                        guard.form(ActionForms::schedule))
                .add("POST", "/settings/users", TokenScope.OPEN, guard.form(ActionForms::invite));
    }

    private static ObjectNode object() {
        return JsonNodeFactory.instance.objectNode();
    }

    /** Parses the form's JSON field; an empty field is an empty object. */
    static JsonNode parseData(SubmittedForm form) {
        String text = form.text("data").strip();
        return text.isEmpty() ? object() : StrictJson.parse(text);
    }

    private static HttpResponse turn(PageVisit visit, SubmittedForm form, String which) throws Exception {
        visit.send(
                "POST",
                InternalApiClient.path("v1", "workflows", visit.pathParameter("id"), which),
                object(),
                form.text("key"));
        return PageRenderer.redirect(InternalApiClient.path("workflows", visit.pathParameter("id")) + "?did=" + which);
    }

    private static HttpResponse release(PageVisit visit, SubmittedForm form) throws Exception {
        ObjectNode body = object().put("reason", form.text("reason")).put("run_id", form.text("run_id"));
        visit.send(
                "POST",
                InternalApiClient.path("v1", "keys", visit.pathParameter("key"), "release"),
                body,
                form.text("key"));
        return PageRenderer.redirect(InternalApiClient.path("keys", visit.pathParameter("key"))
                + "?did=release&workflow=" + InternalApiClient.encode(form.text("workflow")));
    }

    private static HttpResponse extend(PageVisit visit, SubmittedForm form) throws Exception {
        ObjectNode body = object().put("for", form.text("for").strip()).put("reason", form.text("reason"));
        String path = InternalApiClient.path("v1", "keys", visit.pathParameter("key"), "extend");
        // Several workflows can have this key; the form names the workflow of the page.
        String of = "workflow=" + InternalApiClient.encode(form.text("workflow"));
        InternalApiClient.ApiCall call = InternalApiClient.ApiCall.post(path, StrictJson.bytes(body), form.text("key"));
        visit.call(new InternalApiClient.ApiCall("POST", path, of, call.headers(), call.body()));
        return PageRenderer.redirect(
                InternalApiClient.path("keys", visit.pathParameter("key")) + "?" + of + "&did=extend");
    }

    private static HttpResponse reprocess(PageVisit visit, SubmittedForm form) throws Exception {
        visit.send(
                "POST",
                InternalApiClient.path("v1", "events", visit.pathParameter("event_id"), "reprocess"),
                object(),
                form.text("key"));
        return PageRenderer.redirect(
                InternalApiClient.path("events", visit.pathParameter("event_id")) + "?did=reprocess");
    }

    private static HttpResponse schedule(PageVisit visit, SubmittedForm form) throws Exception {
        if (visit.pathParameter("action").equals("backfill")) {
            return ListPages.backfill(visit, form);
        }
        String action = visit.pathParameter("action").equals("resume") ? "resume" : "pause";
        String path = InternalApiClient.path(
                "v1", "workflows", visit.pathParameter("workflow"), "schedules", visit.pathParameter("name"), action);
        visit.send("POST", path, object(), form.text("key"));
        return PageRenderer.redirect(
                InternalApiClient.path("schedules", visit.pathParameter("workflow"), visit.pathParameter("name"))
                        + "?did=" + action);
    }

    /** Shows the invitation link on the response page only, because the server does not store it. */
    private static HttpResponse invite(PageVisit visit, SubmittedForm form) throws Exception {
        ObjectNode body = object().put("role", form.text("role"));
        ApiJson answer = visit.send(
                "PUT", InternalApiClient.path("v1", "users", form.text("name").strip()), body, form.text("key"));
        return UserPages.showInvitationLink(visit, answer);
    }
}
