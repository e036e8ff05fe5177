package dev.semel.server.dashboard.idempotency;

import dev.semel.server.dashboard.login.DashboardRouter;
import dev.semel.server.dashboard.page.DashboardListFilterForm;
import dev.semel.server.dashboard.page.DashboardListTableModel;
import dev.semel.server.dashboard.page.DashboardPageRequest;
import dev.semel.server.dashboard.page.StatusLabel;
import dev.semel.server.dashboard.page.UrlQuery;
import dev.semel.server.dashboard.setting.ScheduleEventWorkerAuditPages;
import dev.semel.server.http.ServerHttpResponse;
import java.util.List;

/** The pages for monitoring: the five metrics, the rows behind them, effects and written objects. */
public final class IdempotencyMetricsPages {
    private static final int SHOWN_OF_KEY = 8;
    private static final List<DashboardListFilterForm.FilterOption> KINDS = List.of(
            new DashboardListFilterForm.FilterOption("conflict", "conflicts"),
            new DashboardListFilterForm.FilterOption("replayed", "replayed requests"),
            new DashboardListFilterForm.FilterOption("suppressed", "suppressed effects"),
            new DashboardListFilterForm.FilterOption("recovered", "retry recoveries"),
            new DashboardListFilterForm.FilterOption("expired", "expired-key retries"),
            new DashboardListFilterForm.FilterOption("written", "writes"),
            new DashboardListFilterForm.FilterOption("notified", "notifications"),
            new DashboardListFilterForm.FilterOption("duplicate_payload", "rejected duplicate payloads"),
            new DashboardListFilterForm.FilterOption("unkeyed", "triggers without a key"));

    private IdempotencyMetricsPages() {}

    public static void addTo(DashboardRouter routes) {
        routes.page("/effects", IdempotencyMetricsPages::effects)
                .page("/facts", IdempotencyMetricsPages::facts)
                .page("/objects", IdempotencyMetricsPages::objects)
                .page("/monitoring", IdempotencyMetricsPages::monitoring);
    }

    private static ServerHttpResponse effects(DashboardPageRequest visit) throws Exception {
        DashboardListFilterForm filters = DashboardListFilterForm.of(visit)
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
        DashboardListTableModel grid = DashboardListTableModel.titled(
                        q.isEmpty() ? "Effects, newest first" : "Effects that match " + q + ", newest first")
                .code("Key", "effect_key")
                .text("Sent key", doc -> shortened(doc.text("sent_key")))
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
                        "/v1/effects",
                        ScheduleEventWorkerAuditPages.filterQuery(visit, (filters.toFilterText() + " " + q).strip())));
        return visit.page("list", "Effects", "Effects")
                .with("grid", grid)
                .with("filters", filters)
                .show();
    }

    /** The beginning of the key; the page of the run shows the whole key, and the search takes it. */
    private static String shortened(String sentKey) {
        return sentKey.length() <= SHOWN_OF_KEY ? sentKey : sentKey.substring(0, SHOWN_OF_KEY) + "…";
    }

    private static DashboardListFilterForm withPeriod(DashboardListFilterForm filters) {
        return filters.text("since", "Since", "24h or 2026-11-15T09:00:00Z").text("until", "Until", "now");
    }

    private static ServerHttpResponse facts(DashboardPageRequest visit) throws Exception {
        DashboardListFilterForm filters = withPeriod(DashboardListFilterForm.of(visit)
                .choice("kind", "Metric", KINDS)
                .workflow()
                .text("object", "Object", "order/10443"));
        String kind = filters.value("kind").isEmpty() ? "conflict" : filters.value("kind");
        UrlQuery query = filters.toUrlQuery()
                .and("kind", filters.value("kind").isEmpty() ? kind : "")
                .and("after", visit.queryParameter("after"));
        DashboardListTableModel grid = shown(kind)
                .whenEmpty("No rows in this period.", "")
                .withFilters(filters)
                .withRows(visit.get("/v1/facts", query));
        String title = KINDS.stream()
                .filter(one -> one.value().equals(kind))
                .findFirst()
                .map(DashboardListFilterForm.FilterOption::label)
                .orElse("facts");
        return visit.page("list", "Rows: " + title, "Monitoring")
                .with("grid", grid)
                .with("filters", filters)
                .show();
    }

    private static DashboardListTableModel shown(String kind) {
        DashboardListTableModel grid = DashboardListTableModel.titled("Rows behind the metric, newest first")
                .time("When", "at");
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

    private static ServerHttpResponse objects(DashboardPageRequest visit) throws Exception {
        DashboardListFilterForm filters = withPeriod(DashboardListFilterForm.of(visit)
                .choice(
                        "having",
                        "Writes",
                        List.of(
                                new DashboardListFilterForm.FilterOption("writes>1", "more than once"),
                                new DashboardListFilterForm.FilterOption("writes>0", "at least once")))
                .workflow());
        UrlQuery query = filters.toUrlQuery()
                .and("having", filters.value("having").isEmpty() ? "writes>1" : "")
                .and("limit", "200");
        DashboardListTableModel grid = DashboardListTableModel.titled("Objects by number of writes")
                .link("Object", doc -> doc.text("object"), doc -> IdempotencyMetricsView.pageUrl(doc.text("list")))
                .text("Writes", "writes")
                .link("Workflow", "workflow", "workflows")
                .time("First write", "first_at")
                .time("Last write", "last_at")
                .whenEmpty("No object has that many writes in this period.", "semel object list --since 7d --more 0")
                .withRows(visit.get("/v1/objects", query));
        return visit.page("list", "Objects", "Monitoring")
                .with("grid", grid)
                .with("filters", filters)
                .show();
    }

    /** The period filter. Default: 24 hours. */
    public static DashboardListFilterForm periodFilter(DashboardPageRequest visit) {
        return DashboardListFilterForm.of(visit)
                .choice(
                        "since",
                        "Period",
                        List.of(
                                new DashboardListFilterForm.FilterOption("", "last 24 hours"),
                                new DashboardListFilterForm.FilterOption("1h", "last hour"),
                                new DashboardListFilterForm.FilterOption("7d", "last 7 days"),
                                new DashboardListFilterForm.FilterOption("30d", "last 30 days")));
    }

    private static ServerHttpResponse monitoring(DashboardPageRequest visit) throws Exception {
        DashboardListFilterForm filters = periodFilter(visit).workflow();
        IdempotencyMetricsView metrics =
                IdempotencyMetricsView.of(visit, filters.value("workflow"), filters.value("since"));
        return visit.page("monitoring", "Monitoring", "Monitoring")
                .with("metrics", metrics)
                .with("recovery", visit.get("/v1/recovery", UrlQuery.EMPTY))
                .with("filters", filters)
                .show();
    }
}
