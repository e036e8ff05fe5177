package dev.semel.server.pages;

import dev.semel.server.http.Answer;
import dev.semel.server.http.Inside;
import dev.semel.server.http.Router;
import dev.semel.server.http.Scope;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The pages of the run history: runs with their requests, one run, and all duplicate or conflicting requests. */
public final class RunPages {
    private static final List<String> FILTERS = List.of("status", "since", "replayed", "key");

    private final InstantSource clock;

    RunPages(InstantSource clock) {
        this.clock = clock;
    }

    void addTo(Router router, Door guard) {
        router.add("GET", "/runs", Scope.OPEN, guard.page(this::list))
                .add("GET", "/runs/{run_id}", Scope.OPEN, guard.page(visit -> one(visit, Again.NOT)))
                .add("GET", "/runs/{run_id}/row", Scope.OPEN, guard.page(RunPages::row))
                .add("GET", "/requests", Scope.OPEN, guard.page(RunPages::requests));
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
    public record Table(
            List<Doc> runs,
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

        public boolean filtered() {
            return !filters.isEmpty();
        }

        /** The runs that a plan would include, in words. */
        public String planned() {
            return !newest || !next.isEmpty()
                    ? "all runs that match this filter"
                    : runs.size() == 1 ? "this one run" : "these " + runs.size() + " runs";
        }
    }

    Table table(Visit visit, String workflow) throws Exception {
        Map<String, String> filters = new TreeMap<>();
        List<String> words = new ArrayList<>();
        for (String name : FILTERS) {
            String value = visit.asked(name);
            if (!value.isEmpty()) {
                filters.put(name, value);
                words.add(name + ":" + value);
            }
        }
        String query = "q=" + Inside.encoded(String.join(" ", words))
                + (visit.asked("after").isEmpty() ? "" : "&after=" + Inside.encoded(visit.asked("after")));
        String path = workflow.isEmpty() ? "/v1/runs" : Inside.path("v1", "workflows", workflow, "runs");
        Doc page = visit.get(path, query);
        StringBuilder next = new StringBuilder();
        if (page.has("next")) {
            filters.forEach((name, value) ->
                    next.append(name).append('=').append(Inside.encoded(value)).append('&'));
            next.append("after=").append(Inside.encoded(page.text("next")));
        }
        return new Table(
                page.items(),
                workflow,
                filters,
                next.toString(),
                visit.asked("after").isEmpty(),
                plan(visit, page, workflow, words),
                SavedViews.of(visit, String.join(" ", words) + (workflow.isEmpty() ? "" : " workflow:" + workflow)),
                visit.may("POST", "/v1/replays"));
    }

    /** Offers a plan only for a filtered list, so that nobody replays everything by mistake. */
    private static String plan(Visit visit, Doc page, String workflow, List<String> words) {
        if (words.isEmpty() || page.items().isEmpty() || !visit.may("POST", "/v1/replays")) {
            return "";
        }
        return String.join(" ", words) + (workflow.isEmpty() ? "" : " workflow:" + workflow);
    }

    private Answer list(Visit visit) throws Exception {
        return visit.show("runs", "Runs", "Runs", Map.of("table", table(visit, "")));
    }

    /** One table row, which the script swaps in for a live update. */
    private static Answer row(Visit visit) throws Exception {
        Doc run = visit.get(Inside.path("v1", "runs", visit.part("run_id")));
        boolean pick = visit.may("POST", "/v1/replays");
        return visit.show(
                "runRow", "", "", Map.of("run", run, "named", visit.asked("named").equals("true"), "pick", pick));
    }

    Answer one(Visit visit, Again rejection) throws Exception {
        String path = Inside.path("v1", "runs", visit.part("run_id"));
        // Read the questions first: the page must not show a newer run state with an older question version.
        Steps steps = Steps.of(visit, path);
        Doc run = visit.get(path);
        Doc workflow = visit.maybe(Inside.path("v1", "workflows", run.text("workflow_id")), "");
        Map<String, Object> parts = new HashMap<>(Map.of(
                "mayReplay",
                visit.may("POST", "/v1/replays"),
                "run",
                run,
                "bars",
                Bars.of(run, steps, clock.instant()),
                "reviews",
                new Asked(steps.timeline().list("reviews")),
                "signal",
                signal(run),
                "owner",
                workflow.text("owner"),
                "mayCancel",
                open(run) && visit.may("POST", path + "/cancel"),
                "maySignal",
                open(run) && visit.may("POST", path + "/signals/x"),
                "mayDecide",
                open(run) && visit.may("POST", path + "/decide"),
                "rejection",
                rejection));
        return visit.show(rejection.status(), new Look.Sheet("run", "Run " + run.text("run_id"), "Runs", parts));
    }

    /** The reviews of a run. */
    public record Asked(List<Doc> reviews) {
        /** The version of a step's question on this page; if the last question is decided, the next version. */
        public long version(String step) {
            return reviews.stream()
                    .filter(review -> review.text("step").equals(step))
                    .map(review -> review.number("version") + (review.is("open") ? 0 : 1))
                    .findFirst()
                    .orElse(1L);
        }

        /** The reviews without a decision. */
        public List<Doc> open() {
            return reviews.stream().filter(review -> review.is("open")).toList();
        }
    }

    /** The signal that the run waits for; may be empty. */
    private static String signal(Doc run) {
        return run.list("waiting_for").stream()
                .filter(wait -> wait.text("kind").equals("signal"))
                .map(wait -> wait.text("name"))
                .findFirst()
                .orElse("");
    }

    private static boolean open(Doc run) {
        return !run.has("ended_at");
    }

    private static Answer requests(Visit visit) throws Exception {
        Filters filters = Filters.of(visit)
                .choice("kind", "Kind", "any", List.of("replayed", "conflict"))
                .workflow()
                .text("key", "Key", "evt_1")
                .text("actor", "Actor", "tok_1")
                .choice("since", "Since", "any time", Filters.AGES);
        Grid grid = Grid.named("Duplicate and conflicting requests, newest first")
                .time("When", "at")
                .status("Kind", "kind")
                .text("Status code", "status_code")
                .text("Differs in", doc -> doc.words("changed"))
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
                .among(filters)
                .of(visit.get("/v1/requests", ListPages.words(visit, filters.words())));
        // Filtered lists and older pages get no live updates, because new requests may not match.
        String news = filters.isSet() || !visit.asked("after").isEmpty() ? "" : "requests";
        return visit.show("list", "Requests", "Requests", Map.of("grid", grid, "filters", filters, "news", news));
    }
}
