package dev.semel.server.dashboard.run;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.dashboard.login.DashboardRouter;
import dev.semel.server.dashboard.page.DashboardPageRequest;
import dev.semel.server.dashboard.page.DashboardTemplateJsonAccessor;
import dev.semel.server.dashboard.page.SubmittedForm;
import dev.semel.server.dashboard.setting.DashboardAdministrationFormHandler;
import dev.semel.server.http.ServerHttpResponse;
import tools.jackson.databind.node.ObjectNode;

/** Handles the forms of the run page: cancel, signal, decide. A rejected form is shown again with its values. */
public record CancelAndSignalFormHandler(DashboardRunPages runs) {
    public void addTo(DashboardRouter routes) {
        routes.form("/runs/{run_id}/cancel", this::cancel)
                .form("/runs/{run_id}/signal", this::signal)
                .form("/runs/{run_id}/decide", this::decide);
    }

    private ServerHttpResponse cancel(DashboardPageRequest visit, SubmittedForm form) throws Exception {
        return trying(visit, form, "cancel", () -> {
            ObjectNode body = DashboardTemplateJsonAccessor.newObject().put("reason", form.text("reason"));
            visit.send("POST", form, body, "runs", visit.pathParameter("run_id"), "cancel");
            return done(visit, "cancel");
        });
    }

    private ServerHttpResponse signal(DashboardPageRequest visit, SubmittedForm form) throws Exception {
        return trying(visit, form, "signal", () -> {
            ObjectNode body = DashboardTemplateJsonAccessor.newObject();
            body.set("data", DashboardAdministrationFormHandler.parseData(form));
            String name = form.text("name").strip();
            visit.send("POST", form, body, "runs", visit.pathParameter("run_id"), "signals", name);
            return done(visit, "signal");
        });
    }

    private ServerHttpResponse decide(DashboardPageRequest visit, SubmittedForm form) throws Exception {
        return trying(visit, form, "decide " + form.text("step"), () -> {
            ObjectNode body = DashboardTemplateJsonAccessor.newObject()
                    .put("step", form.text("step"))
                    .put("decision", form.text("decision"))
                    .put("note", form.text("note"));
            if (form.text("decision").equals("happened") && !form.text("data").isBlank()) {
                body.set("result", DashboardAdministrationFormHandler.parseData(form));
            }
            HumanReviewPages.putQuestionVersion(form, body);
            DashboardTemplateJsonAccessor answer =
                    visit.send("POST", form, body, "runs", visit.pathParameter("run_id"), "decide");
            if (!answer.is("decided")) {
                throw new SemelException(
                        ErrorCode.PRECONDITION_FAILED,
                        "This step does not wait for this decision: a user has already decided, or the run has"
                                + " continued. Nothing was changed.",
                        "Check the current state of the run below. If the run still has an open review, decide that"
                                + " review.");
            }
            return done(visit, "decide");
        });
    }

    private ServerHttpResponse trying(
            DashboardPageRequest visit, SubmittedForm form, String name, DashboardPageRequest.FormAction action)
            throws Exception {
        return visit.submit(name, form, action, rejection -> runs.one(visit, rejection));
    }

    private static ServerHttpResponse done(DashboardPageRequest visit, String what) {
        return visit.redirect(what, "runs", visit.pathParameter("run_id"));
    }
}
