package dev.semel.server.dashboard;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.http.HttpResponse;
import dev.semel.server.http.InternalApiClient;
import dev.semel.server.http.Router;
import dev.semel.server.http.TokenScope;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Handles the forms of the run page: cancel, signal, decide. A rejected form is shown again with its values. */
final class RunActionForms {
    private final RunHistoryPages runs;

    RunActionForms(RunHistoryPages runs) {
        this.runs = runs;
    }

    void addTo(Router router, DashboardGuard guard) {
        router.add("POST", "/runs/{run_id}/cancel", TokenScope.OPEN, guard.form(this::cancel))
                .add("POST", "/runs/{run_id}/signal", TokenScope.OPEN, guard.form(this::signal))
                .add("POST", "/runs/{run_id}/decide", TokenScope.OPEN, guard.form(this::decide));
    }

    private HttpResponse cancel(PageVisit visit, SubmittedForm form) throws Exception {
        return trying(visit, form, "cancel", () -> {
            ObjectNode body = JsonNodeFactory.instance.objectNode().put("reason", form.text("reason"));
            visit.send(
                    "POST",
                    InternalApiClient.path("v1", "runs", visit.pathParameter("run_id"), "cancel"),
                    body,
                    form.text("key"));
            return done(visit, "cancel");
        });
    }

    private HttpResponse signal(PageVisit visit, SubmittedForm form) throws Exception {
        return trying(visit, form, "signal", () -> {
            ObjectNode body = JsonNodeFactory.instance.objectNode();
            body.set("data", ActionForms.parseData(form));
            String name = form.text("name").strip();
            visit.send(
                    "POST",
                    InternalApiClient.path("v1", "runs", visit.pathParameter("run_id"), "signals", name),
                    body,
                    form.text("key"));
            return done(visit, "signal");
        });
    }

    private HttpResponse decide(PageVisit visit, SubmittedForm form) throws Exception {
        return trying(visit, form, "decide " + form.text("step"), () -> {
            ObjectNode body = JsonNodeFactory.instance
                    .objectNode()
                    .put("step", form.text("step"))
                    .put("decision", form.text("decision"))
                    .put("note", form.text("note"));
            if (form.text("decision").equals("happened") && !form.text("data").isBlank()) {
                body.set("result", ActionForms.parseData(form));
            }
            ReviewPages.putQuestionVersion(form, body);
            ApiJson answer = visit.send(
                    "POST",
                    InternalApiClient.path("v1", "runs", visit.pathParameter("run_id"), "decide"),
                    body,
                    form.text("key"));
            if (!answer.is("decided")) {
                throw new SemelException(
                        ErrorCode.PRECONDITION_FAILED,
                        "This step does not wait for that decision: a user decided it before, or the run has continued."
                                + " Nothing was changed.",
                        "Check the current state of the run below. If it still has an open question, decide that one.");
            }
            return done(visit, "decide");
        });
    }

    private HttpResponse trying(PageVisit visit, SubmittedForm form, String name, PageVisit.FormAction action)
            throws Exception {
        return visit.submit(name, form, action, rejection -> runs.one(visit, rejection));
    }

    private static HttpResponse done(PageVisit visit, String what) {
        return PageRenderer.redirect(InternalApiClient.path("runs", visit.pathParameter("run_id")) + "?did=" + what);
    }
}
