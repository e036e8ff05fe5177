package dev.semel.server.pages;

import dev.semel.server.http.Answer;
import dev.semel.server.http.Router;
import dev.semel.server.http.Scope;
import java.util.List;
import java.util.Map;

/** What was done in the outside world, the five signals, and the rows behind them. */
final class SafetyPages {
    private static final List<Filters.Option> KINDS = List.of(
            new Filters.Option("conflict", "conflicts"),
            new Filters.Option("replayed", "replayed requests"),
            new Filters.Option("suppressed", "suppressed effects"),
            new Filters.Option("recovered", "runs that recovered"),
            new Filters.Option("expired", "expired-key retries"),
            new Filters.Option("written", "writes"),
            new Filters.Option("told", "notifications"),
            new Filters.Option("same_payload", "same payload refused"),
            new Filters.Option("unkeyed", "triggers without a key"));

    private SafetyPages() {}

    static void addTo(Router router, Door door) {
        router.add("GET", "/effects", Scope.OPEN, door.page(SafetyPages::effects))
                .add("GET", "/facts", Scope.OPEN, door.page(SafetyPages::facts))
                .add("GET", "/objects", Scope.OPEN, door.page(SafetyPages::objects))
                .add("GET", "/monitoring", Scope.OPEN, door.page(SafetyPages::monitoring));
    }

    private static Answer effects(Visit visit) throws Exception {
        Filters filters = Filters.of(visit)
                .choice("state", "Stands", "any", List.of("done", "in_doubt", "on_its_way", "not_done"))
                .choice(
                        "protection",
                        "Protection",
                        "any",
                        List.of("tx", "provider_key", "lookup", "at_most_once", "ask", "repeatable", "none"))
                .choice("suppressed", "Suppressed", "or not", List.of("true", "false"))
                .workflow()
                .text("object", "Object", "order/10443");
        // Beside what is chosen, words may stand in the address as the API takes them.
        String q = visit.asked("q").strip();
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
                        filters.isSet()
                                ? "No effect fits this filter."
                                : q.isEmpty()
                                        ? "No run has done anything in the outside world yet."
                                        : "No effect fits " + q + ".",
                        "")
                .among(filters)
                .within("q", q)
                .of(visit.get("/v1/effects", ListPages.words(visit, (filters.words() + " " + q).strip())));
        return visit.show("list", "Effects", "Effects", Map.of("grid", grid, "filters", filters));
    }

    /** The time that a number is of: as it was told, or so far back. */
    private static Filters during(Filters filters) {
        return filters.text("since", "Since", "24h, or 2026-11-15T09:00:00Z").text("until", "Until", "now");
    }

    private static Answer facts(Visit visit) throws Exception {
        Filters filters = during(
                Filters.of(visit).choice("kind", "What", KINDS).workflow().text("object", "Object", "order/10443"));
        String kind = filters.value("kind").isEmpty() ? "conflict" : filters.value("kind");
        String query =
                filters.value("kind").isEmpty() ? ListPages.joined("kind=conflict", filters.query()) : filters.query();
        Grid grid = shown(kind)
                .whenEmpty("There are none in that time.", "")
                .among(filters)
                .of(visit.get("/v1/facts", ListPages.joined(query, ListPages.behind(visit))));
        String title = KINDS.stream()
                .filter(one -> one.value().equals(kind))
                .findFirst()
                .map(Filters.Option::says)
                .orElse("facts");
        return visit.show(
                "list", "Behind the numbers: " + title, "Monitoring", Map.of("grid", grid, "filters", filters));
    }

    private static Grid shown(String kind) {
        Grid grid = Grid.named("The rows behind the number, newest first").time("When", "at");
        return switch (kind) {
            case "conflict", "replayed", "same_payload" ->
                grid.status("Kind", "kind")
                        .text("Answer", "status_code")
                        .text("Differs in", doc -> doc.words("changed"))
                        .link("Key", "key", "keys")
                        .link("Run", "run_id", "runs")
                        .text("Times", "times")
                        .text("By", "actor_id");
            case "unkeyed" ->
                grid.link("Run", "run_id", "runs")
                        .link("Workflow", "workflow", "workflows")
                        .text("By", "actor_id");
            case "expired" ->
                grid.link("Key", "key", "keys")
                        .link("Run", "run_id", "runs")
                        .link("Workflow", "workflow", "workflows")
                        .time("First used", "first_used_at")
                        .text("Hours after", "hours_after");
            default ->
                grid.link("Run", "run_id", "runs")
                        .link("Key", "key", "keys")
                        .link("Workflow", "workflow", "workflows")
                        .code("Step", "step")
                        .text("Object", "object")
                        .text("Worth", "worth");
        };
    }

    private static Answer objects(Visit visit) throws Exception {
        Filters filters = during(Filters.of(visit)
                .choice(
                        "having",
                        "Written",
                        List.of(
                                new Filters.Option("writes>1", "more than once"),
                                new Filters.Option("writes>0", "at all")))
                .workflow());
        String query = filters.value("having").isEmpty()
                ? ListPages.joined("having=writes%3E1", filters.query())
                : filters.query();
        Grid grid = Grid.named("Objects, those with the most writes first")
                .link("Object", doc -> doc.text("object"), doc -> Signals.page(doc.text("list")))
                .text("Writes", "writes")
                .link("Workflow", "workflow", "workflows")
                .time("First", "first_at")
                .time("Last", "last_at")
                .whenEmpty("Nothing was written to more than that in this time.", "semel objects --since 7d --more 0")
                .of(visit.get("/v1/objects", query + "&limit=200"));
        return visit.show("list", "Objects", "Monitoring", Map.of("grid", grid, "filters", filters));
    }

    /** How far back: as long as nothing is chosen, a day. */
    static Filters span(Visit visit) {
        return Filters.of(visit)
                .choice(
                        "since",
                        "During",
                        List.of(
                                new Filters.Option("", "the last 24 h"),
                                new Filters.Option("1h", "the last hour"),
                                new Filters.Option("7d", "the last 7 days"),
                                new Filters.Option("30d", "the last 30 days")));
    }

    private static Answer monitoring(Visit visit) throws Exception {
        Filters filters = span(visit).workflow();
        Signals signals = Signals.of(visit, filters.value("workflow"), filters.value("since"));
        return visit.show("monitoring", "Monitoring", "Monitoring", Map.of("signals", signals, "filters", filters));
    }
}
