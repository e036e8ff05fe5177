package dev.semel.server.dashboard;

import dev.semel.server.http.HttpResponse;
import dev.semel.server.http.InternalApiClient;
import dev.semel.server.http.Router;
import dev.semel.server.http.TokenScope;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The pages of the run history: runs with their requests, one run, and all duplicate or conflicting requests. */
public final class RunHistoryPages {
    private static final List<String> FILTERS = List.of("status", "since", "replayed", "key");

    private final InstantSource clock;

    RunHistoryPages(InstantSource clock) {
        this.clock = clock;
    }

    void addTo(Router router, DashboardGuard guard) {
        router.add("GET", "/runs", TokenScope.OPEN, guard.page(this::list))
                .add("GET", "/runs/{run_id}", TokenScope.OPEN, guard.page(visit -> one(visit, FormRejection.NONE)))
                .add("GET", "/runs/{run_id}/row", TokenScope.OPEN, guard.page(RunHistoryPages::row))
                .add("GET", "/requests", TokenScope.OPEN, guard.page(RunHistoryPages::requests));
    }

    /**
     * One page of a filtered table of runs.
     *
     * @param workflow the only workflow shown; empty for all
     * @param filters the set filters, by name
     * @param next URL query of older runs; empty on the last page
     * @param plan the API filter for a safe replay plan; empty if the page offers none
     * @param views saved filters
     * @param mayReplay whether the user can select runs and plan their safe replay
     */
    public record RunTable(
            List<ApiJson> runs,
            String workflow,
            Map<String, String> filters,
            String next,
            boolean newest,
            String plan,
            SavedViews views,
            boolean mayReplay) {
        public String filter(String name) {
            return filters.getOrDefault(name, "");
        }

        public boolean isFiltered() {
            return !filters.isEmpty();
        }

        /** The runs that a plan would include, in words. */
        public String plannedRuns() {
            return !newest || !next.isEmpty()
                    ? "all runs that match this filter"
                    : runs.size() == 1 ? "this one run" : "these " + runs.size() + " runs";
        }
    }

    RunTable table(PageVisit visit, String workflow) throws Exception {
        Map<String, String> filters = new TreeMap<>();
        List<String> words = new ArrayList<>();
        for (String name : FILTERS) {
            String value = visit.queryParameter(name);
            if (!value.isEmpty()) {
                filters.put(name, value);
                words.add(name + ":" + value);
            }
        }
        String query = "q=" + InternalApiClient.encode(String.join(" ", words))
                + (visit.queryParameter("after").isEmpty()
                        ? ""
                        : "&after=" + InternalApiClient.encode(visit.queryParameter("after")));
        String path = workflow.isEmpty() ? "/v1/runs" : InternalApiClient.path("v1", "workflows", workflow, "runs");
        ApiJson page = visit.get(path, query);
        StringBuilder next = new StringBuilder();
        if (page.has("next")) {
            filters.forEach((name, value) -> next.append(name)
                    .append('=')
                    .append(InternalApiClient.encode(value))
                    .append('&'));
            next.append("after=").append(InternalApiClient.encode(page.text("next")));
        }
        return new RunTable(
                page.items(),
                workflow,
                filters,
                next.toString(),
                visit.queryParameter("after").isEmpty(),
                plan(visit, page, workflow, words),
                SavedViews.of(visit, String.join(" ", words) + (workflow.isEmpty() ? "" : " workflow:" + workflow)),
                visit.isAllowed("POST", "/v1/replays"));
    }

    /** Offers a plan only for a filtered list, so that nobody replays everything by mistake. */
    private static String plan(PageVisit visit, ApiJson page, String workflow, List<String> words) {
        if (words.isEmpty() || page.items().isEmpty() || !visit.isAllowed("POST", "/v1/replays")) {
            return "";
        }
        return String.join(" ", words) + (workflow.isEmpty() ? "" : " workflow:" + workflow);
    }

    private HttpResponse list(PageVisit visit) throws Exception {
        return visit.show("runs", "Runs", "Runs", Map.of("table", table(visit, "")));
    }

    /** One table row, which the script swaps in for a live update. */
    private static HttpResponse row(PageVisit visit) throws Exception {
        ApiJson run = visit.get(InternalApiClient.path("v1", "runs", visit.pathParameter("run_id")));
        boolean pick = visit.isAllowed("POST", "/v1/replays");
        return visit.show(
                "runRow",
                "",
                "",
                Map.of("run", run, "named", visit.queryParameter("named").equals("true"), "pick", pick));
    }

    HttpResponse one(PageVisit visit, FormRejection rejection) throws Exception {
        String path = InternalApiClient.path("v1", "runs", visit.pathParameter("run_id"));
        // Read the questions first: the page must not show a newer run state with an older question version.
        TimelineSteps steps = TimelineSteps.of(visit, path);
        ApiJson run = visit.get(path);
        ApiJson workflow = visit.getOrEmpty(InternalApiClient.path("v1", "workflows", run.text("workflow_id")), "");
        Map<String, Object> parts = new HashMap<>(Map.of(
                "mayReplay",
                visit.isAllowed("POST", "/v1/replays"),
                "run",
                run,
                "bars",
                StepTimelineChart.of(run, steps, clock.instant()),
                "reviews",
                new RunReviews(steps.timeline().list("reviews")),
                "signal",
                signal(run),
                "owner",
                workflow.text("owner"),
                "mayCancel",
                open(run) && visit.isAllowed("POST", path + "/cancel"),
                "maySignal",
                open(run) && visit.isAllowed("POST", path + "/signals/x"),
                "mayDecide",
                open(run) && visit.isAllowed("POST", path + "/decide"),
                "rejection",
                rejection));
        return visit.show(
                rejection.status(), new PageRenderer.PageContent("run", "Run " + run.text("run_id"), "Runs", parts));
    }

    /** The reviews of a run. */
    public record RunReviews(List<ApiJson> reviews) {
        /** The version of a step's question on this page; if the last question is decided, the next version. */
        public long version(String step) {
            return reviews.stream()
                    .filter(review -> review.text("step").equals(step))
                    .map(review -> review.number("version") + (review.is("open") ? 0 : 1))
                    .findFirst()
                    .orElse(1L);
        }

        /** The reviews without a decision. */
        public List<ApiJson> openReviews() {
            return reviews.stream().filter(review -> review.is("open")).toList();
        }
    }

    /** The signal that the run waits for; may be empty. */
    private static String signal(ApiJson run) {
        return run.list("waiting_for").stream()
                .filter(wait -> wait.text("kind").equals("signal"))
                .map(wait -> wait.text("name"))
                .findFirst()
                .orElse("");
    }

    private static boolean open(ApiJson run) {
        return !run.has("ended_at");
    }

    private static HttpResponse requests(PageVisit visit) throws Exception {
        FilterForm filters = FilterForm.of(visit)
                .choice("kind", "Kind", "any", List.of("replayed", "conflict"))
                .workflow()
                .text("key", "Key", "evt_1")
                .text("actor", "Actor", "tok_1")
                .choice("since", "Since", "any time", FilterForm.AGES);
        TableView grid = TableView.titled("Duplicate and conflicting requests, newest first")
                .time("When", "at")
                .status("Kind", "kind")
                .text("Status code", "status_code")
                .text("Differs in", doc -> doc.joinedText("changed"))
                .link("Key", "key", "keys")
                .link("Run", "run_id", "runs")
                .text("Count", "times")
                .text("Actor", "actor_id")
                .whenEmpty(
                        filters.isSet()
                                ? "No request matches this filter. Send one twice:"
                                : "No duplicate requests yet. Send one twice:",
                        "semel send payment_receipt --key evt_1 --times 2 --data '{\"payment_id\":\"pay_1\","
                                + "\"amount\":4900,\"currency\":\"usd\"}'")
                .withFilters(filters)
                .withRows(visit.get("/v1/requests", ListPages.filterQuery(visit, filters.toFilterText())));
        // Filtered lists and older pages get no live updates, because new requests may not match.
        String news = filters.isSet() || !visit.queryParameter("after").isEmpty() ? "" : "requests";
        return visit.show("list", "Requests", "Requests", Map.of("grid", grid, "filters", filters, "news", news));
    }
}
