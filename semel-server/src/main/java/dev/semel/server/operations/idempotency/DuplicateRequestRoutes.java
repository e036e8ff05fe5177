package dev.semel.server.operations.idempotency;

import dev.semel.run.RunId;
import dev.semel.runtime.SemelRuntime;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.http.TokenScope;
import dev.semel.server.operations.Operation;
import dev.semel.server.operations.OperationRouter;
import dev.semel.server.operations.Parameter;
import dev.semel.server.query.ApiListFilterParser;
import dev.semel.server.query.PagingParameters;
import dev.semel.server.query.RunJsonRenderer;
import dev.semel.server.query.StoreReader;
import dev.semel.server.query.view.Page;
import dev.semel.server.query.view.RequestView;
import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreQueries;
import dev.semel.store.StoreWrite;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Serves `GET /v1/requests`: duplicate requests, Replayed and Conflict, newest first. */
public record DuplicateRequestRoutes(SemelRuntime semel, RunJsonRenderer views) {
    /** The most rows scanned for one page. If a filter matches few rows, the response has a cursor to continue. */
    private static final int MAX_SCANNED = 5_000;

    private static final int PAGE_SIZE = 500;
    /** A key gets another run after it expires or is released; the maximum number of newest runs to scan. */
    private static final int RUNS_OF_A_KEY = 20;

    private static final int ROWS_OF_A_RUN = 200;

    /** @param workflowId null: all workflows */
    private record RequestQuery(
            int ws,
            DuplicateRequestListFilter filter,
            @Nullable String workflowId,
            int limit) {}

    /** @param next the cursor of the next page; null at the end */
    private record RequestPage(
            List<StoreWrite.DuplicateRequest> found,
            @Nullable RunId next) {}

    static final Operation<Page<RequestView>> LIST = Operation.get("listRequests", "/v1/requests", TokenScope.READ)
            .tag("Runs")
            .summary("List duplicates and conflicts, newest first")
            .description("`key:` also finds a request that the server rejected because of its payload or run id.")
            .parameters(Parameter.text(
                    "q",
                    "Filter terms such as `kind:replayed|conflict workflow:payment_receipt key:evt_1 actor:tok_1"
                            + " since:2h until:2026-11-15T09:00:00Z`. A page that is not full can have a next cursor."))
            .paged()
            .returnsPage(RequestView.class, "Requests that hit an existing key or run id.");

    public static final List<Operation<?>> OPERATIONS = List.of(LIST);

    public void addTo(OperationRouter router) {
        router.add(LIST, this::list);
    }

    private Page<RequestView> list(ServerHttpRequest request) {
        PagingParameters paging = PagingParameters.parse(request);
        DuplicateRequestListFilter filter =
                DuplicateRequestListFilter.parse(ApiListFilterParser.read(request), StoreReader.now(semel));
        String workflow = StoreReader.workflowId(semel, request.principal().workspace(), filter.workflow());
        RequestQuery wanted = new RequestQuery(request.principal().workspace(), filter, workflow, paging.limit());
        RequestPage page = filter.key() == null
                ? findNewest(wanted, paging.afterId())
                : findByKey(wanted, filter.key(), paging.afterId());
        String next = page.next() == null ? null : PagingParameters.cursor(page.next());
        return new Page<>(
                page.found().stream()
                        .map(row -> views.request(wanted.ws(), row))
                        .toList(),
                next);
    }

    private RequestPage findNewest(RequestQuery wanted, @Nullable RunId after) {
        Map<RunId, String> workflows = new HashMap<>();
        List<StoreWrite.DuplicateRequest> found = new ArrayList<>();
        int atOnce = wanted.filter().isEmpty() ? wanted.limit() : PAGE_SIZE;
        RunId behind = after;
        for (int looked = 0; looked < MAX_SCANNED; looked += atOnce) {
            List<StoreWrite.DuplicateRequest> rows = rows(wanted.ws(), behind, atOnce);
            for (StoreWrite.DuplicateRequest row : rows) {
                if (wanted.filter().isBeforeRange(row)) {
                    return new RequestPage(found, null);
                }
                behind = row.id();
                if (fits(wanted, row, workflows)) {
                    found.add(row);
                    if (found.size() == wanted.limit()) {
                        return new RequestPage(found, behind);
                    }
                }
            }
            if (rows.size() < atOnce) {
                return new RequestPage(found, null);
            }
        }
        return new RequestPage(found, behind);
    }

    private List<StoreWrite.DuplicateRequest> rows(int ws, @Nullable RunId behind, int limit) {
        return StoreReader.read(semel, reads -> reads.requests(ws, behind, limit));
    }

    private boolean fits(RequestQuery wanted, StoreWrite.DuplicateRequest row, Map<RunId, String> workflows) {
        return wanted.filter().matches(row)
                && (wanted.workflowId() == null
                        || wanted.workflowId()
                                .equals(workflows.computeIfAbsent(row.run(), run -> workflow(wanted.ws(), run))));
    }

    /** Empty if retention has deleted the run. */
    private String workflow(int ws, RunId id) {
        DatabaseRows.RunRow run = semel.view(reads -> reads.run(ws, id));
        return run == null ? "" : run.workflowId();
    }

    /** Starts from the runs of the key, so that an old key is found as fast as a new one. */
    private RequestPage findByKey(RequestQuery wanted, String key, @Nullable RunId after) {
        var runs = new StoreQueries.RunFilter(
                wanted.ws(), wanted.workflowId(), null, key, false, 0, null, RUNS_OF_A_KEY, null);
        List<StoreWrite.DuplicateRequest> all = new ArrayList<>();
        RunId horizon = null;
        for (DatabaseRows.RunRow run : StoreReader.read(semel, reads -> reads.runs(runs))) {
            List<StoreWrite.DuplicateRequest> rows =
                    StoreReader.read(semel, reads -> reads.requestsOf(run.id(), after, ROWS_OF_A_RUN));
            all.addAll(rows);
            if (rows.size() == ROWS_OF_A_RUN) {
                RunId oldest = rows.getFirst().id();
                horizon = horizon == null || oldest.compareTo(horizon) > 0 ? oldest : horizon;
            }
        }
        // Requests with this key that another identifier led to a run.
        List<StoreWrite.DuplicateRequest> rejected =
                StoreReader.read(semel, reads -> reads.rejectedRequests(wanted.ws(), key, after, ROWS_OF_A_RUN));
        Map<RunId, String> workflows = new HashMap<>();
        rejected.stream()
                .filter(row -> all.stream().noneMatch(other -> other.id().equals(row.id())))
                .filter(row -> fits(wanted, row, workflows))
                .forEach(all::add);
        if (rejected.size() == ROWS_OF_A_RUN) {
            RunId oldest = rejected.getLast().id();
            horizon = horizon == null || oldest.compareTo(horizon) > 0 ? oldest : horizon;
        }
        // If a run has more rows than were read, older rows of other runs would be out of order, so they wait for the
        // next page.
        RunId runId = horizon;
        List<StoreWrite.DuplicateRequest> found = all.stream()
                .filter(row -> wanted.filter().matches(row)
                        && (runId == null || row.id().compareTo(runId) >= 0))
                .sorted(Comparator.comparing(StoreWrite.DuplicateRequest::id).reversed())
                .limit(wanted.limit())
                .toList();
        return new RequestPage(
                found, found.size() == wanted.limit() ? found.getLast().id() : runId);
    }
}
