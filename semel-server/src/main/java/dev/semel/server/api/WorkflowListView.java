package dev.semel.server.api;

import dev.semel.runtime.SemelRuntime;
import dev.semel.server.http.HttpResponse;
import dev.semel.server.http.HttpRequest;
import dev.semel.store.StoredRows;
import dev.semel.definition.CurrentWorkflow;
import java.util.Comparator;
import java.util.List;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Serves `GET /v1/workflows`: all workflows, or pages filtered by name. */
final class WorkflowListView {
    private final SemelRuntime semel;
    private final WorkflowVersionRoutes rollouts;

    WorkflowListView(SemelRuntime semel, WorkflowVersionRoutes rollouts) {
        this.semel = semel;
        this.rollouts = rollouts;
    }

    /**
     * Lists workflows by name. A summary adds effects and run counts and is always paged, because each row costs a
     * count.
     */
    HttpResponse list(HttpRequest request) {
        boolean summary = "true".equals(request.query("summary"));
        boolean paged = summary || request.query("limit") != null;
        PagingParameters paging = PagingParameters.parse(request);
        String part = request.query("name") == null ? "" : String.valueOf(request.query("name"));
        String after = paging.after() == null ? "" : paging.after();
        List<StoredRows.WorkflowRow> rows =
                semel.view(reads -> reads.workflows(request.principal().workspace()));
        List<StoredRows.WorkflowRow> found = rows == null
                ? List.of()
                : rows.stream()
                        .filter(row -> row.name().contains(part) && row.name().compareTo(after) > 0)
                        .sorted(Comparator.comparing(StoredRows.WorkflowRow::name))
                        .toList();
        List<StoredRows.WorkflowRow> shown = paged ? found.subList(0, Math.min(paging.limit(), found.size())) : found;
        ObjectNode out = JsonViews.newObject();
        ArrayNode items = out.putArray("items");
        shown.forEach(row ->
                items.add(summary ? summary(row) : WorkflowRoutes.workflowJson(semel.workflow(row.ws(), row.name()), row.paused())));
        out.put("next", shown.size() < found.size() ? shown.getLast().name() : null);
        return JsonViews.ok(out.put("total", found.size()));
    }

    private ObjectNode summary(StoredRows.WorkflowRow row) {
        CurrentWorkflow entry = semel.workflow(row.ws(), row.name());
        ObjectNode out = WorkflowRoutes.workflowJson(entry, row.paused());
        if (entry != null) {
            out.set("rollout", rollouts.rolloutJson(row));
            WorkflowRoutes.addEffects(out.putArray("effects"), FileWorkflow.definitionOf(entry.published()));
        }
        return out;
    }
}
