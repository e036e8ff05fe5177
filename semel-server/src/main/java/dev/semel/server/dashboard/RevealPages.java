package dev.semel.server.dashboard;

import dev.semel.server.http.HttpResponse;
import dev.semel.server.http.InternalApiClient;
import dev.semel.server.http.Router;
import dev.semel.server.http.TokenScope;
import java.util.Map;
import tools.jackson.databind.node.JsonNodeFactory;

/** Shows a run's masked fields once to a user who gives a reason. The audit records it. */
final class RevealPages {
    private static final String PAGE = "/runs/{run_id}/reveal";

    private RevealPages() {}

    static void addTo(Router router, DashboardGuard guard) {
        router.add("GET", PAGE, TokenScope.OPEN, guard.page(visit -> show(visit, ApiJson.EMPTY)))
                .add("POST", PAGE, TokenScope.OPEN, guard.form(RevealPages::reveal));
    }

    private static HttpResponse reveal(PageVisit visit, SubmittedForm form) throws Exception {
        var body = JsonNodeFactory.instance.objectNode().put("reason", form.text("reason"));
        return show(visit, visit.send("POST", path(visit) + "/reveal", body, form.text("key")));
    }

    private static HttpResponse show(PageVisit visit, ApiJson shown) throws Exception {
        ApiJson run = visit.get(path(visit));
        return visit.show(
                "reveal",
                "Masked fields of " + run.text("run_id"),
                "Runs",
                Map.of("run", run, "shown", shown, "may", visit.isAllowed("POST", path(visit) + "/reveal")));
    }

    private static String path(PageVisit visit) {
        return InternalApiClient.path("v1", "runs", visit.pathParameter("run_id"));
    }
}
