package dev.semel.server.dashboard.run;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.dashboard.login.DashboardRouter;
import dev.semel.server.dashboard.page.ApiErrorResponseException;
import dev.semel.server.dashboard.page.DashboardListTableModel;
import dev.semel.server.dashboard.page.DashboardPageRequest;
import dev.semel.server.dashboard.page.DashboardTemplateJsonAccessor;
import dev.semel.server.dashboard.page.PageRenderer;
import dev.semel.server.dashboard.page.StatusLabel;
import dev.semel.server.dashboard.page.SubmittedForm;
import dev.semel.server.dashboard.page.UrlQuery;
import dev.semel.server.http.InProcessApiClient;
import dev.semel.server.http.ServerHttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** The pages of safe replays: create a plan, approve, apply, stop, and follow its progress. */
public final class RunReplayPages {
    private static final Pattern FILTER = Pattern.compile("(?:(?:status|workflow|key|replayed|since):\\S+(?:\\s+|$))+");
    private static final int MOST_NAMED = 1_000;
    private static final int STOP_AFTER = 5;
    private static final List<String> RESULTS = List.of("planned", "applied", "outdated", "rejected", "skipped");

    private RunReplayPages() {}

    public static void addTo(DashboardRouter routes) {
        String one = "/replays/{replay_id}";
        routes.page("/replays", RunReplayPages::list)
                .form("/replays", RunReplayPages::make)
                .page(one, visit -> one(visit, 200, DashboardTemplateJsonAccessor.EMPTY))
                .form(one + "/again", RunReplayPages::planAgain)
                .form(one + "/approve", (visit, form) -> turn(visit, form, "approve"))
                .form(one + "/apply", (visit, form) -> turn(visit, form, "apply"))
                .form(one + "/stop", (visit, form) -> turn(visit, form, "stop"));
    }

    /** @param runs runs whose riskiest action this is */
    public record ActionCount(String action, StatusLabel status, String description, long runs, long steps) {
        static ActionCount of(String action, DashboardTemplateJsonAccessor count) {
            return new ActionCount(
                    action, actionLabel(action), meaning(action), count.number("runs"), count.number("steps"));
        }
    }

    public static StatusLabel actionLabel(String action) {
        return switch (action) {
            case "reuse" -> new StatusLabel("●", "reuse", "good");
            case "run_again" -> new StatusLabel("○", "run again", "good");
            case "send" -> new StatusLabel("→", "send", "good");
            case "resend" -> new StatusLabel("◐", "re-send with the same key", "good");
            case "check" -> new StatusLabel("⌕", "check first", "good");
            case "send_again" -> new StatusLabel("↻", "send again on purpose", "doubt");
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
            case "send" -> "The engine sends this effect for the first time.";
            case "resend" -> "The effect was sent before without a response. The provider still remembers its key.";
            case "check" -> "The effect was sent before without a response. The engine checks with the provider first.";
            case "send_again" -> "The effect was sent before. A user confirmed that the engine sends it again.";
            case "ask" -> "A user decides what happens.";
            case "unprotected" -> "The engine sends this effect again. Nothing prevents a duplicate.";
            case "silent" -> "This step sends a notification. This replay sends no notifications.";
            default -> "";
        };
    }

    private static ServerHttpResponse list(DashboardPageRequest visit) throws Exception {
        DashboardListTableModel grid = DashboardListTableModel.titled("Safe replay plans, newest first")
                .link("Plan", "replay_id", "replays")
                .status("Status", "status")
                .text("Filter", "selection")
                .text("Runs", "runs")
                .text("Safe", "safe")
                .text("Blocked", "blocked")
                .text("Created by", "created_by")
                .time("Created", "created_at")
                .time("Valid until", "valid_until")
                .whenEmpty(
                        "No safe replay plans yet. Create a plan; creating it replays nothing:",
                        "semel replay plan status:failed since:2h")
                .withRows(visit.get("/v1/replays", visit.cursor()));
        return visit.page("list", "Safe replays", "Safe replays")
                .with("grid", grid)
                .show();
    }

    private static ServerHttpResponse make(DashboardPageRequest visit, SubmittedForm form) throws Exception {
        ObjectNode body = DashboardTemplateJsonAccessor.newObject();
        if (form.text("q").isBlank()) {
            // The selected runs of a list, or the run of the run page.
            form.values("run").forEach(body.putArray("runs")::add);
            if (form.values("run").isEmpty()) {
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

    private static ServerHttpResponse made(DashboardPageRequest visit, ObjectNode body, SubmittedForm form)
            throws Exception {
        DashboardTemplateJsonAccessor plan = visit.send("POST", form, body, "replays");
        return PageRenderer.redirect(plan.link("replays", "replay_id") + "?did=plan");
    }

    /** Creates a new plan for the same filter, or for the same run ids. */
    private static ServerHttpResponse planAgain(DashboardPageRequest visit, SubmittedForm form) throws Exception {
        String path = InProcessApiClient.path("v1", "replays", visit.pathParameter("replay_id"));
        DashboardTemplateJsonAccessor plan = visit.get(path);
        ObjectNode body = DashboardTemplateJsonAccessor.newObject();
        if (FILTER.matcher(plan.text("selection")).matches()) {
            body.put("q", plan.text("selection"));
        } else {
            ArrayNode runs = body.putArray("runs");
            String after = "";
            do {
                DashboardTemplateJsonAccessor page =
                        visit.get(path + "/items", UrlQuery.of("limit", "200").and("after", after));
                page.items().forEach(item -> runs.add(item.text("run_id")));
                after = page.text("next");
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

    private static ServerHttpResponse turn(DashboardPageRequest visit, SubmittedForm form, String action)
            throws Exception {
        ObjectNode body = DashboardTemplateJsonAccessor.newObject();
        if (action.equals("apply") && !form.isChecked("approved")) {
            form.values("include").forEach(body.putArray("include")::add);
            for (String number : List.of("rate", "canary", "stop_after")) {
                put(body, number, form.text(number).strip());
            }
        } else if (action.equals("stop")) {
            body.put("reason", form.text("reason").strip());
        }
        try {
            visit.send("POST", form, body, "replays", visit.pathParameter("replay_id"), action);
        } catch (ApiErrorResponseException e) {
            // Show the plan with the differences and a form for a new plan.
            return one(visit, e.status(), e.problem());
        }
        return visit.redirect(action, "replays", visit.pathParameter("replay_id"));
    }

    /** Passes on text that is not a number; the API rejects it with an explanation. */
    private static void put(ObjectNode body, String member, String text) {
        if (text.matches("[0-9]{1,7}")) {
            body.put(member, Integer.parseInt(text));
        } else if (!text.isEmpty()) {
            body.put(member, text);
        }
    }

    private static ServerHttpResponse one(DashboardPageRequest visit, int status, DashboardTemplateJsonAccessor problem)
            throws Exception {
        String path = InProcessApiClient.path("v1", "replays", visit.pathParameter("replay_id"));
        DashboardTemplateJsonAccessor plan = visit.get(path);
        List<ActionCount> parts = new ArrayList<>();
        plan.at("actions")
                .node()
                .properties()
                .forEach(one ->
                        parts.add(ActionCount.of(one.getKey(), new DashboardTemplateJsonAccessor(one.getValue()))));
        String worst = visit.queryParameter("worst");
        String result = visit.queryParameter("outcome");
        DashboardTemplateJsonAccessor items = visit.get(
                path + "/items",
                visit.cursor().and("worst", worst).and("outcome", RESULTS.contains(result) ? result : ""));
        boolean planned = plan.text("status").equals("planned");
        return visit.page("replay", "Plan " + plan.text("replay_id"), "Safe replays")
                .with("plan", plan)
                .with("parts", parts)
                .with("items", items)
                .with("worst", worst)
                .with("result", result)
                .with("problem", problem)
                .with(
                        "maker",
                        plan.text("created_by").equals(visit.user().principal().tokenId()))
                .with("mayApply", planned && visit.isAllowed("POST", path + "/apply"))
                .with("mayApprove", planned && visit.isAllowed("POST", path + "/approve"))
                .with("mayStop", plan.text("status").equals("applying") && visit.isAllowed("POST", path + "/stop"))
                .with("mayPlan", visit.isAllowed("POST", "/v1/replays"))
                .show(status);
    }
}
