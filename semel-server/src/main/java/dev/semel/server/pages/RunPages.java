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

/** Runs with the requests beside them, one run, and all requests. */
public final class RunPages {
    private static final List<String> FILTERS = List.of("status", "since", "replayed", "key");

    private final InstantSource clock;

    RunPages(InstantSource clock) {
        this.clock = clock;
    }

    void addTo(Router router, Door door) {
        router.add("GET", "/runs", Scope.OPEN, door.page(this::list))
                .add("GET", "/runs/{run_id}", Scope.OPEN, door.page(visit -> one(visit, Again.NOT)))
                .add("GET", "/runs/{run_id}/row", Scope.OPEN, door.page(RunPages::row))
                .add("GET", "/requests", Scope.OPEN, door.page(RunPages::requests));
    }

    /**
     * A table of runs as it was asked for.
     *
     * @param workflow whose they are; empty for all
     * @param filters those that are set, by name
     * @param next the address of the older ones; empty at the end
     * @param plan the filter in the words of the API, for a plan of a replay; empty where none is offered
     * @param views filters that were kept under a name
     * @param mayReplay whether runs can be ticked, and a replay of these be planned
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

        /** How many runs a plan would be for, as far as this page knows. */
        public String planned() {
            return !newest || !next.isEmpty()
                    ? "all runs that fit this filter"
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

    /** Only what was narrowed down is offered: nobody means to replay everything. */
    private static String plan(Visit visit, Doc page, String workflow, List<String> words) {
        if (words.isEmpty() || page.items().isEmpty() || !visit.may("POST", "/v1/replays")) {
            return "";
        }
        return String.join(" ", words) + (workflow.isEmpty() ? "" : " workflow:" + workflow);
    }

    private Answer list(Visit visit) throws Exception {
        return visit.show("runs", "Runs", "Runs", Map.of("table", table(visit, "")));
    }

    /** One run of a table, to be put in the place of the one that stands there. */
    private static Answer row(Visit visit) throws Exception {
        Doc run = visit.get(Inside.path("v1", "runs", visit.part("run_id")));
        boolean pick = visit.may("POST", "/v1/replays");
        return visit.show(
                "row", "", "", Map.of("run", run, "named", visit.asked("named").equals("true"), "pick", pick));
    }

    Answer one(Visit visit, Again again) throws Exception {
        String path = Inside.path("v1", "runs", visit.part("run_id"));
        // First what is asked, then the rest: a question that comes in between was not seen on this page.
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
                "asked",
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
                "again",
                again));
        return visit.show(again.status(), new Look.Sheet("run", "Run " + run.text("run_id"), "Runs", parts));
    }

    /** What the run asked of people. */
    public record Asked(List<Doc> reviews) {
        /** The version of a step's question that this page shows; that of the next one, where it is on its way yet. */
        public long version(String step) {
            return reviews.stream()
                    .filter(review -> review.text("step").equals(step))
                    .map(review -> review.number("version") + (review.is("open") ? 0 : 1))
                    .findFirst()
                    .orElse(1L);
        }

        /** Those that nobody has decided. */
        public List<Doc> open() {
            return reviews.stream().filter(review -> review.is("open")).toList();
        }
    }

    /** The signal that it waits for; empty where it waits for none. */
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
                .text("actor", "By", "tok_1")
                .choice("since", "Since", "always", Filters.AGES);
        Grid grid = Grid.named("Requests that met a run, newest first")
                .time("When", "at")
                .status("Kind", "kind")
                .text("Answer", "status_code")
                .text("Differs in", doc -> doc.words("changed"))
                .link("Key", "key", "keys")
                .link("Run", "run_id", "runs")
                .text("Times", "times")
                .text("By", "actor_id")
                .whenEmpty(
                        filters.isSet()
                                ? "No request fits this filter. Send one twice:"
                                : "No request has met a run that was there before. Send one twice:",
                        "semel send payment_receipt --key evt_1 --times 2 --data '{\"payment_id\":\"pay_1\","
                                + "\"amount\":4900,\"currency\":\"usd\"}'")
                .among(filters)
                .of(visit.get("/v1/requests", ListPages.words(visit, filters.words())));
        // What is narrowed down, or of before, is not told what is new: it may not fit.
        String news = filters.isSet() || !visit.asked("after").isEmpty() ? "" : "requests";
        return visit.show("list", "Requests", "Requests", Map.of("grid", grid, "filters", filters, "news", news));
    }
}
