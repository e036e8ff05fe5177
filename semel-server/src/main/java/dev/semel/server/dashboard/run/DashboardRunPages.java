package dev.semel.server.dashboard.run;

import dev.semel.server.dashboard.login.DashboardRouter;
import dev.semel.server.dashboard.page.DashboardListFilterForm;
import dev.semel.server.dashboard.page.DashboardListTableModel;
import dev.semel.server.dashboard.page.DashboardPageRequest;
import dev.semel.server.dashboard.page.DashboardTemplateJsonAccessor;
import dev.semel.server.dashboard.page.RejectedDashboardForm;
import dev.semel.server.dashboard.page.UrlQuery;
import dev.semel.server.dashboard.setting.ScheduleEventWorkerAuditPages;
import dev.semel.server.http.InProcessApiClient;
import dev.semel.server.http.ServerHttpResponse;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The pages of the run history: runs with their requests, one run, and all duplicate or conflicting requests. */
public final class DashboardRunPages {
    private static final List<String> FILTERS = List.of("status", "since", "replayed", "key");

    private final InstantSource clock;

    public DashboardRunPages(InstantSource clock) {
        this.clock = clock;
    }

    public void addTo(DashboardRouter routes) {
        routes.page("/runs", this::list)
                .page("/runs/{run_id}", visit -> one(visit, RejectedDashboardForm.NONE))
                .page("/runs/{run_id}/row", DashboardRunPages::row)
                .page("/requests", DashboardRunPages::requests);
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
            List<DashboardTemplateJsonAccessor> runs,
            String workflow,
            Map<String, String> filters,
            String next,
            boolean newest,
            String plan,
            SavedRunFilters views,
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

    public RunTable table(DashboardPageRequest visit, String workflow) throws Exception {
        Map<String, String> filters = new TreeMap<>();
        List<String> words = new ArrayList<>();
        for (String name : FILTERS) {
            String value = visit.queryParameter(name);
            if (!value.isEmpty()) {
                filters.put(name, value);
                words.add(name + ":" + value);
            }
        }
        String path = workflow.isEmpty() ? "/v1/runs" : InProcessApiClient.path("v1", "workflows", workflow, "runs");
        DashboardTemplateJsonAccessor page =
                visit.get(path, ScheduleEventWorkerAuditPages.filterQuery(visit, String.join(" ", words)));
        UrlQuery next = UrlQuery.EMPTY;
        for (Map.Entry<String, String> set : filters.entrySet()) {
            next = next.and(set.getKey(), set.getValue());
        }
        String filter = String.join(" ", words) + (workflow.isEmpty() ? "" : " workflow:" + workflow);
        boolean mayReplay = visit.isAllowed("POST", "/v1/replays");
        // A plan only for a filtered list, so that nobody replays everything by mistake.
        boolean offersPlan = mayReplay && !words.isEmpty() && !page.items().isEmpty();
        return new RunTable(
                page.items(),
                workflow,
                filters,
                page.has("next") ? next.and("after", page.text("next")).text() : "",
                visit.queryParameter("after").isEmpty(),
                offersPlan ? filter : "",
                SavedRunFilters.of(visit, filter),
                mayReplay);
    }

    private ServerHttpResponse list(DashboardPageRequest visit) throws Exception {
        return visit.page("runs", "Runs", "Runs")
                .with("table", table(visit, ""))
                .show();
    }

    /** One table row, which the script swaps in for a live update. */
    private static ServerHttpResponse row(DashboardPageRequest visit) throws Exception {
        DashboardTemplateJsonAccessor run =
                visit.get(InProcessApiClient.path("v1", "runs", visit.pathParameter("run_id")));
        boolean pick = visit.isAllowed("POST", "/v1/replays");
        return visit.page("runRow", "", "")
                .with("run", run)
                .with("named", visit.queryParameter("named").equals("true"))
                .with("pick", pick)
                .show();
    }

    ServerHttpResponse one(DashboardPageRequest visit, RejectedDashboardForm rejection) throws Exception {
        String path = InProcessApiClient.path("v1", "runs", visit.pathParameter("run_id"));
        // Read the questions first: the page must not show a newer run state with an older question version.
        RunTimelineStepRange steps = RunTimelineStepRange.of(visit, path);
        DashboardTemplateJsonAccessor run = visit.get(path);
        DashboardTemplateJsonAccessor workflow =
                visit.getOrEmpty(InProcessApiClient.path("v1", "workflows", run.text("workflow_id")));
        return visit.page("run", "Run " + run.text("run_id"), "Runs")
                .with("mayReplay", visit.isAllowed("POST", "/v1/replays"))
                .with("run", run)
                .with("bars", StepTimelineChart.of(run, steps, clock.instant()))
                .with("reviews", new RunReviews(steps.timeline().list("reviews")))
                .with("signal", signal(run))
                .with("owner", workflow.text("owner"))
                .with("mayCancel", open(run) && visit.isAllowed("POST", path + "/cancel"))
                .with("maySignal", open(run) && visit.isAllowed("POST", path + "/signals/x"))
                .with("mayDecide", open(run) && visit.isAllowed("POST", path + "/decide"))
                .with("rejection", rejection)
                .show(rejection.status());
    }

    public record RunReviews(List<DashboardTemplateJsonAccessor> reviews) {
        /** The version of a step's question on this page; if the last question is decided, the next version. */
        public long version(String step) {
            return reviews.stream()
                    .filter(review -> review.text("step").equals(step))
                    .map(review -> review.number("version") + (review.is("open") ? 0 : 1))
                    .findFirst()
                    .orElse(1L);
        }

        public List<DashboardTemplateJsonAccessor> openReviews() {
            return reviews.stream().filter(review -> review.is("open")).toList();
        }
    }

    /** The signal that the run waits for; may be empty. */
    private static String signal(DashboardTemplateJsonAccessor run) {
        return run.list("waiting_for").stream()
                .filter(wait -> wait.text("kind").equals("signal"))
                .map(wait -> wait.text("name"))
                .findFirst()
                .orElse("");
    }

    private static boolean open(DashboardTemplateJsonAccessor run) {
        return !run.has("ended_at");
    }

    private static ServerHttpResponse requests(DashboardPageRequest visit) throws Exception {
        DashboardListFilterForm filters = DashboardListFilterForm.of(visit)
                .choice("kind", "Kind", "any", List.of("replayed", "conflict"))
                .workflow()
                .text("key", "Key", "evt_1")
                .text("actor", "Actor", "tok_1")
                .choice("since", "Since", "any time", DashboardListFilterForm.AGES);
        DashboardListTableModel grid = DashboardListTableModel.titled(
                        "Duplicate and conflicting requests, newest first")
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
                                ? "No request matches this filter. To see a duplicate, send a request twice:"
                                : "No duplicate requests yet. To see one, send a request twice:",
                        "semel send payment_receipt --key evt_1 --times 2 --data '{\"payment_id\":\"pay_1\","
                                + "\"amount\":4900,\"currency\":\"usd\"}'")
                .withFilters(filters)
                .withRows(visit.get(
                        "/v1/requests", ScheduleEventWorkerAuditPages.filterQuery(visit, filters.toFilterText())));
        // Filtered lists and older pages get no live updates, because new requests may not match.
        String news = filters.isSet() || !visit.queryParameter("after").isEmpty() ? "" : "requests";
        return visit.page("list", "Requests", "Requests")
                .with("grid", grid)
                .with("filters", filters)
                .with("news", news)
                .show();
    }
}
