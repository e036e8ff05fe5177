package dev.semel.server.dashboard;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.http.HttpResponse;
import dev.semel.server.http.InternalApiClient;
import dev.semel.server.http.Router;
import dev.semel.server.http.TokenScope;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** The pages of safe replays: create a plan, approve, apply, stop, and follow its progress. */
public final class ReplayPages {
    private static final Pattern FILTER = Pattern.compile("(?:(?:status|workflow|key|replayed|since):\\S+(?:\\s+|$))+");
    private static final int MOST_NAMED = 1_000;
    private static final int STOP_AFTER = 5;
    private static final List<String> RESULTS = List.of("planned", "applied", "outdated", "rejected", "skipped");

    private ReplayPages() {}

    static void addTo(Router router, DashboardGuard guard) {
        String one = "/replays/{replay_id}";
        router.add("GET", "/replays", TokenScope.OPEN, guard.page(ReplayPages::list))
                .add("POST", "/replays", TokenScope.OPEN, guard.form(ReplayPages::make))
                .add("GET", one, TokenScope.OPEN, guard.page(visit -> one(visit, 200, ApiJson.EMPTY)))
                .add("POST", one + "/again", TokenScope.OPEN, guard.form(ReplayPages::planAgain))
                .add(
                        "POST",
                        one + "/approve",
                        TokenScope.OPEN,
                        guard.form((visit, form) -> turn(visit, form, "approve")))
                .add("POST", one + "/apply", TokenScope.OPEN, guard.form((visit, form) -> turn(visit, form, "apply")))
                .add("POST", one + "/stop", TokenScope.OPEN, guard.form((visit, form) -> turn(visit, form, "stop")));
    }

    /**
     * How many runs and steps of a plan need one action.
     *
     * @param runs runs whose riskiest action this is
     */
    public record ActionCount(String action, StatusLabel status, String description, long runs, long steps) {
        static ActionCount of(String action, ApiJson count) {
            return new ActionCount(
                    action, actionLabel(action), meaning(action), count.number("runs"), count.number("steps"));
        }
    }

    /** The label of a planned action. */
    public static StatusLabel actionLabel(String action) {
        return switch (action) {
            case "reuse" -> new StatusLabel("●", "reuse", "good");
            case "run_again" -> new StatusLabel("○", "run again", "good");
            case "send" -> new StatusLabel("→", "send", "good");
            case "resend" -> new StatusLabel("◐", "re-send with the same key", "good");
            case "check" -> new StatusLabel("⌕", "check first", "good");
            case "ask" -> new StatusLabel("?", "ask a user", "doubt");
            case "unprotected" -> new StatusLabel("▲", "unprotected", "bad");
            case "silent" -> new StatusLabel("⊘", "silent", "calm");
            default -> new StatusLabel("⊘", "not replayed", "calm");
        };
    }

    private static String meaning(String action) {
        return switch (action) {
            case "reuse" -> "The engine reuses the recorded result.";
            case "run_again" -> "The step has no side effect, or is safe to repeat.";
            case "send" -> "The engine sends it for the first time.";
            case "resend" -> "Sent before without a response. The provider still remembers its key.";
            case "check" -> "Sent before without a response. The engine checks with the provider first.";
            case "ask" -> "A user decides what happens.";
            case "unprotected" -> "The engine sends it again. Nothing prevents a duplicate.";
            case "silent" -> "A notification. This replay sends none.";
            default -> "";
        };
    }

    private static HttpResponse list(PageVisit visit) throws Exception {
        TableView grid = TableView.titled("Safe replay plans, newest first")
                .link("Plan", "replay_id", "replays")
                .status("Status", "status")
                .text("Filter", "selection")
                .text("Runs", "runs")
                .text("Safe", "safe")
                .text("Blocked", "blocked")
                .text("Created by", "created_by")
                .time("Created", "created_at")
                .time("Valid until", "valid_until")
                .whenEmpty("No safe replay plans yet. A plan runs nothing:", "semel replay plan status:failed since:2h")
                .withRows(visit.get("/v1/replays", ListPages.cursorQuery(visit)));
        return visit.show("list", "Safe replays", "Safe replays", Map.of("grid", grid));
    }

    private static HttpResponse make(PageVisit visit, SubmittedForm form) throws Exception {
        ObjectNode body = JsonNodeFactory.instance.objectNode();
        if (form.text("q").isBlank()) {
            // The selected runs of a list, or the run of the run page.
            ArrayNode runs = body.putArray("runs");
            form.values("run").forEach(runs::add);
            if (runs.isEmpty()) {
                throw new SemelException(
                        ErrorCode.INVALID_INPUT,
                        "No run is selected. No plan was created.",
                        "Go back and select the runs to replay.");
            }
        } else {
            body.put("q", form.text("q").strip());
        }
        body.put("from", form.text("from").strip())
                .put("definition", form.text("definition").isEmpty() ? "recorded_version" : form.text("definition"))
                .put("approval", form.isChecked("approval"))
                .put("late_signals", form.isChecked("late_signals"));
        if (!form.text("notify").isEmpty()) {
            body.put("notify", form.text("notify"));
        }
        if (form.isChecked(
                "approval")) { // an approval covers these options; otherwise the user sets them when applying
            put(body, "rate", form.text("rate").strip());
            body.put("stop_after", STOP_AFTER);
        }
        return made(visit, body, form);
    }

    private static HttpResponse made(PageVisit visit, ObjectNode body, SubmittedForm form) throws Exception {
        ApiJson plan = visit.send("POST", "/v1/replays", body, form.text("key"));
        return PageRenderer.redirect(plan.link("replays", "replay_id") + "?did=plan");
    }

    /** Creates a new plan for the same filter, or for the same run ids. */
    private static HttpResponse planAgain(PageVisit visit, SubmittedForm form) throws Exception {
        String path = InternalApiClient.path("v1", "replays", visit.pathParameter("replay_id"));
        ApiJson plan = visit.get(path);
        ObjectNode body = JsonNodeFactory.instance.objectNode();
        if (FILTER.matcher(plan.text("selection")).matches()) {
            body.put("q", plan.text("selection"));
        } else {
            ArrayNode runs = body.putArray("runs");
            String after = "";
            do {
                ApiJson page = visit.get(path + "/items", "limit=200" + after);
                page.items().forEach(item -> runs.add(item.text("run_id")));
                after = page.has("next") ? "&after=" + InternalApiClient.encode(page.text("next")) : "";
            } while (!after.isEmpty() && runs.size() < MOST_NAMED);
        }
        body.put("from", plan.text("from"))
                .put("definition", plan.text("definition"))
                .put("approval", plan.is("needs_approval") || plan.has("approved_by"))
                .put("late_signals", plan.is("late_signals"))
                .put("notify", plan.text("notify"));
        for (String member : List.of("include", "rate", "canary", "stop_after")) {
            if (plan.at("apply").has(member)) {
                body.set(member, plan.at("apply").node().required(member));
            }
        }
        if (!plan.list("redo").isEmpty()) {
            body.set("redo", plan.at("redo").node());
        }
        return made(visit, body, form);
    }

    private static HttpResponse turn(PageVisit visit, SubmittedForm form, String action) throws Exception {
        ObjectNode body = JsonNodeFactory.instance.objectNode();
        if (action.equals("apply") && !form.isChecked("approved")) {
            ArrayNode include = body.putArray("include");
            form.values("include").forEach(include::add);
            for (String number : List.of("rate", "canary", "stop_after")) {
                put(body, number, form.text(number).strip());
            }
        } else if (action.equals("stop")) {
            body.put("reason", form.text("reason").strip());
        }
        try {
            visit.send(
                    "POST",
                    InternalApiClient.path("v1", "replays", visit.pathParameter("replay_id"), action),
                    body,
                    form.text("key"));
        } catch (ApiRejectionException e) {
            // Show the plan with the differences and a form for a new plan.
            return one(visit, e.status(), e.problem());
        }
        return PageRenderer.redirect(
                InternalApiClient.path("replays", visit.pathParameter("replay_id")) + "?did=" + action);
    }

    /** Passes on text that is not a number; the API rejects it with an explanation. */
    private static void put(ObjectNode body, String member, String text) {
        if (text.matches("[0-9]{1,7}")) {
            body.put(member, Integer.parseInt(text));
        } else if (!text.isEmpty()) {
            body.put(member, text);
        }
    }

    private static HttpResponse one(PageVisit visit, int status, ApiJson problem) throws Exception {
        String path = InternalApiClient.path("v1", "replays", visit.pathParameter("replay_id"));
        ApiJson plan = visit.get(path);
        List<ActionCount> parts = new ArrayList<>();
        plan.at("actions")
                .node()
                .properties()
                .forEach(one -> parts.add(ActionCount.of(one.getKey(), new ApiJson(one.getValue()))));
        String worst = visit.queryParameter("worst");
        String result = visit.queryParameter("outcome");
        StringBuilder query = new StringBuilder(ListPages.cursorQuery(visit));
        add(query, "worst", worst);
        add(query, "outcome", RESULTS.contains(result) ? result : "");
        ApiJson items = visit.get(path + "/items", query.toString());
        boolean planned = plan.text("status").equals("planned");
        Map<String, Object> shown = new HashMap<>(Map.of(
                "plan", plan,
                "parts", parts,
                "items", items,
                "worst", worst,
                "result", result,
                "problem", problem,
                "maker", plan.text("created_by").equals(visit.user().principal().tokenId())));
        shown.put("mayApply", planned && visit.isAllowed("POST", path + "/apply"));
        shown.put("mayApprove", planned && visit.isAllowed("POST", path + "/approve"));
        shown.put("mayStop", plan.text("status").equals("applying") && visit.isAllowed("POST", path + "/stop"));
        shown.put("mayPlan", visit.isAllowed("POST", "/v1/replays"));
        return visit.show(
                status,
                new PageRenderer.PageContent("replay", "Plan " + plan.text("replay_id"), "Safe replays", shown));
    }

    private static void add(StringBuilder query, String name, String value) {
        if (!value.isEmpty()) {
            query.append(query.isEmpty() ? "" : "&").append(name).append('=').append(InternalApiClient.encode(value));
        }
    }
}
