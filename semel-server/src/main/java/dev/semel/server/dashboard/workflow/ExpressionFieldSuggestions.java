package dev.semel.server.dashboard.workflow;

import dev.semel.server.dashboard.page.DashboardPageRequest;
import dev.semel.server.dashboard.page.DashboardTemplateJsonAccessor;
import dev.semel.server.dashboard.page.UrlQuery;
import dev.semel.server.http.InProcessApiClient;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The fields that a step's expressions can read: input fields of the newest run, and results of earlier steps. Contains
 * names only, no values.
 *
 * @param run the newest run; empty if there is none
 */
public record ExpressionFieldSuggestions(List<String> paths, DashboardTemplateJsonAccessor run) {
    private static final int MOST = 60;
    private static final String NAME = "[A-Za-z_][A-Za-z0-9_]*";

    /**
     * @param workflow the published name; empty if it was never published
     * @param step whose settings are open; may be empty
     */
    static ExpressionFieldSuggestions of(
            DashboardPageRequest visit, String workflow, DashboardTemplateJsonAccessor draft, String step)
            throws Exception {
        DashboardTemplateJsonAccessor run =
                workflow.isEmpty() ? DashboardTemplateJsonAccessor.EMPTY : newest(visit, workflow);
        List<String> paths = new ArrayList<>();
        if (step.isEmpty()) {
            return new ExpressionFieldSuggestions(paths, run);
        }
        below(paths, "input", run.at("input"));
        Map<String, DashboardTemplateJsonAccessor> results = results(visit, run);
        for (DashboardTemplateJsonAccessor one : draft.list("steps")) {
            String id = one.text("step");
            if (id.equals(step)) {
                break;
            }
            if (id.matches(NAME)) {
                paths.add("steps." + id);
                below(paths, "steps." + id, results.getOrDefault(id, DashboardTemplateJsonAccessor.EMPTY));
            }
        }
        return new ExpressionFieldSuggestions(paths.stream().limit(MOST).toList(), run);
    }

    private static DashboardTemplateJsonAccessor newest(DashboardPageRequest visit, String workflow) throws Exception {
        List<DashboardTemplateJsonAccessor> runs = visit.getOrEmpty(
                        InProcessApiClient.path("v1", "workflows", workflow, "runs"), UrlQuery.of("limit", "1"))
                .items();
        return runs.isEmpty() ? DashboardTemplateJsonAccessor.EMPTY : runs.getFirst();
    }

    private static Map<String, DashboardTemplateJsonAccessor> results(
            DashboardPageRequest visit, DashboardTemplateJsonAccessor run) throws Exception {
        Map<String, DashboardTemplateJsonAccessor> results = new HashMap<>();
        if (run.has("run_id")) {
            visit.getOrEmpty(InProcessApiClient.path("v1", "runs", run.text("run_id"), "timeline"))
                    .items()
                    .forEach(step -> results.put(step.text("name"), step.at("result")));
        }
        return results;
    }

    private static void below(List<String> paths, String root, DashboardTemplateJsonAccessor value) {
        value.node().properties().forEach(member -> {
            if (member.getKey().matches(NAME)) {
                paths.add(root + "." + member.getKey());
            }
        });
    }

    /** Input for a test run: that of the newest run, unless some of it is masked. */
    public String sampleInput() {
        boolean whole = run.at("input").node().isObject() && run.list("masked").isEmpty();
        return whole ? run.pretty("input") : "{}";
    }
}
