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

/** Runs whose trigger had no name at all, neither a key nor a chosen id: nothing would have caught it the second time. */
final class Keyless {
    /** So many runs are looked at for one page; where few of them fit, the cursor says where that ended. */
    private static final int LOOKED_AT = 5_000;

    private static final int AT_ONCE = 200;

    private final Semel semel;

    Keyless(Semel semel) {
        this.semel = semel;
    }

    Answer list(Request request, Looking looking) {
        Paging paging = Paging.of(request);
        ObjectNode out = Views.object();
        var items = out.putArray("items");
        RunId behind = paging.afterId();
        boolean more = true;
        for (int looked = 0; more && looked < LOOKED_AT && items.size() < paging.limit(); looked += AT_ONCE) {
            List<Rows.Run> runs = runs(looking, behind);
            more = runs.size() == AT_ONCE;
            for (Rows.Run run : runs) {
                if (items.size() == paging.limit()) {
                    more = true;
                    break;
                }
                behind = run.id();
                if (isNameless(run) && run.createdAt() < looking.period().until()) {
                    items.add(view(looking, run));
                }
            }
        }
        out.put("next", more && behind != null ? Paging.cursor(behind) : null);
        return Views.ok(out);
    }

    private List<Rows.Run> runs(Looking looking, @Nullable RunId behind) {
        long since = looking.period().since();
        var filter = new Reads.RunFilter(
                looking.workspace(),
                looking.workflowId().isEmpty() ? null : looking.workflowId(),
                null,
                null,
                false,
                since,
                behind,
                AT_ONCE,
                RunId.madeSince(since));
        return Objects.requireNonNull(semel.view(reads -> reads.runs(filter)));
    }

    /** As it is counted when the run is made. */
    private static boolean isNameless(Rows.Run run) {
        return run.origin().key() == null && run.chosenId() == null && run.replayOf() == null;
    }

    private static ObjectNode view(Looking looking, Rows.Run run) {
        return Views.object()
                .put("kind", Figure.UNKEYED.word())
                .put("at", Views.time(run.createdAt()))
                .put("run_id", run.runIdText())
                .putNull("key")
                .put("workflow", looking.name(run.workflowId()))
                .put("actor_id", run.origin().actor());
    }
}
