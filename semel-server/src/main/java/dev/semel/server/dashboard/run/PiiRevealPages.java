package dev.semel.server.dashboard.run;

import dev.semel.server.dashboard.login.DashboardRouter;
import dev.semel.server.dashboard.page.DashboardPageRequest;
import dev.semel.server.dashboard.page.DashboardTemplateJsonAccessor;
import dev.semel.server.dashboard.page.SubmittedForm;
import dev.semel.server.http.InProcessApiClient;
import dev.semel.server.http.ServerHttpResponse;

/** Shows a run's masked fields once to a user who gives a reason. The audit records it. */
public final class PiiRevealPages {
    private static final String PAGE = "/runs/{run_id}/reveal";

    private PiiRevealPages() {}

    public static void addTo(DashboardRouter routes) {
        routes.page(PAGE, visit -> show(visit, DashboardTemplateJsonAccessor.EMPTY))
                .form(PAGE, PiiRevealPages::reveal);
    }

    private static ServerHttpResponse reveal(DashboardPageRequest visit, SubmittedForm form) throws Exception {
        var body = DashboardTemplateJsonAccessor.newObject().put("reason", form.text("reason"));
        return show(visit, visit.send("POST", path(visit) + "/reveal", body, form.text("key")));
    }

    private static ServerHttpResponse show(DashboardPageRequest visit, DashboardTemplateJsonAccessor shown)
            throws Exception {
        DashboardTemplateJsonAccessor run = visit.get(path(visit));
        return visit.page("reveal", "Masked fields of " + run.text("run_id"), "Runs")
                .with("run", run)
                .with("shown", shown)
                .with("may", visit.isAllowed("POST", path(visit) + "/reveal"))
                .show();
    }

    private static String path(DashboardPageRequest visit) {
        return InProcessApiClient.path("v1", "runs", visit.pathParameter("run_id"));
    }
}
