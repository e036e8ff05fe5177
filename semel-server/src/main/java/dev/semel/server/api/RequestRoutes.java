package dev.semel.server.api;

import dev.semel.Semel;
import dev.semel.run.RunId;
import dev.semel.server.http.Answer;
import dev.semel.server.http.Request;
import dev.semel.store.Reads;
import dev.semel.store.Rows;
import dev.semel.store.Write;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Serves `GET /v1/requests`: duplicate requests, Replayed and Conflict, newest first. */
final class RequestRoutes {
    /**
     * The maximum number of rows scanned for one page. If a filter matches few rows, the response has a cursor to
     * continue.
     */
    private static final int MAX_SCANNED = 5_000;

    private static final int PAGE_SIZE = 500;
    /** A key gets another run after it expires or is released; the maximum number of newest runs to scan. */
    private static final int RUNS_OF_A_KEY = 20;

    private static final int ROWS_OF_A_RUN = 200;

    private final Semel semel;
    private final Views views;
    private final Triggers triggers;

    RequestRoutes(Semel semel, Views views, Triggers triggers) {
        this.semel = semel;
        this.views = views;
        this.triggers = triggers;
    }

    /** @param workflowId null: all workflows */
    private record Wanted(
            int ws, RequestFilter filter, @Nullable String workflowId, int limit) {}

    /** @param next the cursor of the next page; null at the end */
    private record Page(List<Write.Seen> found, @Nullable RunId next) {}

    Answer list(Request request) {
        Paging paging = Paging.of(request);
        RequestFilter filter = RequestFilter.parse(request.query("q"), now());
        String workflow = filter.workflow() == null
                ? null
                : triggers.workflow(request.principal(), filter.workflow())
                        .published()
                        .workflowId();
        Wanted wanted = new Wanted(request.principal().workspace(), filter, workflow, paging.limit());
        Page page =
                filter.key() == null
                        ? findNewest(wanted, paging.afterId())
                        : findByKey(wanted, filter.key(), paging.afterId());
        ObjectNode out = Views.object();
        ArrayNode items = out.putArray("items");
        page.found().forEach(row -> items.add(views.request(wanted.ws(), row)));
        return Views.ok(out.put("next", page.next() == null ? null : Paging.cursor(page.next())));
    }

    private long now() {
        return Objects.requireNonNull(semel.view(reads -> reads.now()));
    }

    private Page findNewest(Wanted wanted, @Nullable RunId after) {
        Map<RunId, String> workflows = new HashMap<>();
        List<Write.Seen> found = new ArrayList<>();
        int atOnce = wanted.filter().isEmpty() ? wanted.limit() : PAGE_SIZE;
        RunId behind = after;
        for (int looked = 0; looked < MAX_SCANNED; looked += atOnce) {
            List<Write.Seen> rows = rows(wanted.ws(), behind, atOnce);
            for (Write.Seen row : rows) {
                if (wanted.filter().isPast(row)) {
                    return new Page(found, null);
                }
                behind = row.id();
                if (fits(wanted, row, workflows)) {
                    found.add(row);
                    if (found.size() == wanted.limit()) {
                        return new Page(found, behind);
                    }
                }
            }
            if (rows.size() < atOnce) {
                return new Page(found, null);
            }
        }
        return new Page(found, behind);
    }

    private List<Write.Seen> rows(int ws, @Nullable RunId behind, int limit) {
        return Objects.requireNonNull(semel.view(reads -> reads.requests(ws, behind, limit)));
    }

    private boolean fits(Wanted wanted, Write.Seen row, Map<RunId, String> workflows) {
        return wanted.filter().wants(row)
                && (wanted.workflowId() == null
                        || wanted.workflowId()
                                .equals(workflows.computeIfAbsent(row.run(), run -> workflow(wanted.ws(), run))));
    }

    /** Empty if retention has deleted the run. */
    private String workflow(int ws, RunId id) {
        Rows.Run run = semel.view(reads -> reads.run(ws, id));
        return run == null ? "" : run.workflowId();
    }

    /** Starts from the runs of the key, so that an old key is found as fast as a new one. */
    private Page findByKey(Wanted wanted, String key, @Nullable RunId after) {
        var runs =
                new Reads.RunFilter(wanted.ws(), wanted.workflowId(), null, key, false, 0, null, RUNS_OF_A_KEY, null);
        List<Write.Seen> all = new ArrayList<>();
        RunId horizon = null;
        for (Rows.Run run : Objects.requireNonNull(semel.view(reads -> reads.runs(runs)))) {
            List<Write.Seen> rows =
                    Objects.requireNonNull(semel.view(reads -> reads.requestsOf(run.id(), after, ROWS_OF_A_RUN)));
            all.addAll(rows);
            if (rows.size() == ROWS_OF_A_RUN) {
                RunId oldest = rows.getFirst().id();
                horizon = horizon == null || oldest.compareTo(horizon) > 0 ? oldest : horizon;
            }
        }
        // If a run has more rows than were read, older rows of other runs would be out of order, so they wait for the
        // next page.
        RunId known = horizon;
        List<Write.Seen> found = all.stream()
                .filter(row ->
                        wanted.filter().wants(row) && (known == null || row.id().compareTo(known) >= 0))
                .sorted(Comparator.comparing(Write.Seen::id).reversed())
                .limit(wanted.limit())
                .toList();
        return new Page(found, found.size() == wanted.limit() ? found.getLast().id() : known);
    }
}
