package dev.semel.server.operations.workflow;

import dev.semel.definition.WorkflowCatalogEntry;
import dev.semel.runtime.SemelRuntime;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.http.ServerHttpResponse;
import dev.semel.server.operations.PublishedYamlWorkflow;
import dev.semel.server.query.PagingParameters;
import dev.semel.server.query.RunJsonRenderer;
import dev.semel.server.query.StoreReader;
import dev.semel.store.DatabaseRows;
import java.util.Comparator;
import java.util.List;
import tools.jackson.databind.node.ObjectNode;

/** Serves `GET /v1/workflows`: all workflows, or pages filtered by name. */
record WorkflowListRoutes(SemelRuntime semel, WorkflowVersionRoutes rollouts) {
    /** By name. A summary adds effects and run counts and is always paged, because each row costs a count. */
    ServerHttpResponse list(ServerHttpRequest request) {
        boolean summary = "true".equals(request.query("summary"));
        boolean paged = summary || request.query("limit") != null;
        PagingParameters paging = PagingParameters.parse(request);
        String part = request.query("name") == null ? "" : String.valueOf(request.query("name"));
        String after = paging.after() == null ? "" : paging.after();
        List<DatabaseRows.WorkflowRow> found =
                StoreReader.read(
                                semel,
                                reads -> reads.workflows(request.principal().workspace()))
                        .stream()
                        .filter(row -> row.name().contains(part) && row.name().compareTo(after) > 0)
                        .sorted(Comparator.comparing(DatabaseRows.WorkflowRow::name))
                        .toList();
        List<DatabaseRows.WorkflowRow> shown = paged ? found.subList(0, Math.min(paging.limit(), found.size())) : found;
        ObjectNode out = RunJsonRenderer.pageJson(
                shown,
                row -> summary
                        ? summary(row)
                        : WorkflowRoutes.workflowJson(semel.workflow(row.ws(), row.name()), row.paused()),
                shown.size() < found.size() ? shown.getLast().name() : null);
        return RunJsonRenderer.ok(out.put("total", found.size()));
    }

    private ObjectNode summary(DatabaseRows.WorkflowRow row) {
        WorkflowCatalogEntry entry = semel.workflow(row.ws(), row.name());
        ObjectNode out = WorkflowRoutes.workflowJson(entry, row.paused());
        if (entry != null) {
            out.set("rollout", rollouts.rolloutJson(row));
            WorkflowRoutes.addEffects(out.putArray("effects"), PublishedYamlWorkflow.definitionOf(entry.published()));
        }
        return out;
    }
}
