package dev.semel.server.pages;

import dev.semel.server.http.Answer;
import dev.semel.server.http.Inside;
import dev.semel.server.http.Router;
import dev.semel.server.http.Scope;
import java.util.Map;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** The pages for schedules, events, workers and the audit log. */
final class ListPages {
    private ListPages() {}

    static void addTo(Router router, Door guard) {
        router.add("GET", "/schedules", Scope.OPEN, guard.page(ListPages::schedules))
                .add(
                        "GET",
                        "/schedules/{workflow}/{name}",
                        Scope.OPEN,
                        guard.page(visit -> schedule(visit, Doc.NOTHING)))
                .add("GET", "/events", Scope.OPEN, guard.page(ListPages::events))
                .add("GET", "/events/{event_id}", Scope.OPEN, guard.page(ListPages::event))
                .add("GET", "/workers", Scope.OPEN, guard.page(ListPages::workers))
                .add("GET", "/audit", Scope.OPEN, guard.page(ListPages::audit));
    }

    static String behind(Visit visit) {
        String after = visit.asked("after");
        return after.isEmpty() ? "" : "after=" + Inside.encoded(after);
    }

    /** The query for an API list that takes a filter string as `q`. */
    static String words(Visit visit, String words) {
        return joined(words.isEmpty() ? "" : "q=" + Inside.encoded(words), behind(visit));
    }

    static String joined(String one, String other) {
        return one.isEmpty() ? other : other.isEmpty() ? one : one + "&" + other;
    }

    private static Answer schedules(Visit visit) throws Exception {
        Grid grid = Grid.named("Schedules of current workflow versions")
                .link(
                        "Schedule",
                        doc -> doc.text("schedule"),
                        doc -> Inside.path("schedules", doc.text("workflow"), doc.text("schedule")))
                .link("Workflow", "workflow", "workflows")
                .text("When", doc -> doc.at("spec").text())
                .time("Next tick", "next_at")
                .link("Last run", "last_run_id", "runs")
                .text("Paused", doc -> doc.is("paused") ? "paused" : "")
                .deed("", doc -> doc.is("paused") ? "Resume" : "Pause", doc -> toggleUrl(visit, doc))
                .whenEmpty(
                        "No workflow has a schedule. Add trigger.schedules to a workflow file and publish it:",
                        "semel publish workflows/")
                .of(visit.get("/v1/schedules", behind(visit)));
        return visit.show("list", "Schedules", "Schedules", Map.of("grid", grid));
    }

    /** The URL that pauses or resumes the schedule; empty if the user may not. */
    private static String toggleUrl(Visit visit, Doc schedule) {
        String turn = schedule.is("paused") ? "resume" : "pause";
        String workflow = schedule.text("workflow");
        String name = schedule.text("schedule");
        return visit.may("POST", Inside.path("v1", "workflows", workflow, "schedules", name, turn))
                ? Inside.path("schedules", workflow, name, turn)
                : "";
    }

    /** Starts runs for ticks that have none, and shows the result on the schedule's page. */
    static Answer backfill(Visit visit, Form form) throws Exception {
        ObjectNode body = JsonNodeFactory.instance
                .objectNode()
                .put("from", moment(form.text("from").strip()))
                .put("to", moment(form.text("to").strip()));
        String path =
                Inside.path("v1", "workflows", visit.part("workflow"), "schedules", visit.part("name"), "backfill");
        return schedule(visit, visit.send("POST", path, body, form.text("key")));
    }

    /** A datetime field has no zone; the form says that it is UTC. */
    private static String moment(String text) {
        return text.matches(".*(?:Z|[+-][0-9]{2}:[0-9]{2})") ? text : text + "Z";
    }

    private static Answer schedule(Visit visit, Doc filled) throws Exception {
        String path = Inside.path("v1", "workflows", visit.part("workflow"), "schedules", visit.part("name"));
        Doc schedule = visit.get(path);
        Grid ticks = Grid.named("Ticks, newest first")
                .time("Nominal time", "scheduled_at")
                .status("Result", "status")
                .text("Reason", "reason")
                .link("Run", "run_id", "runs")
                .time("Recorded", "at")
                .whenEmpty("No ticks yet.", "")
                .of(visit.get(path + "/ticks", behind(visit)));
        return visit.show(
                "schedule",
                "Schedule " + visit.part("name"),
                "Schedules",
                Map.of(
                        "schedule",
                        schedule,
                        "grid",
                        ticks,
                        "filled",
                        filled,
                        "mayPause",
                        visit.may("POST", path + "/pause")));
    }

    private static Answer events(Visit visit) throws Exception {
        Grid grid = Grid.named("Events of the last seven days, newest first")
                .time("When", "received_at")
                .link("Type", doc -> doc.text("type"), doc -> Inside.path("events", doc.text("event_id")))
                .text("Source", "source")
                .code("Id", "id")
                .text("Trigger source", "door")
                .text("Runs", "matched")
                .text("By", "actor_id")
                .whenEmpty(
                        "No events yet. Send one:",
                        "semel emit payment.succeeded --id evt_1 --data '{\"amount\":4900}'")
                .of(visit.get("/v1/events", behind(visit)));
        return visit.show("list", "Events", "Events", Map.of("grid", grid));
    }

    private static Answer event(Visit visit) throws Exception {
        String path = Inside.path("v1", "events", visit.part("event_id"));
        return visit.show(
                "event",
                "Event " + visit.part("event_id"),
                "Events",
                Map.of("event", visit.get(path), "mayReprocess", visit.may("POST", path + "/reprocess")));
    }

    private static Answer workers(Visit visit) throws Exception {
        Grid grid = Grid.named("Workers connected to this store")
                .text("Worker", "worker")
                .status("Lease", "status")
                .text("Runs", "runs")
                .text("Version", "version")
                .time("Started", "started_at")
                .time("Renewed", "renewed_at")
                .time("Lease until", "lease_until")
                .text("Clock offset", doc -> doc.text("clock_ahead_ms") + " ms")
                .of(visit.get("/v1/workers"));
        return visit.show("list", "Workers", "Workers", Map.of("grid", grid));
    }

    private static Answer audit(Visit visit) throws Exception {
        Filters filters = Filters.of(visit)
                .text("actor", "Actor", "tok_1")
                .text("action", "Action", "key or key.release")
                .text("target", "Target", "evt_1")
                .text("since", "Since", "2h or 2026-11-15T09:00:00Z")
                .text("until", "Until", "now");
        Grid grid = Grid.named("Audit log, newest first")
                .time("When", "at")
                .link("Actor", doc -> doc.text("actor_id"), doc -> "?actor=" + Inside.encoded(doc.text("actor_id")))
                .link("Action", doc -> doc.text("action"), doc -> "?action=" + Inside.encoded(doc.text("action")))
                .link("Target", doc -> doc.text("target"), doc -> "?target=" + Inside.encoded(doc.text("target")))
                .text("Reason", "reason")
                .whenEmpty(
                        filters.isSet()
                                ? "No audit entry matches this filter."
                                : "No audit entries yet.",
                        "")
                .among(filters)
                .of(visit.get("/v1/audit", words(visit, filters.words())));
        return visit.show("list", "Audit", "Audit", Map.of("grid", grid, "filters", filters));
    }
}
