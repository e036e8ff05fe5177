package dev.semel.store.jdbc;

import dev.semel.run.RunId;
import dev.semel.store.Reads;
import dev.semel.store.Rows;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Pages of runs for people, in statements that both stores understand. One index serves all lists: a workspace's newest
 * runs are among the newest of each of its workflows. Of each so many are looked at, and what a filter leaves of them is
 * the page; so a filter that fits nothing among a million runs costs no more than one that fits all.
 */
final class RunPages {
    private static final RunId AFTER_ALL = new RunId(-1L, -1L);

    /** Ids have the time of a worker and runs that of the store: so far apart they may be. */
    private static final long CLOCKS_APART = 3_600_000_000L;

    // A page of lists must fit into memory whatever the runs hold: large inputs and outputs are read one run at a time.
    private static final String LIST = """
        SELECT r.run, r.ws, r.chosen_id, r.workflow_id, r.version, r.door, r.actor, r.key, r.correlation_id, CASE WHEN length(r.input) > 4096 THEN '' ELSE r.input END,
               r.lineage, r.previous, r.duplicate_of, r.created_at, w.state, w.claims, e.state, e.ended_at,
               CASE WHEN length(e.output) > 4096 THEN '' ELSE e.output END, e.error_code, e.error_message, e.error_step, '[]', u.replays, u.conflicts, u.last_at,
               w.falls, w.cancel, w.due_at, w.waits, l.parent, l.replay_of, l.depth
        FROM (SELECT * FROM semel_run WHERE ws = ? AND workflow_id = ? AND run < ? ORDER BY run DESC LIMIT ?) r
        LEFT JOIN semel_work w ON w.run = r.run
        LEFT JOIN semel_end e ON e.run = r.run
        LEFT JOIN semel_use u ON u.run = r.run
        LEFT JOIN semel_link l ON l.run = r.run
        WHERE r.created_at >= ?
          AND (CAST(? AS integer) = 0 OR COALESCE(e.state, w.state) = ?)
          AND (CAST(? AS integer) = 0 OR u.replays > 0)
        ORDER BY r.run DESC LIMIT ?
        """;

    private static final String REACHED = """
        SELECT run, created_at FROM semel_run WHERE ws = ? AND workflow_id = ? AND run < ?
        ORDER BY run DESC LIMIT 1 OFFSET ?
        """;

    private final Session session;
    private final Reads.RunFilter filter;
    private final RunId before;

    RunPages(Session session, Reads.RunFilter filter) {
        this.session = session;
        this.filter = filter;
        this.before = filter.before() == null ? AFTER_ALL : filter.before();
    }

    Reads.RunPage of(List<String> workflows) throws SQLException {
        int each = Reads.RunFilter.LOOKED_AT / Math.max(1, workflows.size());
        int slice = filter.narrows() ? Math.max(filter.limit(), each) : filter.limit();
        List<Rows.Run> all = new ArrayList<>();
        RunId horizon = null;
        for (String workflow : workflows) {
            List<Rows.Run> found = found(workflow, slice);
            RunId reached = found.size() == filter.limit() ? found.getLast().id() : reached(workflow, slice);
            horizon = horizon == null || (reached != null && reached.compareTo(horizon) > 0) ? reached : horizon;
            all.addAll(found);
            all.sort(Comparator.comparing(Rows.Run::id).reversed());
            if (all.size() > filter.limit()) {
                all.subList(filter.limit(), all.size()).clear();
            }
        }
        return cut(all, horizon);
    }

    /** Behind the horizon of one workflow nobody has looked; what others have there belongs to the next page. */
    private Reads.RunPage cut(List<Rows.Run> all, @Nullable RunId horizon) {
        List<Rows.Run> found = all.stream()
                .filter(run -> horizon == null || run.id().compareTo(horizon) >= 0)
                .toList();
        return new Reads.RunPage(
                found, found.size() == filter.limit() ? found.getLast().id() : horizon);
    }

    private List<Rows.Run> found(String workflow, int slice) throws SQLException {
        int state = filter.state() == null ? 0 : filter.state().code();
        return session.list(
                LIST,
                Read::run,
                filter.ws(),
                workflow,
                before,
                slice,
                filter.since(),
                state,
                state,
                filter.replayedOnly() ? 1 : 0,
                filter.limit());
    }

    /** How far back was looked; null where there is nothing behind that, or only what is too old. */
    private @Nullable RunId reached(String workflow, int slice) throws SQLException {
        if (!filter.narrows()) {
            return null;
        }
        record Oldest(RunId run, long createdAt) {}
        Oldest oldest = session.one(
                REACHED,
                row -> new Oldest(RunId.of(row.getBytes(1)), row.getLong(2)),
                filter.ws(),
                workflow,
                before,
                slice - 1);
        return oldest == null || oldest.createdAt() < filter.since() - CLOCKS_APART ? null : oldest.run();
    }
}
