package dev.semel.server.pages;

import dev.semel.server.http.Answer;
import dev.semel.server.http.Router;
import dev.semel.server.http.Scope;
import java.util.List;
import java.util.Map;

/** The pages for monitoring: the five metrics, the rows behind them, effects and written objects. */
final class SafetyPages {
    private static final List<Filters.Option> KINDS = List.of(
            new Filters.Option("conflict", "conflicts"),
            new Filters.Option("replayed", "replayed requests"),
            new Filters.Option("suppressed", "suppressed effects"),
            new Filters.Option("recovered", "retry recoveries"),
            new Filters.Option("expired", "expired-key retries"),
            new Filters.Option("written", "writes"),
            new Filters.Option("told", "notifications"),
            new Filters.Option("same_payload", "rejected duplicate payloads"),
            new Filters.Option("unkeyed", "triggers without a key"));

    private SafetyPages() {}

    static void addTo(Router router, Door guard) {
        router.add("GET", "/effects", Scope.OPEN, guard.page(SafetyPages::effects))
                .add("GET", "/facts", Scope.OPEN, guard.page(SafetyPages::facts))
                .add("GET", "/objects", Scope.OPEN, guard.page(SafetyPages::objects))
                .add("GET", "/monitoring", Scope.OPEN, guard.page(SafetyPages::monitoring));
    }

    private static Answer effects(Visit visit) throws Exception {
        Filters filters = Filters.of(visit)
                .choice("state", "Status", "any", List.of("done", "in_doubt", "on_its_way", "not_done"))
                .choice(
                        "protection",
                        "Protection",
                        "any",
                        List.of("tx", "provider_key", "lookup", "at_most_once", "ask", "repeatable", "none"))
                .choice("suppressed", "Suppressed", "any", List.of("true", "false"))
                .workflow()
                .text("object", "Object", "order/10443");
        // The URL can also contain a filter string of the API.
        String q = visit.asked("q").strip();
        Grid grid = Grid.named(q.isEmpty() ? "Effects, newest first" : "Effects that match " + q + ", newest first")
                .code("Key", "effect_key")
                .status("Status", "status")
                .text(
                        "Protection",
                        doc -> Status.protection(doc.text("protection")).word())
                .text("Type", "does")
                .link("Workflow", "workflow", "workflows")
                .link("Run", "run_id", "runs")
                .text("Attempts", "attempts")
                .time("First sent", "first_at")
                .time("Accepted", "accepted_at")
                .time("Window ends", "window_ends_at")
                .whenEmpty(
                        filters.isSet()
                                ? "No effect matches this filter."
                                : q.isEmpty()
                                        ? "No effects yet."
                                        : "No effect matches " + q + ".",
                        "")
                .among(filters)
                .within("q", q)
                .of(visit.get("/v1/effects", ListPages.words(visit, (filters.words() + " " + q).strip())));
        return visit.show("list", "Effects", "Effects", Map.of("grid", grid, "filters", filters));
    }

    /** Adds the fields for the period. */
    private static Filters withPeriod(Filters filters) {
        return filters.text("since", "Since", "24h or 2026-11-15T09:00:00Z").text("until", "Until", "now");
    }

    private static Answer facts(Visit visit) throws Exception {
        Filters filters = withPeriod(
                Filters.of(visit).choice("kind", "Metric", KINDS).workflow().text("object", "Object", "order/10443"));
        String kind = filters.value("kind").isEmpty() ? "conflict" : filters.value("kind");
        String query =
                filters.value("kind").isEmpty() ? ListPages.joined("kind=conflict", filters.query()) : filters.query();
        Grid grid = shown(kind)
                .whenEmpty("No rows in this period.", "")
                .among(filters)
                .of(visit.get("/v1/facts", ListPages.joined(query, ListPages.behind(visit))));
        String title = KINDS.stream()
                .filter(one -> one.value().equals(kind))
                .findFirst()
                .map(Filters.Option::says)
                .orElse("facts");
        return visit.show(
                "list", "Rows: " + title, "Monitoring", Map.of("grid", grid, "filters", filters));
    }

    private static Grid shown(String kind) {
        Grid grid = Grid.named("Rows behind the metric, newest first").time("When", "at");
        return switch (kind) {
            case "conflict", "replayed", "same_payload" ->
                grid.status("Kind", "kind")
                        .text("Status code", "status_code")
                        .text("Differs in", doc -> doc.words("changed"))
                        .link("Key", "key", "keys")
                        .link("Run", "run_id", "runs")
                        .text("Count", "times")
                        .text("Actor", "actor_id");
            case "unkeyed" ->
                grid.link("Run", "run_id", "runs")
                        .link("Workflow", "workflow", "workflows")
                        .text("Actor", "actor_id");
            case "expired" ->
                grid.link("Key", "key", "keys")
                        .link("Run", "run_id", "runs")
                        .link("Workflow", "workflow", "workflows")
                        .time("First used", "first_used_at")
                        .text("Hours after expiry", "hours_after");
            default ->
                grid.link("Run", "run_id", "runs")
                        .link("Key", "key", "keys")
                        .link("Workflow", "workflow", "workflows")
                        .code("Step", "step")
                        .text("Object", "object")
                        .text("Amount", "worth");
        };
    }

    private static Answer objects(Visit visit) throws Exception {
        Filters filters = withPeriod(Filters.of(visit)
                .choice(
                        "having",
                        "Writes",
                        List.of(
                                new Filters.Option("writes>1", "more than once"),
                                new Filters.Option("writes>0", "at least once")))
                .workflow());
        String query = filters.value("having").isEmpty()
                ? ListPages.joined("having=writes%3E1", filters.query())
                : filters.query();
        Grid grid = Grid.named("Objects by number of writes")
                .link("Object", doc -> doc.text("object"), doc -> Signals.page(doc.text("list")))
                .text("Writes", "writes")
                .link("Workflow", "workflow", "workflows")
                .time("First write", "first_at")
                .time("Last write", "last_at")
                .whenEmpty("No object has that many writes in this period.", "semel objects --since 7d --more 0")
                .of(visit.get("/v1/objects", query + "&limit=200"));
        return visit.show("list", "Objects", "Monitoring", Map.of("grid", grid, "filters", filters));
    }

    /** The period filter. Default: 24 hours. */
    static Filters span(Visit visit) {
        return Filters.of(visit)
                .choice(
                        "since",
                        "Period",
                        List.of(
                                new Filters.Option("", "last 24 hours"),
                                new Filters.Option("1h", "last hour"),
                                new Filters.Option("7d", "last 7 days"),
                                new Filters.Option("30d", "last 30 days")));
    }

    private static Answer monitoring(Visit visit) throws Exception {
        Filters filters = span(visit).workflow();
        Signals metrics = Signals.of(visit, filters.value("workflow"), filters.value("since"));
        return visit.show("monitoring", "Monitoring", "Monitoring", Map.of("metrics", metrics, "filters", filters));
    }
}
