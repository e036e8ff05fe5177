package dev.semel.server.api;

import dev.semel.runtime.SemelRuntime;
import dev.semel.run.RunId;
import dev.semel.server.http.HttpResponse;
import dev.semel.server.http.HttpRequest;
import dev.semel.store.MetricCounter;
import dev.semel.store.StoreQueries;
import dev.semel.store.StoredRows;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** Lists runs whose trigger had neither a key nor a chosen run id, so that Semel could not detect a duplicate. */
final class UnkeyedRunList {
    /** The most runs scanned for one page. If few match, the cursor continues after the last scanned run. */
    private static final int MAX_SCANNED = 5_000;

    private static final int PAGE_SIZE = 200;

    private final SemelRuntime semel;

    UnkeyedRunList(SemelRuntime semel) {
        this.semel = semel;
    }

    HttpResponse list(HttpRequest request, MetricQuery query) {
        PagingParameters paging = PagingParameters.parse(request);
        ObjectNode out = JsonViews.newObject();
        var items = out.putArray("items");
        RunId behind = paging.afterId();
        boolean more = true;
        for (int scanned = 0; more && scanned < MAX_SCANNED && items.size() < paging.limit(); scanned += PAGE_SIZE) {
            List<StoredRows.RunRow> runs = runs(query, behind);
            more = runs.size() == PAGE_SIZE;
            for (StoredRows.RunRow run : runs) {
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
        return JsonViews.ok(out);
    }

    private List<StoredRows.RunRow> runs(MetricQuery query, @Nullable RunId behind) {
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
        return Objects.requireNonNull(semel.view(reads -> reads.runs(filter)));
    }

    /** The same rule as for the counter at admission. */
    private static boolean isUnkeyed(StoredRows.RunRow run) {
        return run.origin().key() == null && run.chosenId() == null && run.replayOf() == null;
    }

    private static ObjectNode view(MetricQuery query, StoredRows.RunRow run) {
        return JsonViews.newObject()
                .put("kind", MetricCounter.UNKEYED.word())
                .put("at", JsonViews.formatTime(run.createdAt()))
                .put("run_id", run.runIdText())
                .putNull("key")
                .put("workflow", query.workflowName(run.workflowId()))
                .put("actor_id", run.origin().actor());
    }
}
