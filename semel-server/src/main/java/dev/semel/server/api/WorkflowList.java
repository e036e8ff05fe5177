package dev.semel.server.api;

import dev.semel.Semel;
import dev.semel.server.http.Answer;
import dev.semel.server.http.Request;
import dev.semel.store.Rows;
import dev.semel.workflow.Current;
import java.util.Comparator;
import java.util.List;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Serves `GET /v1/workflows`: all workflows, or pages filtered by name. */
final class WorkflowList {
    private final Semel semel;
    private final Rollouts rollouts;

    WorkflowList(Semel semel, Rollouts rollouts) {
        this.semel = semel;
        this.rollouts = rollouts;
    }

    /**
     * Lists workflows by name. A summary adds effects and run counts and is always paged, because each row costs a
     * count.
     */
    Answer of(Request request) {
        boolean summary = "true".equals(request.query("summary"));
        boolean paged = summary || request.query("limit") != null;
        Paging paging = Paging.of(request);
        String part = request.query("name") == null ? "" : String.valueOf(request.query("name"));
        String after = paging.after() == null ? "" : paging.after();
        List<Rows.Workflow> rows =
                semel.view(reads -> reads.workflows(request.principal().workspace()));
        List<Rows.Workflow> found = rows == null
                ? List.of()
                : rows.stream()
                        .filter(row -> row.name().contains(part) && row.name().compareTo(after) > 0)
                        .sorted(Comparator.comparing(Rows.Workflow::name))
                        .toList();
        List<Rows.Workflow> shown = paged ? found.subList(0, Math.min(paging.limit(), found.size())) : found;
        ObjectNode out = Views.object();
        ArrayNode items = out.putArray("items");
        shown.forEach(row ->
                items.add(summary ? summary(row) : Workflows.view(semel.workflow(row.ws(), row.name()), row.paused())));
        out.put("next", shown.size() < found.size() ? shown.getLast().name() : null);
        return Views.ok(out.put("total", found.size()));
    }

    private ObjectNode summary(Rows.Workflow row) {
        Current entry = semel.workflow(row.ws(), row.name());
        ObjectNode out = Workflows.view(entry, row.paused());
        if (entry != null) {
            out.set("rollout", rollouts.shares(row));
            Workflows.effects(out.putArray("effects"), FileWorkflow.of(entry.published()));
        }
        return out;
    }
}
