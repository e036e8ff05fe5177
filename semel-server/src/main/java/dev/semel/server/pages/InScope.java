package dev.semel.server.pages;

import dev.semel.server.http.Inside;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What the expressions of a step can read: fields of the newest run's input, and results of the steps before it. Names
 * only; no value of a run is among them.
 *
 * @param run the newest run; nothing where there is none
 */
public record InScope(List<String> paths, Doc run) {
    private static final int MOST = 60;
    private static final String NAME = "[A-Za-z_][A-Za-z0-9_]*";

    /**
     * @param workflow as it was published; empty for one that never was
     * @param step the one whose settings are open; empty where none are
     */
    static InScope of(Visit visit, String workflow, Doc draft, String step) throws Exception {
        Doc run = workflow.isEmpty() ? Doc.NOTHING : newest(visit, workflow);
        List<String> paths = new ArrayList<>();
        if (step.isEmpty()) {
            return new InScope(paths, run);
        }
        below(paths, "input", run.at("input"));
        Map<String, Doc> results = results(visit, run);
        for (Doc one : draft.list("steps")) {
            String id = one.text("step");
            if (id.equals(step)) {
                break;
            }
            if (id.matches(NAME)) {
                paths.add("steps." + id);
                below(paths, "steps." + id, results.getOrDefault(id, Doc.NOTHING));
            }
        }
        return new InScope(paths.stream().limit(MOST).toList(), run);
    }

    private static Doc newest(Visit visit, String workflow) throws Exception {
        List<Doc> runs = visit.maybe(Inside.path("v1", "workflows", workflow, "runs"), "limit=1")
                .items();
        return runs.isEmpty() ? Doc.NOTHING : runs.getFirst();
    }

    private static Map<String, Doc> results(Visit visit, Doc run) throws Exception {
        Map<String, Doc> results = new HashMap<>();
        if (run.has("run_id")) {
            visit.maybe(Inside.path("v1", "runs", run.text("run_id"), "timeline"), "")
                    .items()
                    .forEach(step -> results.put(step.text("name"), step.at("result")));
        }
        return results;
    }

    private static void below(List<String> paths, String root, Doc value) {
        value.node().properties().forEach(member -> {
            if (member.getKey().matches(NAME)) {
                paths.add(root + "." + member.getKey());
            }
        });
    }

    /** Data to send again: those of the newest run, unless some of them are masked. */
    public String data() {
        boolean whole = run.at("input").node().isObject() && run.list("masked").isEmpty();
        return whole ? run.pretty("input") : "{}";
    }
}
