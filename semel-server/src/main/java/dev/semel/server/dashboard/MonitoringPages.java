package dev.semel.server.dashboard;

import dev.semel.server.http.HttpResponse;
import dev.semel.server.http.Router;
import dev.semel.server.http.TokenScope;
import java.util.List;
import java.util.Map;

/** The pages for monitoring: the five metrics, the rows behind them, effects and written objects. */
final class MonitoringPages {
    private static final List<FilterForm.FilterOption> KINDS = List.of(
            new FilterForm.FilterOption("conflict", "conflicts"),
            new FilterForm.FilterOption("replayed", "replayed requests"),
            new FilterForm.FilterOption("suppressed", "suppressed effects"),
            new FilterForm.FilterOption("recovered", "retry recoveries"),
            new FilterForm.FilterOption("expired", "expired-key retries"),
            new FilterForm.FilterOption("written", "writes"),
            new FilterForm.FilterOption("notified", "notifications"),
            new FilterForm.FilterOption("duplicate_payload", "rejected duplicate payloads"),
            new FilterForm.FilterOption("unkeyed", "triggers without a key"));

    private MonitoringPages() {}

    static void addTo(Router router, DashboardGuard guard) {
        router.add("GET", "/effects", TokenScope.OPEN, guard.page(MonitoringPages::effects))
                .add("GET", "/facts", TokenScope.OPEN, guard.page(MonitoringPages::facts))
                .add("GET", "/objects", TokenScope.OPEN, guard.page(MonitoringPages::objects))
                .add("GET", "/monitoring", TokenScope.OPEN, guard.page(MonitoringPages::monitoring));
    }

    private static HttpResponse effects(PageVisit visit) throws Exception {
        FilterForm filters = FilterForm.of(visit)
                .choice("state", "Status", "any", List.of("done", "in_doubt", "in_flight", "not_done"))
                .choice(
                        "protection",
                        "Protection",
                        "any",
                        List.of("tx", "provider_key", "lookup", "at_most_once", "ask", "repeatable", "none"))
                .choice("suppressed", "Suppressed", "any", List.of("true", "false"))
                .workflow()
                .text("object", "Object", "order/10443");
        // The URL can also contain a filter string of the API.
        String q = visit.queryParameter("q").strip();
        TableView grid = TableView.titled(
                        q.isEmpty() ? "Effects, newest first" : "Effects that match " + q + ", newest first")
                .code("Key", "effect_key")
                .status("Status", "status")
                .text(
                        "Protection",
                        doc -> StatusLabel.protection(doc.text("protection")).text())
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
                                : q.isEmpty() ? "No effects yet." : "No effect matches " + q + ".",
                        "")
                .withFilters(filters)
                .withFilter("q", q)
                .withRows(visit.get(
                        "/v1/effects", ListPages.filterQuery(visit, (filters.toFilterText() + " " + q).strip())));
        return visit.show("list", "Effects", "Effects", Map.of("grid", grid, "filters", filters));
    }

    /** Adds the fields for the period. */
    private static FilterForm withPeriod(FilterForm filters) {
        return filters.text("since", "Since", "24h or 2026-11-15T09:00:00Z").text("until", "Until", "now");
    }

    private static HttpResponse facts(PageVisit visit) throws Exception {
        FilterForm filters = withPeriod(FilterForm.of(visit)
                .choice("kind", "Metric", KINDS)
                .workflow()
                .text("object", "Object", "order/10443"));
        String kind = filters.value("kind").isEmpty() ? "conflict" : filters.value("kind");
        String query = filters.value("kind").isEmpty()
                ? ListPages.joinQueries("kind=conflict", filters.toUrlQuery())
                : filters.toUrlQuery();
        TableView grid = shown(kind)
                .whenEmpty("No rows in this period.", "")
                .withFilters(filters)
                .withRows(visit.get("/v1/facts", ListPages.joinQueries(query, ListPages.cursorQuery(visit))));
        String title = KINDS.stream()
                .filter(one -> one.value().equals(kind))
                .findFirst()
                .map(FilterForm.FilterOption::label)
                .orElse("facts");
        return visit.show("list", "Rows: " + title, "Monitoring", Map.of("grid", grid, "filters", filters));
    }

    private static TableView shown(String kind) {
        TableView grid =
                TableView.titled("Rows behind the metric, newest first").time("When", "at");
        return switch (kind) {
            case "conflict", "replayed", "duplicate_payload" ->
                grid.status("Kind", "kind")
                        .text("Status code", "status_code")
                        .text("Differs in", doc -> doc.joinedText("changed"))
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

    private static HttpResponse objects(PageVisit visit) throws Exception {
        FilterForm filters = withPeriod(FilterForm.of(visit)
                .choice(
                        "having",
                        "Writes",
                        List.of(
                                new FilterForm.FilterOption("writes>1", "more than once"),
                                new FilterForm.FilterOption("writes>0", "at least once")))
                .workflow());
        String query = filters.value("having").isEmpty()
                ? ListPages.joinQueries("having=writes%3E1", filters.toUrlQuery())
                : filters.toUrlQuery();
        TableView grid = TableView.titled("Objects by number of writes")
                .link("Object", doc -> doc.text("object"), doc -> MonitoringView.pageUrl(doc.text("list")))
                .text("Writes", "writes")
                .link("Workflow", "workflow", "workflows")
                .time("First write", "first_at")
                .time("Last write", "last_at")
                .whenEmpty("No object has that many writes in this period.", "semel object list --since 7d --more 0")
                .withRows(visit.get("/v1/objects", query + "&limit=200"));
        return visit.show("list", "Objects", "Monitoring", Map.of("grid", grid, "filters", filters));
    }

    /** The period filter. Default: 24 hours. */
    static FilterForm periodFilter(PageVisit visit) {
        return FilterForm.of(visit)
                .choice(
                        "since",
                        "Period",
                        List.of(
                                new FilterForm.FilterOption("", "last 24 hours"),
                                new FilterForm.FilterOption("1h", "last hour"),
                                new FilterForm.FilterOption("7d", "last 7 days"),
                                new FilterForm.FilterOption("30d", "last 30 days")));
    }

    private static HttpResponse monitoring(PageVisit visit) throws Exception {
        FilterForm filters = periodFilter(visit).workflow();
        MonitoringView metrics = MonitoringView.of(visit, filters.value("workflow"), filters.value("since"));
        return visit.show("monitoring", "Monitoring", "Monitoring", Map.of("metrics", metrics, "filters", filters));
    }
}
