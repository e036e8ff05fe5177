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

/** `GET /v1/requests`: what met a run that was there before, newest first. */
final class RequestRoutes {
    /** So many rows are looked at for one page; where a filter finds little, the answer says where to go on. */
    private static final int MOST_LOOKED_AT = 5_000;

    private static final int AT_ONCE = 500;
    /** A key that expires or is released gets another run: the newest of them are looked at. */
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

    /** @param workflowId null for all workflows */
    private record Wanted(
            int ws, RequestFilter filter, @Nullable String workflowId, int limit) {}

    /** @param next behind which row to go on; null at the end */
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
                filter.key() == null ? newest(wanted, paging.afterId()) : ofKey(wanted, filter.key(), paging.afterId());
        ObjectNode out = Views.object();
        ArrayNode items = out.putArray("items");
        page.found().forEach(row -> items.add(views.request(wanted.ws(), row)));
        return Views.ok(out.put("next", page.next() == null ? null : Paging.cursor(page.next())));
    }

    private long now() {
        return Objects.requireNonNull(semel.view(reads -> reads.now()));
    }

    private Page newest(Wanted wanted, @Nullable RunId after) {
        Map<RunId, String> workflows = new HashMap<>();
        List<Write.Seen> found = new ArrayList<>();
        int atOnce = wanted.filter().isEmpty() ? wanted.limit() : AT_ONCE;
        RunId behind = after;
        for (int looked = 0; looked < MOST_LOOKED_AT; looked += atOnce) {
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

    /** Empty where the run is kept no longer. */
    private String workflow(int ws, RunId id) {
        Rows.Run run = semel.view(reads -> reads.run(ws, id));
        return run == null ? "" : run.workflowId();
    }

    /** By the runs of the key, so that an old key is found as soon as a new one. */
    private Page ofKey(Wanted wanted, String key, @Nullable RunId after) {
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
        // Where a run has more rows than were read, nothing older than those may be shown yet: it would be out of
        // order.
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
