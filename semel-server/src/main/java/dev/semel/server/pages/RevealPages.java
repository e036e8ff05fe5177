package dev.semel.server.pages;

import dev.semel.server.http.Answer;
import dev.semel.server.http.Inside;
import dev.semel.server.http.Router;
import dev.semel.server.http.Scope;
import java.util.Map;
import tools.jackson.databind.node.JsonNodeFactory;

/** Shows a run's masked fields once to a user who gives a reason. The audit records it. */
final class RevealPages {
    private static final String PAGE = "/runs/{run_id}/reveal";

    private RevealPages() {}

    static void addTo(Router router, Door guard) {
        router.add("GET", PAGE, Scope.OPEN, guard.page(visit -> show(visit, Doc.NOTHING)))
                .add("POST", PAGE, Scope.OPEN, guard.deed(RevealPages::reveal));
    }

    private static Answer reveal(Visit visit, Form form) throws Exception {
        var body = JsonNodeFactory.instance.objectNode().put("reason", form.text("reason"));
        return show(visit, visit.send("POST", path(visit) + "/reveal", body, form.text("key")));
    }

    private static Answer show(Visit visit, Doc shown) throws Exception {
        Doc run = visit.get(path(visit));
        return visit.show(
                "reveal",
                "Masked fields of " + run.text("run_id"),
                "Runs",
                Map.of("run", run, "shown", shown, "may", visit.may("POST", path(visit) + "/reveal")));
    }

    private static String path(Visit visit) {
        return Inside.path("v1", "runs", visit.part("run_id"));
    }
}
