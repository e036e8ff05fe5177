package dev.semel.server.pages;

import dev.semel.server.http.Answer;
import dev.semel.server.http.Inside;
import dev.semel.server.http.Router;
import dev.semel.server.http.Scope;
import java.util.List;
import java.util.Map;

/** What was done in the outside world, and the five signals. */
final class SafetyPages {
    private SafetyPages() {}

    static void addTo(Router router, Door door) {
        router.add("GET", "/effects", Scope.OPEN, door.page(SafetyPages::effects))
                .add("GET", "/monitoring", Scope.OPEN, door.page(SafetyPages::monitoring));
    }

    private static Answer effects(Visit visit) throws Exception {
        String q = visit.asked("q");
        Grid grid = Grid.named(q.isEmpty() ? "Effects, newest first" : "Effects with " + q + ", newest first")
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
                .whenEmpty(
                        q.isEmpty()
                                ? "No run has done anything in the outside world yet."
                                : "No effect fits " + q + ".",
                        "")
                .within("q", q)
                .of(visit.get("/v1/effects", "q=" + Inside.encoded(q) + "&" + ListPages.behind(visit)));
        return visit.show("list", "Effects", "Effects", Map.of("grid", grid));
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
