package dev.semel.server.dashboard;

import dev.semel.server.http.HttpResponse;
import dev.semel.server.http.InternalApiClient;
import dev.semel.server.http.Router;
import dev.semel.server.http.TokenScope;
import java.util.Map;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** The pages for schedules, events, workers and the audit log. */
final class ListPages {
    private ListPages() {}

    static void addTo(Router router, DashboardGuard guard) {
        router.add("GET", "/schedules", TokenScope.OPEN, guard.page(ListPages::schedules))
                .add(
                        "GET",
                        "/schedules/{workflow}/{name}",
                        TokenScope.OPEN,
                        guard.page(visit -> schedule(visit, ApiJson.EMPTY)))
                .add("GET", "/events", TokenScope.OPEN, guard.page(ListPages::events))
                .add("GET", "/events/{event_id}", TokenScope.OPEN, guard.page(ListPages::event))
                .add("GET", "/workers", TokenScope.OPEN, guard.page(ListPages::workers))
                .add("GET", "/audit", TokenScope.OPEN, guard.page(ListPages::audit));
    }

    static String cursorQuery(PageVisit visit) {
        String after = visit.queryParameter("after");
        return after.isEmpty() ? "" : "after=" + InternalApiClient.encode(after);
    }

    /** The query for an API list that takes a filter string as `q`. */
    static String filterQuery(PageVisit visit, String words) {
        return joinQueries(words.isEmpty() ? "" : "q=" + InternalApiClient.encode(words), cursorQuery(visit));
    }

    static String joinQueries(String one, String other) {
        return one.isEmpty() ? other : other.isEmpty() ? one : one + "&" + other;
    }

    private static HttpResponse schedules(PageVisit visit) throws Exception {
        TableView grid = TableView.titled("Schedules of current workflow versions")
                .link(
                        "Schedule",
                        doc -> doc.text("schedule"),
                        doc -> InternalApiClient.path("schedules", doc.text("workflow"), doc.text("schedule")))
                .link("Workflow", "workflow", "workflows")
                .text("When", doc -> doc.at("spec").text())
                .time("Next tick", "next_at")
                .link("Last run", "last_run_id", "runs")
                .text("Paused", doc -> doc.is("paused") ? "paused" : "")
                .button("", doc -> doc.is("paused") ? "Resume" : "Pause", doc -> toggleUrl(visit, doc))
                .whenEmpty(
                        "No workflow has a schedule. Add trigger.schedules to a workflow file and publish it:",
                        "semel publish workflows/")
                .withRows(visit.get("/v1/schedules", cursorQuery(visit)));
        return visit.show("list", "Schedules", "Schedules", Map.of("grid", grid));
    }

    /** The URL that pauses or resumes the schedule; empty if the user may not. */
    private static String toggleUrl(PageVisit visit, ApiJson schedule) {
        String turn = schedule.is("paused") ? "resume" : "pause";
        String workflow = schedule.text("workflow");
        String name = schedule.text("schedule");
        return visit.isAllowed("POST", InternalApiClient.path("v1", "workflows", workflow, "schedules", name, turn))
                ? InternalApiClient.path("schedules", workflow, name, turn)
                : "";
    }

    /** Starts runs for ticks that have none, and shows the result on the schedule's page. */
    static HttpResponse backfill(PageVisit visit, SubmittedForm form) throws Exception {
        ObjectNode body = JsonNodeFactory.instance
                .objectNode()
                .put("from", moment(form.text("from").strip()))
                .put("to", moment(form.text("to").strip()));
        String path = InternalApiClient.path(
                "v1",
                "workflows",
                visit.pathParameter("workflow"),
                "schedules",
                visit.pathParameter("name"),
                "backfill");
        return schedule(visit, visit.send("POST", path, body, form.text("key")));
    }

    /** A datetime field has no zone; the form says that it is UTC. */
    private static String moment(String text) {
        return text.matches(".*(?:Z|[+-][0-9]{2}:[0-9]{2})") ? text : text + "Z";
    }

    private static HttpResponse schedule(PageVisit visit, ApiJson filled) throws Exception {
        String path = InternalApiClient.path(
                "v1", "workflows", visit.pathParameter("workflow"), "schedules", visit.pathParameter("name"));
        ApiJson schedule = visit.get(path);
        TableView ticks = TableView.titled("Ticks, newest first")
                .time("Nominal time", "scheduled_at")
                .status("Result", "status")
                .text("Reason", "reason")
                .link("Run", "run_id", "runs")
                .time("Recorded", "at")
                .whenEmpty("No ticks yet.", "")
                .withRows(visit.get(path + "/ticks", cursorQuery(visit)));
        return visit.show(
                "schedule",
                "Schedule " + visit.pathParameter("name"),
                "Schedules",
                Map.of(
                        "schedule",
                        schedule,
                        "grid",
                        ticks,
                        "filled",
                        filled,
                        "mayPause",
                        visit.isAllowed("POST", path + "/pause")));
    }

    private static HttpResponse events(PageVisit visit) throws Exception {
        TableView grid = TableView.titled("Events of the last seven days, newest first")
                .time("When", "received_at")
                .link("Type", doc -> doc.text("type"), doc -> InternalApiClient.path("events", doc.text("event_id")))
                .text("Source", "source")
                .code("Id", "id")
                .text("Trigger source", "kind")
                .text("Runs", "matched")
                .text("By", "actor_id")
                .whenEmpty(
                        "No events yet. Send one:",
                        "semel event send payment.succeeded --id evt_1 --data '{\"amount\":4900}'")
                .withRows(visit.get("/v1/events", cursorQuery(visit)));
        return visit.show("list", "Events", "Events", Map.of("grid", grid));
    }

    private static HttpResponse event(PageVisit visit) throws Exception {
        String path = InternalApiClient.path("v1", "events", visit.pathParameter("event_id"));
        return visit.show(
                "event",
                "Event " + visit.pathParameter("event_id"),
                "Events",
                Map.of("event", visit.get(path), "mayReprocess", visit.isAllowed("POST", path + "/reprocess")));
    }

    private static HttpResponse workers(PageVisit visit) throws Exception {
        TableView grid = TableView.titled("Workers connected to this store")
                .text("Worker", "worker")
                .status("Lease", "status")
                .text("Runs", "runs")
                .text("Version", "version")
                .time("Started", "started_at")
                .time("Renewed", "renewed_at")
                .time("Lease until", "lease_until")
                .text("Clock offset", doc -> doc.text("clock_ahead_ms") + " ms")
                .withRows(visit.get("/v1/workers"));
        return visit.show("list", "Workers", "Workers", Map.of("grid", grid));
    }

    private static HttpResponse audit(PageVisit visit) throws Exception {
        FilterForm filters = FilterForm.of(visit)
                .text("actor", "Actor", "tok_1")
                .text("action", "Action", "key or key.release")
                .text("target", "Target", "evt_1")
                .text("since", "Since", "2h or 2026-11-15T09:00:00Z")
                .text("until", "Until", "now");
        TableView grid = TableView.titled("Audit log, newest first")
                .time("When", "at")
                .link(
                        "Actor",
                        doc -> doc.text("actor_id"),
                        doc -> "?actor=" + InternalApiClient.encode(doc.text("actor_id")))
                .link(
                        "Action",
                        doc -> doc.text("action"),
                        doc -> "?action=" + InternalApiClient.encode(doc.text("action")))
                .link(
                        "Target",
                        doc -> doc.text("target"),
                        doc -> "?target=" + InternalApiClient.encode(doc.text("target")))
                .text("Reason", "reason")
                .whenEmpty(filters.isSet() ? "No audit entry matches this filter." : "No audit entries yet.", "")
                .withFilters(filters)
                .withRows(visit.get("/v1/audit", filterQuery(visit, filters.toFilterText())));
        return visit.show("list", "Audit", "Audit", Map.of("grid", grid, "filters", filters));
    }
}
