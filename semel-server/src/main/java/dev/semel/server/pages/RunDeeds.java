package dev.semel.server.pages;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.http.Answer;
import dev.semel.server.http.Inside;
import dev.semel.server.http.Router;
import dev.semel.server.http.Scope;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Handles the forms of the run page: cancel, signal, decide. A rejected form is shown again with its values. */
final class RunDeeds {
    private final RunPages runs;

    RunDeeds(RunPages runs) {
        this.runs = runs;
    }

    void addTo(Router router, Door guard) {
        router.add("POST", "/runs/{run_id}/cancel", Scope.OPEN, guard.deed(this::cancel))
                .add("POST", "/runs/{run_id}/signal", Scope.OPEN, guard.deed(this::signal))
                .add("POST", "/runs/{run_id}/decide", Scope.OPEN, guard.deed(this::decide));
    }

    private Answer cancel(Visit visit, Form form) throws Exception {
        return trying(visit, form, "cancel", () -> {
            ObjectNode body = JsonNodeFactory.instance.objectNode().put("reason", form.text("reason"));
            visit.send("POST", Inside.path("v1", "runs", visit.part("run_id"), "cancel"), body, form.text("key"));
            return done(visit, "cancel");
        });
    }

    private Answer signal(Visit visit, Form form) throws Exception {
        return trying(visit, form, "signal", () -> {
            ObjectNode body = JsonNodeFactory.instance.objectNode();
            body.set("data", Acts.data(form));
            String name = form.text("name").strip();
            visit.send(
                    "POST", Inside.path("v1", "runs", visit.part("run_id"), "signals", name), body, form.text("key"));
            return done(visit, "signal");
        });
    }

    private Answer decide(Visit visit, Form form) throws Exception {
        return trying(visit, form, "decide " + form.text("step"), () -> {
            ObjectNode body = JsonNodeFactory.instance
                    .objectNode()
                    .put("step", form.text("step"))
                    .put("decision", form.text("decision"))
                    .put("note", form.text("note"));
            if (form.text("decision").equals("happened") && !form.text("data").isBlank()) {
                body.set("result", Acts.data(form));
            }
            ReviewPages.meaning(form, body);
            Doc answer = visit.send(
                    "POST", Inside.path("v1", "runs", visit.part("run_id"), "decide"), body, form.text("key"));
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

    private Answer trying(Visit visit, Form form, String name, Visit.Deed action) throws Exception {
        return visit.trying(name, form, action, rejection -> runs.one(visit, rejection));
    }

    private static Answer done(Visit visit, String what) {
        return Look.goTo(Inside.path("runs", visit.part("run_id")) + "?did=" + what);
    }
}
