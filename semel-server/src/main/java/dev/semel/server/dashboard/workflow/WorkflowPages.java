package dev.semel.server.dashboard.workflow;

import dev.semel.server.dashboard.idempotency.IdempotencyKeyPages;
import dev.semel.server.dashboard.idempotency.IdempotencyMetricsPages;
import dev.semel.server.dashboard.idempotency.IdempotencyMetricsView;
import dev.semel.server.dashboard.login.DashboardRouter;
import dev.semel.server.dashboard.page.DashboardListFilterForm;
import dev.semel.server.dashboard.page.DashboardPageRequest;
import dev.semel.server.dashboard.page.DashboardTemplateJsonAccessor;
import dev.semel.server.dashboard.page.PageBuilder;
import dev.semel.server.dashboard.page.PageRenderer;
import dev.semel.server.dashboard.page.RejectedDashboardForm;
import dev.semel.server.dashboard.page.SubmittedForm;
import dev.semel.server.dashboard.page.UrlQuery;
import dev.semel.server.dashboard.run.DashboardRunPages;
import dev.semel.server.dashboard.setting.DashboardAdministrationFormHandler;
import dev.semel.server.http.InProcessApiClient;
import dev.semel.server.http.ServerHttpResponse;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import tools.jackson.databind.node.ObjectNode;

/** The pages of workflows: the list, and one workflow with its runs, definition, effects, keys and versions. */
public final class WorkflowPages {
    private static final Set<String> TABS =
            Set.of("runs", "definition", "effects", "keys", "monitoring", "log", "versions");
    private static final String SHOWN = "50";

    private final DashboardRunPages runs;

    public WorkflowPages(DashboardRunPages runs) {
        this.runs = runs;
    }

    public void addTo(DashboardRouter routes) {
        routes.page("/workflows", WorkflowPages::list)
                .page("/workflows/{id}", visit -> one(visit, "runs", RejectedDashboardForm.NONE))
                .page(
                        "/workflows/{id}/{tab}",
                        visit -> one(visit, visit.pathParameter("tab"), RejectedDashboardForm.NONE))
                .form("/workflows/{id}/trigger", this::trigger)
                .form("/workflows/{id}/rollback", (visit, form) -> turn(visit, form, "rollback"))
                .form("/workflows/{id}/promote", (visit, form) -> turn(visit, form, "promote"));
    }

    /**
     * @param safe number of protected effects
     * @param prevented duplicates prevented in the last 24 hours
     */
    public record WorkflowRow(
            DashboardTemplateJsonAccessor workflow,
            int effects,
            int safe,
            int askEffects,
            long finished,
            long failed,
            long unfinished,
            long prevented) {
        static WorkflowRow of(DashboardTemplateJsonAccessor workflow, long prevented) {
            List<DashboardTemplateJsonAccessor> effects = workflow.list("effects");
            int open = (int) effects.stream()
                    .filter(effect -> effect.text("protection").equals("none"))
                    .count();
            int asks = (int) effects.stream()
                    .filter(effect -> effect.text("protection").equals("ask"))
                    .count();
            List<DashboardTemplateJsonAccessor> counted = workflow.list("rollout").stream()
                    .map(apiJson -> apiJson.at("runs"))
                    .toList();
            return new WorkflowRow(
                    workflow,
                    effects.size(),
                    effects.size() - open,
                    asks,
                    sum(counted, "completed") + sum(counted, "cancelled"),
                    sum(counted, "failed"),
                    sum(counted, "unfinished"),
                    prevented);
        }

        private static long sum(List<DashboardTemplateJsonAccessor> counted, String member) {
            return counted.stream().mapToLong(one -> one.number(member)).sum();
        }

        public String protectionText() {
            return effects == 0
                    ? "no effects"
                    : safe < effects
                            ? effects - safe + " unprotected"
                            : safe + "/" + effects + " safe"
                                    + (askEffects == 0 ? "" : ", " + askEffects + " ask a user");
        }
    }

    private static ServerHttpResponse list(DashboardPageRequest visit) throws Exception {
        String name = visit.queryParameter("name").strip();
        UrlQuery query =
                visit.cursor().and("summary", "true").and("limit", SHOWN).and("name", name);
        DashboardTemplateJsonAccessor page = visit.get("/v1/workflows", query);
        Map<String, Long> prevented = new HashMap<>();
        visit.getOrEmpty("/v1/monitoring")
                .list("workflows")
                .forEach(one -> prevented.put(
                        one.text("workflow_id"), one.at("duplicates_prevented").number("count")));
        List<WorkflowRow> lines = page.items().stream()
                .map(workflow -> WorkflowRow.of(workflow, prevented.getOrDefault(workflow.text("workflow_id"), 0L)))
                .toList();
        String next = page.has("next")
                ? UrlQuery.of("name", name).and("after", page.text("next")).suffix()
                : "";
        return visit.page("workflows", "Workflows", "Workflows")
                .with("lines", lines)
                .with("name", name)
                .with("next", next)
                .show();
    }

    private ServerHttpResponse one(DashboardPageRequest visit, String tab, RejectedDashboardForm rejection)
            throws Exception {
        String path = InProcessApiClient.path("v1", "workflows", visit.pathParameter("id"));
        if (visit.pathParameter("id").equals("new") && !visit.getOrEmpty(path).has("workflow")) {
            return PageRenderer.redirect(WorkflowBuilderPages.NEW); // an old URL of the builder
        }
        DashboardTemplateJsonAccessor workflow = visit.get(path);
        if (!TABS.contains(tab)) {
            return PageRenderer.redirect(InProcessApiClient.path("workflows", visit.pathParameter("id")));
        }
        PageBuilder view = visit.page("workflow", workflow.text("workflow"), "Workflows")
                .with("workflow", workflow)
                .with("tab", tab)
                .with("rejection", rejection)
                .with("mayTrigger", visit.isAllowed("POST", path + "/trigger"))
                .with("mayPause", visit.isAllowed("POST", path + "/pause"));
        switch (tab) {
            case "definition" -> definition(visit, path, view);
            case "effects" -> view.with("explained", visit.getOrEmpty(path + "/explanation"));
            case "keys" -> {
                view.with("grid", IdempotencyKeyPages.tableForWorkflow(visit, workflow.text("workflow")));
                view.with("prefix", visit.queryParameter("prefix"));
            }
            case "monitoring" -> monitoring(visit, workflow.text("workflow"), view);
            case "log" -> view.with("log", visit.get(path + "/log", visit.cursor()));
            case "versions" -> versions(visit, path, view);
            default -> view.with("table", runs.table(visit, workflow.text("workflow")));
        }
        return view.show(rejection.status());
    }

    /** Starts a run with the typed key, or else the form's own key, so that sending twice starts one run. */
    private ServerHttpResponse trigger(DashboardPageRequest visit, SubmittedForm form) throws Exception {
        return visit.submit(
                "trigger",
                form,
                () -> {
                    ObjectNode body = DashboardTemplateJsonAccessor.newObject();
                    body.set("data", DashboardAdministrationFormHandler.parseData(form));
                    String typedKey = form.text("wanted_key").strip();
                    DashboardTemplateJsonAccessor answer = visit.send(
                            "POST",
                            InProcessApiClient.path("v1", "workflows", visit.pathParameter("id"), "trigger"),
                            body,
                            typedKey.isEmpty() ? form.text("key") : typedKey);
                    return PageRenderer.redirect(InProcessApiClient.path("runs", answer.text("run_id")));
                },
                rejection -> one(visit, "runs", rejection));
    }

    private static void monitoring(DashboardPageRequest visit, String workflow, PageBuilder view) throws Exception {
        DashboardListFilterForm filters = IdempotencyMetricsPages.periodFilter(visit);
        view.with("filters", filters);
        view.with("metrics", IdempotencyMetricsView.of(visit, workflow, filters.value("since")));
    }

    /** A step with the steps of its branches or loop. */
    public record StepNode(DashboardTemplateJsonAccessor step, List<StepNode> inner) {}

    private static void definition(DashboardPageRequest visit, String path, PageBuilder view) throws Exception {
        DashboardTemplateJsonAccessor explained = visit.getOrEmpty(path + "/explanation");
        String as = visit.queryParameter("as");
        view.with("explained", explained);
        view.with("as", Set.of("topology", "yaml").contains(as) ? as : "list");
        view.with("nodes", inside(explained.list("steps"), ""));
    }

    private static List<StepNode> inside(List<DashboardTemplateJsonAccessor> steps, String outer) {
        return steps.stream()
                .filter(step -> step.text("parent_step").equals(outer))
                .map(step -> new StepNode(step, inside(steps, step.text("step"))))
                .toList();
    }

    /** All versions, and the diff of two if requested. */
    private static void versions(DashboardPageRequest visit, String path, PageBuilder view) throws Exception {
        view.with("versions", visit.get(path + "/versions", visit.cursor()));
        String from = visit.queryParameter("from");
        String to = visit.queryParameter("to");
        view.with(
                "diff",
                from.isEmpty() || to.isEmpty()
                        ? DashboardTemplateJsonAccessor.EMPTY
                        : visit.get(path + "/diff", UrlQuery.of("from", from).and("to", to)));
        view.with("mayTurn", visit.isAllowed("POST", path + "/rollback"));
    }

    /** Rolls back to a version, ends a candidate, or promotes it. */
    private static ServerHttpResponse turn(DashboardPageRequest visit, SubmittedForm form, String action)
            throws Exception {
        ObjectNode body = DashboardTemplateJsonAccessor.newObject();
        if (form.version() > 0) {
            body.put("version", form.version());
        }
        if (!form.text("reason").isBlank()) {
            body.put("reason", form.text("reason").strip());
        }
        visit.send("POST", form, body, "workflows", visit.pathParameter("id"), action);
        return visit.redirect(action, "workflows", visit.pathParameter("id"), "versions");
    }
}
