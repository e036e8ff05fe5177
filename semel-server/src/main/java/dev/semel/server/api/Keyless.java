package dev.semel.server.api;

import dev.semel.Semel;
import dev.semel.run.RunId;
import dev.semel.server.http.Answer;
import dev.semel.server.http.Request;
import dev.semel.store.Figure;
import dev.semel.store.Reads;
import dev.semel.store.Rows;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** Lists runs whose trigger had neither a key nor a chosen run id, so that Semel could not detect a duplicate. */
final class Keyless {
    /** The most runs scanned for one page. If few match, the cursor continues after the last scanned run. */
    private static final int MAX_SCANNED = 5_000;

    private static final int PAGE_SIZE = 200;

    private final Semel semel;

    Keyless(Semel semel) {
        this.semel = semel;
    }

    Answer list(Request request, Looking query) {
        Paging paging = Paging.of(request);
        ObjectNode out = Views.object();
        var items = out.putArray("items");
        RunId behind = paging.afterId();
        boolean more = true;
        for (int scanned = 0; more && scanned < MAX_SCANNED && items.size() < paging.limit(); scanned += PAGE_SIZE) {
            List<Rows.Run> runs = runs(query, behind);
            more = runs.size() == PAGE_SIZE;
            for (Rows.Run run : runs) {
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
        out.put("next", more && behind != null ? Paging.cursor(behind) : null);
        return Views.ok(out);
    }

    private List<Rows.Run> runs(Looking query, @Nullable RunId behind) {
        long since = query.period().since();
        var filter = new Reads.RunFilter(
                query.workspace(),
                query.workflowId().isEmpty() ? null : query.workflowId(),
                null,
                null,
                false,
                since,
                behind,
                PAGE_SIZE,
                RunId.madeSince(since));
        return Objects.requireNonNull(semel.view(reads -> reads.runs(filter)));
    }

    /** The same rule as for the counter at admission. */
    private static boolean isUnkeyed(Rows.Run run) {
        return run.origin().key() == null && run.chosenId() == null && run.replayOf() == null;
    }

    private static ObjectNode view(Looking query, Rows.Run run) {
        return Views.object()
                .put("kind", Figure.UNKEYED.word())
                .put("at", Views.time(run.createdAt()))
                .put("run_id", run.runIdText())
                .putNull("key")
                .put("workflow", query.name(run.workflowId()))
                .put("actor_id", run.origin().actor());
    }
}
