package dev.semel.server.operations.monitoring;

import dev.semel.run.RunId;
import dev.semel.runtime.SemelRuntime;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.http.ServerHttpResponse;
import dev.semel.server.query.PagingParameters;
import dev.semel.server.query.RunJsonRenderer;
import dev.semel.server.query.StoreReader;
import dev.semel.store.DatabaseRows;
import dev.semel.store.MetricCounter;
import dev.semel.store.StoreQueries;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** Lists runs whose trigger had neither a key nor a chosen run id, so that Semel could not detect a duplicate. */
record RunsWithoutIdempotencyKeyRoutes(SemelRuntime semel) {
    /** The most runs scanned for one page. If few match, the cursor continues after the last scanned run. */
    private static final int MAX_SCANNED = 5_000;

    private static final int PAGE_SIZE = 200;

    ServerHttpResponse list(ServerHttpRequest request, MetricQuery query) {
        PagingParameters paging = PagingParameters.parse(request);
        ObjectNode out = RunJsonRenderer.newObject();
        var items = out.putArray("items");
        RunId behind = paging.afterId();
        boolean more = true;
        for (int scanned = 0; more && scanned < MAX_SCANNED && items.size() < paging.limit(); scanned += PAGE_SIZE) {
            List<DatabaseRows.RunRow> runs = runs(query, behind);
            more = runs.size() == PAGE_SIZE;
            for (DatabaseRows.RunRow run : runs) {
                if (items.size() == paging.limit()) {
                    more = true;
                    break;
                }
                behind = run.id();
                if (isUnkeyed(run) && run.createdAt() < query.period().until()) {
                    items.add(view(query, run));
                }
            }
        }
        out.put("next", more && behind != null ? PagingParameters.cursor(behind) : null);
        return RunJsonRenderer.ok(out);
    }

    private List<DatabaseRows.RunRow> runs(MetricQuery query, @Nullable RunId behind) {
        long since = query.period().since();
        var filter = new StoreQueries.RunFilter(
                query.workspace(),
                query.workflowId().isEmpty() ? null : query.workflowId(),
                null,
                null,
                false,
                since,
                behind,
                PAGE_SIZE,
                RunId.lowerBoundAt(since));
        return StoreReader.read(semel, reads -> reads.runs(filter));
    }

    /** The same rule as for the counter at admission. */
    private static boolean isUnkeyed(DatabaseRows.RunRow run) {
        return run.origin().key() == null && run.chosenId() == null && run.replayOf() == null;
    }

    private static ObjectNode view(MetricQuery query, DatabaseRows.RunRow run) {
        return RunJsonRenderer.newObject()
                .put("kind", MetricCounter.UNKEYED.word())
                .put("at", RunJsonRenderer.formatTime(run.createdAt()))
                .put("run_id", run.runIdText())
                .putNull("key")
                .put("workflow", query.workflowName(run.workflowId()))
                .put("actor_id", run.origin().actor());
    }
}
