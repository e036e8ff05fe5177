package dev.semel.server.pages;

import dev.semel.server.http.Answer;
import dev.semel.server.http.Inside;
import dev.semel.server.http.Router;
import dev.semel.server.http.Scope;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** The pages of workflows: the list, and one workflow with its runs, definition, effects, keys and versions. */
public final class WorkflowPages {
    private static final Set<String> TABS =
            Set.of("runs", "definition", "effects", "keys", "signals", "log", "versions");
    private static final int SHOWN = 50;

    private final RunPages runs;

    WorkflowPages(RunPages runs) {
        this.runs = runs;
    }

    void addTo(Router router, Door guard) {
        router.add("GET", "/workflows", Scope.OPEN, guard.page(WorkflowPages::list))
                .add("GET", "/workflows/{id}", Scope.OPEN, guard.page(visit -> one(visit, "runs", Again.NOT)))
                .add(
                        "GET",
                        "/workflows/{id}/{tab}",
                        Scope.OPEN,
                        guard.page(visit -> one(visit, visit.part("tab"), Again.NOT)))
                .add("POST", "/workflows/{id}/trigger", Scope.OPEN, guard.deed(this::trigger))
                .add(
                        "POST",
                        "/workflows/{id}/rollback",
                        Scope.OPEN,
                        guard.deed((visit, form) -> turn(visit, form, "rollback")))
                .add(
                        "POST",
                        "/workflows/{id}/promote",
                        Scope.OPEN,
                        guard.deed((visit, form) -> turn(visit, form, "promote")));
    }

    /**
     * One row of the workflow list.
     *
     * @param safe number of protected effects
     * @param prevented duplicates prevented in the last 24 hours
     */
    public record Line(
            Doc workflow,
            int effects,
            int safe,
            int asks,
            long finished,
            long failed,
            long unfinished,
            long prevented) {
        static Line of(Doc workflow, long prevented) {
            List<Doc> effects = workflow.list("effects");
            int open = (int) effects.stream()
                    .filter(effect -> effect.text("protection").equals("none"))
                    .count();
            int asks = (int) effects.stream()
                    .filter(effect -> effect.text("protection").equals("ask"))
                    .count();
            List<Doc> counted = workflow.list("rollout").stream()
                    .map(share -> share.at("runs"))
                    .toList();
            return new Line(
                    workflow,
                    effects.size(),
                    effects.size() - open,
                    asks,
                    sum(counted, "completed") + sum(counted, "cancelled"),
                    sum(counted, "failed"),
                    sum(counted, "unfinished"),
                    prevented);
        }

        private static long sum(List<Doc> counted, String member) {
            return counted.stream().mapToLong(one -> one.number(member)).sum();
        }

        /** The protection of the effects in words. */
        public String protection() {
            return effects == 0
                    ? "no effects"
                    : safe < effects
                            ? effects - safe + " unprotected"
                            : safe + "/" + effects + " safe" + (asks == 0 ? "" : ", " + asks + " ask a user");
        }
    }

    private static Answer list(Visit visit) throws Exception {
        String name = visit.asked("name").strip();
        String query = "summary=true&limit=" + SHOWN + "&name=" + Inside.encoded(name);
        String after = visit.asked("after");
        Doc page = visit.get("/v1/workflows", after.isEmpty() ? query : query + "&after=" + Inside.encoded(after));
        Map<String, Long> prevented = new HashMap<>();
        visit.maybe("/v1/signals", "")
                .list("workflows")
                .forEach(one -> prevented.put(
                        one.text("workflow_id"), one.at("duplicates_prevented").number("count")));
        List<Line> lines = page.items().stream()
                .map(workflow -> Line.of(workflow, prevented.getOrDefault(workflow.text("workflow_id"), 0L)))
                .toList();
        String next =
                page.has("next") ? "?name=" + Inside.encoded(name) + "&after=" + Inside.encoded(page.text("next")) : "";
        return visit.show("workflows", "Workflows", "Workflows", Map.of("lines", lines, "name", name, "next", next));
    }

    private Answer one(Visit visit, String tab, Again rejection) throws Exception {
        String path = Inside.path("v1", "workflows", visit.part("id"));
        if (visit.part("id").equals("new") && !visit.maybe(path, "").has("workflow")) {
            return Look.goTo(Builder.NEW); // an old URL of the builder
        }
        Doc workflow = visit.get(path);
        if (!TABS.contains(tab)) {
            return Look.goTo(Inside.path("workflows", visit.part("id")));
        }
        Map<String, Object> parts = new HashMap<>(Map.of(
                "workflow",
                workflow,
                "tab",
                tab,
                "rejection",
                rejection,
                "mayTrigger",
                visit.may("POST", path + "/trigger"),
                "mayPause",
                visit.may("POST", path + "/pause")));
        switch (tab) {
            case "definition" -> definition(visit, path, parts);
            case "effects" -> parts.put("explained", visit.maybe(path + "/explanation", ""));
            case "keys" -> {
                parts.put("grid", KeyPages.ofWorkflow(visit, workflow.text("workflow")));
                parts.put("prefix", visit.asked("prefix"));
            }
            case "signals" -> monitoring(visit, workflow.text("workflow"), parts);
            case "log" -> parts.put("log", visit.get(path + "/log", ListPages.behind(visit)));
            case "versions" -> versions(visit, path, parts);
            default -> parts.put("table", runs.table(visit, workflow.text("workflow")));
        }
        return visit.show(
                rejection.status(), new Look.Sheet("workflow", workflow.text("workflow"), "Workflows", parts));
    }

    /** Starts a run with the typed key, or else the form's own key, so that sending twice starts one run. */
    private Answer trigger(Visit visit, Form form) throws Exception {
        return visit.trying(
                "trigger",
                form,
                () -> {
                    ObjectNode body = JsonNodeFactory.instance.objectNode();
                    body.set("data", Acts.data(form));
                    String typedKey = form.text("wanted_key").strip();
                    Doc answer = visit.send(
                            "POST",
                            Inside.path("v1", "workflows", visit.part("id"), "trigger"),
                            body,
                            typedKey.isEmpty() ? form.text("key") : typedKey);
                    return Look.goTo(Inside.path("runs", answer.text("run_id")));
                },
                rejection -> one(visit, "runs", rejection));
    }

    private static void monitoring(Visit visit, String workflow, Map<String, Object> parts) throws Exception {
        Filters filters = SafetyPages.span(visit);
        parts.put("filters", filters);
        parts.put("metrics", Signals.of(visit, workflow, filters.value("since")));
    }

    /** A step with the steps of its branches or loop. */
    public record Node(Doc step, List<Node> inner) {}

    private static void definition(Visit visit, String path, Map<String, Object> parts) throws Exception {
        Doc explained = visit.maybe(path + "/explanation", "");
        String as = visit.asked("as");
        parts.put("explained", explained);
        parts.put("as", Set.of("topology", "yaml").contains(as) ? as : "list");
        parts.put("nodes", inside(explained.list("steps"), ""));
    }

    private static List<Node> inside(List<Doc> steps, String outer) {
        return steps.stream()
                .filter(step -> step.text("inside").equals(outer))
                .map(step -> new Node(step, inside(steps, step.text("step"))))
                .toList();
    }

    /** All versions, and the diff of two if requested. */
    private static void versions(Visit visit, String path, Map<String, Object> parts) throws Exception {
        parts.put("versions", visit.get(path + "/versions", ListPages.behind(visit)));
        String from = visit.asked("from");
        String to = visit.asked("to");
        parts.put(
                "diff",
                from.isEmpty() || to.isEmpty()
                        ? Doc.NOTHING
                        : visit.get(path + "/diff", "from=" + Inside.encoded(from) + "&to=" + Inside.encoded(to)));
        parts.put("mayTurn", visit.may("POST", path + "/rollback"));
    }

    /** Rolls back to a version, ends a candidate, or promotes it. */
    private static Answer turn(Visit visit, Form form, String action) throws Exception {
        ObjectNode body = JsonNodeFactory.instance.objectNode();
        if (form.text("version").matches("[1-9][0-9]{0,8}")) {
            body.put("version", Integer.parseInt(form.text("version")));
        }
        if (!form.text("reason").isBlank()) {
            body.put("reason", form.text("reason").strip());
        }
        visit.send("POST", Inside.path("v1", "workflows", visit.part("id"), action), body, form.text("key"));
        return Look.goTo(Inside.path("workflows", visit.part("id"), "versions") + "?did=" + action);
    }
}
