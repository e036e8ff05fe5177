package dev.semel.server.pages;

import dev.semel.server.http.Answer;
import dev.semel.server.http.Inside;
import dev.semel.server.http.Router;
import dev.semel.server.http.Scope;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Workflows, and one of them: its runs, definition, effects, keys and versions. */
public final class WorkflowPages {
    private static final Set<String> TABS = Set.of("runs", "definition", "effects", "versions");
    private static final int SHOWN = 100;

    private final RunPages runs;

    WorkflowPages(RunPages runs) {
        this.runs = runs;
    }

    void addTo(Router router, Door door) {
        router.add("GET", "/workflows", Scope.OPEN, door.page(WorkflowPages::list))
                .add("GET", "/workflows/{id}", Scope.OPEN, door.page(visit -> one(visit, "runs")))
                .add("GET", "/workflows/{id}/{tab}", Scope.OPEN, door.page(visit -> one(visit, visit.part("tab"))));
    }

    /**
     * One line of the list.
     *
     * @param safe effects that cannot happen twice unseen
     */
    public record Line(Doc workflow, int effects, int safe, int asks, long finished, long failed, long unfinished) {
        static Line of(Doc workflow) {
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
                    sum(counted, "unfinished"));
        }

        private static long sum(List<Doc> counted, String member) {
            return counted.stream().mapToLong(one -> one.number(member)).sum();
        }

        /** The effects in words. */
        public String protection() {
            return effects == 0
                    ? "no effects"
                    : safe < effects
                            ? effects - safe + " unprotected"
                            : safe + "/" + effects + " safe" + (asks == 0 ? "" : ", " + asks + " asks");
        }
    }

    private static Answer list(Visit visit) throws Exception {
        List<Line> lines = new ArrayList<>();
        List<Doc> all = visit.get("/v1/workflows").items();
        for (Doc workflow : all.stream().limit(SHOWN).toList()) {
            lines.add(Line.of(visit.get(Inside.path("v1", "workflows", workflow.text("workflow_id")))));
        }
        return visit.show(
                "workflows", "Workflows", "Workflows", Map.of("lines", lines, "more", Math.max(0, all.size() - SHOWN)));
    }

    private Answer one(Visit visit, String tab) throws Exception {
        String path = Inside.path("v1", "workflows", visit.part("id"));
        Doc workflow = visit.get(path);
        if (!TABS.contains(tab)) {
            return Look.goTo(Inside.path("workflows", visit.part("id")));
        }
        Map<String, Object> parts = new java.util.HashMap<>(Map.of(
                "workflow",
                workflow,
                "tab",
                tab,
                "mayTrigger",
                visit.may("POST", path + "/trigger"),
                "mayPause",
                visit.may("POST", path + "/pause")));
        switch (tab) {
            case "definition" -> parts.put("explained", visit.maybe(path + "/explanation", ""));
            case "effects" -> parts.put("explained", visit.maybe(path + "/explanation", ""));
            case "versions" -> parts.put("versions", visit.get(path + "/versions"));
            default -> parts.put("table", runs.table(visit, workflow.text("workflow")));
        }
        return visit.show("workflow", workflow.text("workflow"), "Workflows", parts);
    }
}
