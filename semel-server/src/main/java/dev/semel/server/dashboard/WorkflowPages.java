package dev.semel.server.dashboard;

import dev.semel.server.http.HttpResponse;
import dev.semel.server.http.InternalApiClient;
import dev.semel.server.http.Router;
import dev.semel.server.http.TokenScope;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** The pages of workflows: the list, and one workflow with its runs, definition, effects, keys and versions. */
public final class WorkflowPages {
    private static final Set<String> TABS =
            Set.of("runs", "definition", "effects", "keys", "monitoring", "log", "versions");
    private static final int SHOWN = 50;

    private final RunHistoryPages runs;

    WorkflowPages(RunHistoryPages runs) {
        this.runs = runs;
    }

    void addTo(Router router, DashboardGuard guard) {
        router.add("GET", "/workflows", TokenScope.OPEN, guard.page(WorkflowPages::list))
                .add(
                        "GET",
                        "/workflows/{id}",
                        TokenScope.OPEN,
                        guard.page(visit -> one(visit, "runs", FormRejection.NONE)))
                .add(
                        "GET",
                        "/workflows/{id}/{tab}",
                        TokenScope.OPEN,
                        guard.page(visit -> one(visit, visit.pathParameter("tab"), FormRejection.NONE)))
                .add("POST", "/workflows/{id}/trigger", TokenScope.OPEN, guard.form(this::trigger))
                .add(
                        "POST",
                        "/workflows/{id}/rollback",
                        TokenScope.OPEN,
                        guard.form((visit, form) -> turn(visit, form, "rollback")))
                .add(
                        "POST",
                        "/workflows/{id}/promote",
                        TokenScope.OPEN,
                        guard.form((visit, form) -> turn(visit, form, "promote")));
    }

    /**
     * One row of the workflow list.
     *
     * @param safe number of protected effects
     * @param prevented duplicates prevented in the last 24 hours
     */
    public record WorkflowRow(
            ApiJson workflow,
            int effects,
            int safe,
            int askEffects,
            long finished,
            long failed,
            long unfinished,
            long prevented) {
        static WorkflowRow of(ApiJson workflow, long prevented) {
            List<ApiJson> effects = workflow.list("effects");
            int open = (int) effects.stream()
                    .filter(effect -> effect.text("protection").equals("none"))
                    .count();
            int asks = (int) effects.stream()
                    .filter(effect -> effect.text("protection").equals("ask"))
                    .count();
            List<ApiJson> counted = workflow.list("rollout").stream()
                    .map(share -> share.at("runs"))
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

        private static long sum(List<ApiJson> counted, String member) {
            return counted.stream().mapToLong(one -> one.number(member)).sum();
        }

        /** The protection of the effects in words. */
        public String protectionText() {
            return effects == 0
                    ? "no effects"
                    : safe < effects
                            ? effects - safe + " unprotected"
                            : safe + "/" + effects + " safe"
                                    + (askEffects == 0 ? "" : ", " + askEffects + " ask a user");
        }
    }

    private static HttpResponse list(PageVisit visit) throws Exception {
        String name = visit.queryParameter("name").strip();
        String query = "summary=true&limit=" + SHOWN + "&name=" + InternalApiClient.encode(name);
        String after = visit.queryParameter("after");
        ApiJson page = visit.get(
                "/v1/workflows", after.isEmpty() ? query : query + "&after=" + InternalApiClient.encode(after));
        Map<String, Long> prevented = new HashMap<>();
        visit.getOrEmpty("/v1/monitoring", "")
                .list("workflows")
                .forEach(one -> prevented.put(
                        one.text("workflow_id"), one.at("duplicates_prevented").number("count")));
        List<WorkflowRow> lines = page.items().stream()
                .map(workflow -> WorkflowRow.of(workflow, prevented.getOrDefault(workflow.text("workflow_id"), 0L)))
                .toList();
        String next = page.has("next")
                ? "?name=" + InternalApiClient.encode(name) + "&after=" + InternalApiClient.encode(page.text("next"))
                : "";
        return visit.show("workflows", "Workflows", "Workflows", Map.of("lines", lines, "name", name, "next", next));
    }

    private HttpResponse one(PageVisit visit, String tab, FormRejection rejection) throws Exception {
        String path = InternalApiClient.path("v1", "workflows", visit.pathParameter("id"));
        if (visit.pathParameter("id").equals("new")
                && !visit.getOrEmpty(path, "").has("workflow")) {
            return PageRenderer.redirect(BuilderPages.NEW); // an old URL of the builder
        }
        ApiJson workflow = visit.get(path);
        if (!TABS.contains(tab)) {
            return PageRenderer.redirect(InternalApiClient.path("workflows", visit.pathParameter("id")));
        }
        Map<String, Object> parts = new HashMap<>(Map.of(
                "workflow",
                workflow,
                "tab",
                tab,
                "rejection",
                rejection,
                "mayTrigger",
                visit.isAllowed("POST", path + "/trigger"),
                "mayPause",
                visit.isAllowed("POST", path + "/pause")));
        switch (tab) {
            case "definition" -> definition(visit, path, parts);
            case "effects" -> parts.put("explained", visit.getOrEmpty(path + "/explanation", ""));
            case "keys" -> {
                parts.put("grid", KeyPages.tableForWorkflow(visit, workflow.text("workflow")));
                parts.put("prefix", visit.queryParameter("prefix"));
            }
            case "monitoring" -> monitoring(visit, workflow.text("workflow"), parts);
            case "log" -> parts.put("log", visit.get(path + "/log", ListPages.cursorQuery(visit)));
            case "versions" -> versions(visit, path, parts);
            default -> parts.put("table", runs.table(visit, workflow.text("workflow")));
        }
        return visit.show(
                rejection.status(),
                new PageRenderer.PageContent("workflow", workflow.text("workflow"), "Workflows", parts));
    }

    /** Starts a run with the typed key, or else the form's own key, so that sending twice starts one run. */
    private HttpResponse trigger(PageVisit visit, SubmittedForm form) throws Exception {
        return visit.submit(
                "trigger",
                form,
                () -> {
                    ObjectNode body = JsonNodeFactory.instance.objectNode();
                    body.set("data", ActionForms.parseData(form));
                    String typedKey = form.text("wanted_key").strip();
                    ApiJson answer = visit.send(
                            "POST",
                            InternalApiClient.path("v1", "workflows", visit.pathParameter("id"), "trigger"),
                            body,
                            typedKey.isEmpty() ? form.text("key") : typedKey);
                    return PageRenderer.redirect(InternalApiClient.path("runs", answer.text("run_id")));
                },
                rejection -> one(visit, "runs", rejection));
    }

    private static void monitoring(PageVisit visit, String workflow, Map<String, Object> parts) throws Exception {
        FilterForm filters = MonitoringPages.periodFilter(visit);
        parts.put("filters", filters);
        parts.put("metrics", MonitoringView.of(visit, workflow, filters.value("since")));
    }

    /** A step with the steps of its branches or loop. */
    public record StepNode(ApiJson step, List<StepNode> inner) {}

    private static void definition(PageVisit visit, String path, Map<String, Object> parts) throws Exception {
        ApiJson explained = visit.getOrEmpty(path + "/explanation", "");
        String as = visit.queryParameter("as");
        parts.put("explained", explained);
        parts.put("as", Set.of("topology", "yaml").contains(as) ? as : "list");
        parts.put("nodes", inside(explained.list("steps"), ""));
    }

    private static List<StepNode> inside(List<ApiJson> steps, String outer) {
        return steps.stream()
                .filter(step -> step.text("parent_step").equals(outer))
                .map(step -> new StepNode(step, inside(steps, step.text("step"))))
                .toList();
    }

    /** All versions, and the diff of two if requested. */
    private static void versions(PageVisit visit, String path, Map<String, Object> parts) throws Exception {
        parts.put("versions", visit.get(path + "/versions", ListPages.cursorQuery(visit)));
        String from = visit.queryParameter("from");
        String to = visit.queryParameter("to");
        parts.put(
                "diff",
                from.isEmpty() || to.isEmpty()
                        ? ApiJson.EMPTY
                        : visit.get(
                                path + "/diff",
                                "from=" + InternalApiClient.encode(from) + "&to=" + InternalApiClient.encode(to)));
        parts.put("mayTurn", visit.isAllowed("POST", path + "/rollback"));
    }

    /** Rolls back to a version, ends a candidate, or promotes it. */
    private static HttpResponse turn(PageVisit visit, SubmittedForm form, String action) throws Exception {
        ObjectNode body = JsonNodeFactory.instance.objectNode();
        if (form.text("version").matches("[1-9][0-9]{0,8}")) {
            body.put("version", Integer.parseInt(form.text("version")));
        }
        if (!form.text("reason").isBlank()) {
            body.put("reason", form.text("reason").strip());
        }
        visit.send(
                "POST",
                InternalApiClient.path("v1", "workflows", visit.pathParameter("id"), action),
                body,
                form.text("key"));
        return PageRenderer.redirect(
                InternalApiClient.path("workflows", visit.pathParameter("id"), "versions") + "?did=" + action);
    }
}
