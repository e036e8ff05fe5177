package dev.semel.server.pages;

import dev.semel.server.http.Answer;
import dev.semel.server.http.Inside;
import dev.semel.server.http.Router;
import dev.semel.server.http.Scope;
import java.util.Map;

/** What starts runs by itself, who drives them, and who changed what. */
final class ListPages {
    private ListPages() {}

    static void addTo(Router router, Door door) {
        router.add("GET", "/schedules", Scope.OPEN, door.page(ListPages::schedules))
                .add("GET", "/schedules/{workflow}/{name}", Scope.OPEN, door.page(ListPages::schedule))
                .add("GET", "/events", Scope.OPEN, door.page(ListPages::events))
                .add("GET", "/events/{event_id}", Scope.OPEN, door.page(ListPages::event))
                .add("GET", "/hooks", Scope.OPEN, door.page(ListPages::hooks))
                .add("GET", "/hooks/{name}", Scope.OPEN, door.page(ListPages::hook))
                .add("GET", "/workers", Scope.OPEN, door.page(ListPages::workers))
                .add("GET", "/audit", Scope.OPEN, door.page(ListPages::audit));
    }

    static String behind(Visit visit) {
        String after = visit.asked("after");
        return after.isEmpty() ? "" : "after=" + Inside.encoded(after);
    }

    private static Answer schedules(Visit visit) throws Exception {
        Grid grid = Grid.named("Schedules of the current versions")
                .link(
                        "Schedule",
                        doc -> doc.text("schedule"),
                        doc -> Inside.path("schedules", doc.text("workflow"), doc.text("schedule")))
                .link("Workflow", "workflow", "workflows")
                .text("When", doc -> doc.at("spec").text())
                .time("Next tick", "next_at")
                .link("Last run", "last_run_id", "runs")
                .text("Paused", doc -> doc.is("paused") ? "paused" : "")
                .whenEmpty(
                        "No workflow has a schedule. Write one under trigger.schedules of a file, and publish it:",
                        "semel publish workflows/")
                .of(visit.get("/v1/schedules", behind(visit)));
        return visit.show("list", "Schedules", "Schedules", Map.of("grid", grid));
    }

    private static Answer schedule(Visit visit) throws Exception {
        String path = Inside.path("v1", "workflows", visit.part("workflow"), "schedules", visit.part("name"));
        Doc schedule = visit.get(path);
        Grid ticks = Grid.named("Ticks, newest first")
                .time("Nominal time", "scheduled_at")
                .status("Became", "status")
                .text("Because", "reason")
                .link("Run", "run_id", "runs")
                .time("Written down", "at")
                .whenEmpty("No tick has come yet.", "")
                .of(visit.get(path + "/ticks", behind(visit)));
        return visit.show(
                "schedule",
                "Schedule " + visit.part("name"),
                "Schedules",
                Map.of("schedule", schedule, "grid", ticks, "mayPause", visit.may("POST", path + "/pause")));
    }

    private static Answer events(Visit visit) throws Exception {
        Grid grid = Grid.named("Events of the last seven days, newest first")
                .time("When", "received_at")
                .link("Type", doc -> doc.text("type"), doc -> Inside.path("events", doc.text("event_id")))
                .text("Source", "source")
                .code("Id", "id")
                .text("Door", "door")
                .text("Runs", "matched")
                .text("By", "actor_id")
                .whenEmpty(
                        "No event has come. Send one:",
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

    private static Answer hooks(Visit visit) throws Exception {
        Grid grid = Grid.named("Sources of webhooks")
                .link("Name", "name", "hooks")
                .text("Preset", doc -> doc.at("document").text("preset"))
                .code("Path", "path")
                .time("Changed", "changed_at")
                .text("By", "changed_by")
                .whenEmpty(
                        "No provider can deliver yet. Make a source:",
                        "semel hooks create shop --preset stripe --secret shop_signing")
                .of(visit.get("/v1/hooks", behind(visit)));
        return visit.show("list", "Hooks", "Hooks", Map.of("grid", grid));
    }

    private static Answer hook(Visit visit) throws Exception {
        String path = Inside.path("v1", "hooks", visit.part("name"));
        Doc hook = visit.get(path);
        Grid grid = Grid.named("Deliveries, newest first")
                .time("When", "at")
                .status("Verdict", "verdict")
                .text("Type", "type")
                .link("Event", "event_id", "events")
                .text("Note", "note")
                .whenEmpty("Nothing was delivered here in the last seven days.", "")
                .of(visit.get(path + "/deliveries", behind(visit)));
        return visit.show("hook", "Hook " + visit.part("name"), "Hooks", Map.of("hook", hook, "grid", grid));
    }

    private static Answer workers(Visit visit) throws Exception {
        Grid grid = Grid.named("Workers of this store")
                .text("Worker", "worker")
                .status("Lease", "status")
                .text("Runs", "runs")
                .text("Version", "version")
                .time("Started", "started_at")
                .time("Renewed", "renewed_at")
                .time("Lease until", "lease_until")
                .text("Clock ahead", doc -> doc.text("clock_ahead_ms") + " ms")
                .of(visit.get("/v1/workers"));
        return visit.show("list", "Workers", "Workers", Map.of("grid", grid));
    }

    private static Answer audit(Visit visit) throws Exception {
        Grid grid = Grid.named("Who changed what, newest first")
                .time("When", "at")
                .text("By", "actor_id")
                .text("Did", "action")
                .text("To", "target")
                .text("Because", "reason")
                .whenEmpty("Nothing was changed yet that an audit keeps.", "")
                .of(visit.get("/v1/audit", behind(visit)));
        return visit.show("list", "Audit", "Audit", Map.of("grid", grid));
    }
}
