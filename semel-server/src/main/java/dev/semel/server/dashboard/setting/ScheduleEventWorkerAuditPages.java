package dev.semel.server.dashboard.setting;

import dev.semel.server.dashboard.login.DashboardRouter;
import dev.semel.server.dashboard.page.DashboardListFilterForm;
import dev.semel.server.dashboard.page.DashboardListTableModel;
import dev.semel.server.dashboard.page.DashboardPageRequest;
import dev.semel.server.dashboard.page.DashboardTemplateJsonAccessor;
import dev.semel.server.dashboard.page.SubmittedForm;
import dev.semel.server.dashboard.page.UrlQuery;
import dev.semel.server.http.InProcessApiClient;
import dev.semel.server.http.ServerHttpResponse;
import tools.jackson.databind.node.ObjectNode;

public final class ScheduleEventWorkerAuditPages {
    private ScheduleEventWorkerAuditPages() {}

    public static void addTo(DashboardRouter routes) {
        routes.page("/schedules", ScheduleEventWorkerAuditPages::schedules)
                .page("/schedules/{workflow}/{name}", visit -> schedule(visit, DashboardTemplateJsonAccessor.EMPTY))
                .page("/events", ScheduleEventWorkerAuditPages::events)
                .page("/events/{event_id}", ScheduleEventWorkerAuditPages::event)
                .page("/workers", ScheduleEventWorkerAuditPages::workers)
                .page("/audit", ScheduleEventWorkerAuditPages::audit);
    }

    /** The query for an API list that takes a filter string as `q`. */
    public static UrlQuery filterQuery(DashboardPageRequest visit, String words) {
        return visit.cursor().and("q", words);
    }

    private static ServerHttpResponse schedules(DashboardPageRequest visit) throws Exception {
        DashboardListTableModel grid = DashboardListTableModel.titled("Schedules of current workflow versions")
                .link(
                        "Schedule",
                        doc -> doc.text("schedule"),
                        doc -> InProcessApiClient.path("schedules", doc.text("workflow"), doc.text("schedule")))
                .link("Workflow", "workflow", "workflows")
                .text("When", doc -> doc.at("spec").text())
                .time("Next tick", "next_at")
                .link("Last run", "last_run_id", "runs")
                .text("Paused", doc -> doc.is("paused") ? "paused" : "")
                .button("", doc -> doc.is("paused") ? "Resume" : "Pause", doc -> toggleUrl(visit, doc))
                .whenEmpty(
                        "No workflow has a schedule. Add trigger.schedules to a workflow file and publish it:",
                        "semel publish workflows/")
                .withRows(visit.get("/v1/schedules", visit.cursor()));
        return visit.page("list", "Schedules", "Schedules").with("grid", grid).show();
    }

    /** The URL that pauses or resumes the schedule; empty if the user may not. */
    private static String toggleUrl(DashboardPageRequest visit, DashboardTemplateJsonAccessor schedule) {
        String turn = schedule.is("paused") ? "resume" : "pause";
        String workflow = schedule.text("workflow");
        String name = schedule.text("schedule");
        return visit.isAllowed("POST", InProcessApiClient.path("v1", "workflows", workflow, "schedules", name, turn))
                ? InProcessApiClient.path("schedules", workflow, name, turn)
                : "";
    }

    /** Starts runs for ticks that have none, and shows the result on the schedule's page. */
    static ServerHttpResponse backfill(DashboardPageRequest visit, SubmittedForm form) throws Exception {
        ObjectNode body = DashboardTemplateJsonAccessor.newObject()
                .put("from", moment(form.text("from").strip()))
                .put("to", moment(form.text("to").strip()));
        String workflow = visit.pathParameter("workflow");
        String name = visit.pathParameter("name");
        return schedule(visit, visit.send("POST", form, body, "workflows", workflow, "schedules", name, "backfill"));
    }

    /** A datetime field has no zone; the form says that it is UTC. */
    private static String moment(String text) {
        return text.matches(".*(?:Z|[+-][0-9]{2}:[0-9]{2})") ? text : text + "Z";
    }

    private static ServerHttpResponse schedule(DashboardPageRequest visit, DashboardTemplateJsonAccessor filled)
            throws Exception {
        String path = InProcessApiClient.path(
                "v1", "workflows", visit.pathParameter("workflow"), "schedules", visit.pathParameter("name"));
        DashboardTemplateJsonAccessor schedule = visit.get(path);
        DashboardListTableModel ticks = DashboardListTableModel.titled("Ticks, newest first")
                .time("Nominal time", "scheduled_at")
                .status("Result", "status")
                .text("Reason", "reason")
                .link("Run", "run_id", "runs")
                .time("Recorded", "at")
                .whenEmpty("No ticks yet.", "")
                .withRows(visit.get(path + "/ticks", visit.cursor()));
        return visit.page("schedule", "Schedule " + visit.pathParameter("name"), "Schedules")
                .with("schedule", schedule)
                .with("grid", ticks)
                .with("filled", filled)
                .with("mayPause", visit.isAllowed("POST", path + "/pause"))
                .show();
    }

    private static ServerHttpResponse events(DashboardPageRequest visit) throws Exception {
        DashboardListTableModel grid = DashboardListTableModel.titled("Events of the last seven days, newest first")
                .time("When", "received_at")
                .link("Type", doc -> doc.text("type"), doc -> InProcessApiClient.path("events", doc.text("event_id")))
                .text("Source", "source")
                .code("Id", "id")
                .text("Trigger source", "kind")
                .text("Runs", "matched")
                .text("By", "actor_id")
                .whenEmpty(
                        "No events yet. Send one:",
                        "semel event send payment.succeeded --id evt_1 --data '{\"amount\":4900}'")
                .withRows(visit.get("/v1/events", visit.cursor()));
        return visit.page("list", "Events", "Events").with("grid", grid).show();
    }

    private static ServerHttpResponse event(DashboardPageRequest visit) throws Exception {
        String path = InProcessApiClient.path("v1", "events", visit.pathParameter("event_id"));
        return visit.page("event", "Event " + visit.pathParameter("event_id"), "Events")
                .with("event", visit.get(path))
                .with("mayReprocess", visit.isAllowed("POST", path + "/reprocess"))
                .show();
    }

    private static ServerHttpResponse workers(DashboardPageRequest visit) throws Exception {
        DashboardListTableModel grid = DashboardListTableModel.titled("Workers connected to this store")
                .text("Worker", "worker")
                .status("Lease", "status")
                .text("Runs", "runs")
                .text("Version", "version")
                .time("Started", "started_at")
                .time("Renewed", "renewed_at")
                .time("Lease until", "lease_until")
                .text("Clock offset", doc -> doc.text("clock_ahead_ms") + " ms")
                .withRows(visit.get("/v1/workers"));
        return visit.page("list", "Workers", "Workers").with("grid", grid).show();
    }

    private static ServerHttpResponse audit(DashboardPageRequest visit) throws Exception {
        DashboardListFilterForm filters = DashboardListFilterForm.of(visit)
                .text("actor", "Actor", "tok_1")
                .text("action", "Action", "key or key.release")
                .text("target", "Target", "evt_1")
                .text("since", "Since", "2h or 2026-11-15T09:00:00Z")
                .text("until", "Until", "now");
        DashboardListTableModel grid = DashboardListTableModel.titled("Audit log, newest first")
                .time("When", "at")
                .filterLink("Actor", "actor_id", "actor")
                .filterLink("Action", "action", "action")
                .filterLink("Target", "target", "target")
                .text("Reason", "reason")
                .whenEmpty(filters.isSet() ? "No audit entry matches this filter." : "No audit entries yet.", "")
                .withFilters(filters)
                .withRows(visit.get("/v1/audit", filterQuery(visit, filters.toFilterText())));
        return visit.page("list", "Audit", "Audit")
                .with("grid", grid)
                .with("filters", filters)
                .show();
    }
}
