package dev.semel.server.pages;

import dev.semel.server.http.Answer;
import dev.semel.server.http.Router;
import dev.semel.server.http.Scope;
import java.util.List;
import java.util.Map;

/** What waits for people, what was done in the outside world, and the five signals. */
final class SafetyPages {
    private SafetyPages() {}

    static void addTo(Router router, Door door) {
        router.add("GET", "/reviews", Scope.OPEN, door.page(SafetyPages::reviews))
                .add("GET", "/effects", Scope.OPEN, door.page(SafetyPages::effects))
                .add("GET", "/replays", Scope.OPEN, door.page(SafetyPages::replays))
                .add("GET", "/incidents", Scope.OPEN, door.page(SafetyPages::incidents))
                .add("GET", "/monitoring", Scope.OPEN, door.page(SafetyPages::monitoring));
    }

    /** Each leads to its run, on whose page it is decided. */
    private static Answer reviews(Visit visit) throws Exception {
        Grid grid = Grid.named("What waits for a person; it is decided on the page of its run")
                .link("Question", doc -> doc.text("title"), doc -> doc.link("runs", "run_id"))
                .status("Kind", "kind")
                .status("Stands", "status")
                .link("Workflow", "workflow", "workflows")
                .code("Step", "step")
                .text("For", "to")
                .time("Asked", "asked_at")
                .time("Due", "due_at")
                .whenEmpty("Nothing waits for a person.", "")
                .of(visit.get("/v1/reviews", ListPages.behind(visit)));
        return visit.show("list", "Reviews", "Reviews", Map.of("grid", grid));
    }

    private static Answer effects(Visit visit) throws Exception {
        Grid grid = Grid.named("Effects, newest first")
                .code("Key", "effect_key")
                .status("Stands", "status")
                .text(
                        "Protection",
                        doc -> Status.protection(doc.text("protection")).word())
                .text("Does", "does")
                .link("Workflow", "workflow", "workflows")
                .link("Run", "run_id", "runs")
                .text("Attempts", "attempts")
                .time("First", "first_at")
                .time("Accepted", "accepted_at")
                .time("Window ends", "window_ends_at")
                .whenEmpty("No run has done anything in the outside world yet.", "")
                .of(visit.get("/v1/effects", ListPages.behind(visit)));
        return visit.show("list", "Effects", "Effects", Map.of("grid", grid));
    }

    private static Answer replays(Visit visit) throws Exception {
        Grid grid = Grid.named("Plans of safe replays, newest first")
                .code("Plan", "replay_id")
                .status("Stands", "status")
                .text("Of", "what")
                .text("Runs", "runs")
                .text("Safe", "safe")
                .text("Blocked", "blocked")
                .text("By", "made_by")
                .time("Made", "made_at")
                .time("Good until", "valid_until")
                .whenEmpty("No replay was planned. A plan runs nothing:", "semel replay plan status:failed since:2h")
                .of(visit.get("/v1/replays", ListPages.behind(visit)));
        return visit.show("list", "Replays", "Replays", Map.of("grid", grid));
    }

    private static Answer incidents(Visit visit) throws Exception {
        Grid grid = Grid.named("Reviews of incidents")
                .code("Incident", "incident_id")
                .text("Title", "title")
                .time("Since", "since")
                .time("Until", "until")
                .text("By", "changed_by")
                .whenEmpty(
                        "No incident was reviewed. A draft is made from what happened:",
                        "semel incident new --since 2026-11-15T08:40:00Z --until 2026-11-15T09:31:00Z --title \"mail"
                                + " outage\"")
                .of(visit.get("/v1/incidents", ListPages.behind(visit)));
        return visit.show("list", "Incidents", "Incidents", Map.of("grid", grid));
    }

    private static Answer monitoring(Visit visit) throws Exception {
        Doc signals = visit.get("/v1/signals");
        List<Plot> plots = List.of(
                Plot.of(signals, "conflicts"),
                Plot.of(signals, "replayed_requests"),
                Plot.of(signals, "retry_recoveries"),
                Plot.of(signals, "expired_key_retries"),
                Plot.of(signals, "writes"));
        return visit.show("monitoring", "Monitoring", "Monitoring", Map.of("signals", signals, "plots", plots));
    }
}
