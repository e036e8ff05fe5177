package dev.semel.store.jdbc.run;

import dev.semel.effect.EffectLedger;
import dev.semel.run.RunId;
import dev.semel.store.StoreQueries;
import dev.semel.store.jdbc.session.JdbcSession;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Newest runs first. Rare effects have an index: those about an object, suppressed ones, and those in doubt or not
 * done. Other filters scan a bounded number of rows and return a cursor.
 */
public final class EffectListQueries {
    private static final StoreQueries.EffectCursor AFTER_ALL = new StoreQueries.EffectCursor(RunId.MAX, "");

    private static final String OF_WORKSPACE = """
        SELECT ws, digest, step, run, claim, reservation, state, generation, attempt, first_at, accepted_at,
            window_micros, expires_at,
               data, result, key, path, workflow_id, protection, action, object, worth, sent_key, sent_at, content
        FROM (SELECT * FROM semel_effect WHERE ws = ? AND (run, digest) < (?, ?)
            ORDER BY run DESC, digest DESC LIMIT ?) e
        WHERE COALESCE(data, '') <> 'noted' AND (? <> 1 OR substr(COALESCE(data, ''), 1, 11) <> 'suppressed ')
            AND (? = 0 OR state = ?) AND (? = '' OR workflow_id = ?) AND (? = '' OR protection = ?) AND (? = ''
                OR key = ?)
        ORDER BY run DESC, digest DESC LIMIT ?
        """;

    private static final String REACHED_OF_WORKSPACE = """
        SELECT run, digest FROM semel_effect WHERE ws = ? AND (run, digest) < (?, ?)
        ORDER BY run DESC, digest DESC LIMIT 1 OFFSET ?
        """;

    private static final String OF_OBJECT = """
        SELECT ws, digest, step, run, claim, reservation, state, generation, attempt, first_at, accepted_at,
            window_micros, expires_at,
               data, result, key, path, workflow_id, protection, action, object, worth, sent_key, sent_at, content
        FROM (SELECT * FROM semel_effect WHERE ws = ? AND object = ? AND (run, digest) < (?, ?)
            ORDER BY run DESC, digest DESC LIMIT ?) e
        WHERE COALESCE(data, '') <> 'noted' AND (? <> 1 OR substr(COALESCE(data, ''), 1, 11) <> 'suppressed ')
            AND (? <> 2 OR substr(COALESCE(data, ''), 1, 11) = 'suppressed ')
            AND (? = 0 OR state = ?) AND (? = '' OR workflow_id = ?) AND (? = '' OR protection = ?) AND (? = ''
                OR key = ?)
        ORDER BY run DESC, digest DESC LIMIT ?
        """;

    private static final String REACHED_OF_OBJECT = """
        SELECT run, digest FROM semel_effect WHERE ws = ? AND object = ? AND (run, digest) < (?, ?)
        ORDER BY run DESC, digest DESC LIMIT 1 OFFSET ?
        """;

    private static final String SUPPRESSED = """
        SELECT ws, digest, step, run, claim, reservation, state, generation, attempt, first_at, accepted_at,
            window_micros, expires_at,
               data, result, key, path, workflow_id, protection, action, object, worth, sent_key, sent_at, content
        FROM (SELECT * FROM semel_effect WHERE ws = ? AND substr(data, 1, 11) = 'suppressed ' AND (run, digest) < (?, ?)
            ORDER BY run DESC, digest DESC LIMIT ?) e
        WHERE (? = 0 OR state = ?) AND (? = '' OR workflow_id = ?) AND (? = '' OR protection = ?) AND (? = ''
            OR key = ?)
        ORDER BY run DESC, digest DESC LIMIT ?
        """;

    private static final String REACHED_SUPPRESSED = """
        SELECT run, digest FROM semel_effect
        WHERE ws = ? AND substr(data, 1, 11) = 'suppressed ' AND (run, digest) < (?, ?)
        ORDER BY run DESC, digest DESC LIMIT 1 OFFSET ?
        """;

    // The first condition on the state repeats the index predicate. An effect that is safe to send again is not in
    // doubt.
    private static final String UNSETTLED = """
        SELECT ws, digest, step, run, claim, reservation, state, generation, attempt, first_at, accepted_at,
            window_micros, expires_at,
               data, result, key, path, workflow_id, protection, action, object, worth, sent_key, sent_at, content
        FROM (SELECT * FROM semel_effect WHERE ws = ? AND state > 2 AND state = ? AND (run, digest) < (?, ?)
            ORDER BY run DESC, digest DESC LIMIT ?) e
        WHERE (state <> 3 OR expires_at = 0)
            AND (? = '' OR workflow_id = ?) AND (? = '' OR protection = ?) AND (? = '' OR key = ?)
        ORDER BY run DESC, digest DESC LIMIT ?
        """;

    private static final String REACHED_UNSETTLED = """
        SELECT run, digest FROM semel_effect WHERE ws = ? AND state > 2 AND state = ? AND (run, digest) < (?, ?)
        ORDER BY run DESC, digest DESC LIMIT 1 OFFSET ?
        """;

    private EffectListQueries() {}

    /**
     * @param from parameters before the cursor
     * @param more parameters before workflow, protection and key
     */
    private record IndexScan(String list, String reached, List<Object> from, List<Object> more) {
        static IndexScan of(StoreQueries.EffectFilter filter) {
            int state = filter.state() == null ? 0 : filter.state().code();
            int part = filter.selection().ordinal();
            String object = filter.storedObject();
            if (object != null) {
                return new IndexScan(
                        OF_OBJECT, REACHED_OF_OBJECT, List.of(filter.ws(), object), List.of(part, part, state, state));
            }
            if (filter.selection() == StoreQueries.EffectSelection.SUPPRESSED) {
                return new IndexScan(SUPPRESSED, REACHED_SUPPRESSED, List.of(filter.ws()), List.of(state, state));
            }
            if (state > EffectLedger.EffectState.DONE.code()) { // none of them is a copy
                return new IndexScan(UNSETTLED, REACHED_UNSETTLED, List.of(filter.ws(), state), List.of());
            }
            return new IndexScan(OF_WORKSPACE, REACHED_OF_WORKSPACE, List.of(filter.ws()), List.of(part, state, state));
        }
    }

    /** Scans a bounded number of rows, so that a filter that matches nothing costs no more than a full page. */
    public static StoreQueries.EffectPage list(JdbcSession session, StoreQueries.EffectFilter filter)
            throws SQLException {
        IndexScan indexScan = IndexScan.of(filter);
        StoreQueries.EffectCursor before = filter.before() == null ? AFTER_ALL : filter.before();
        List<EffectLedger.EffectRow> found = found(session, indexScan, filter, before);
        if (found.size() == filter.limit()) {
            EffectLedger.EffectRow last = found.getLast();
            return new StoreQueries.EffectPage(
                    found,
                    new StoreQueries.EffectCursor(last.holder().run(), last.id().digest()));
        }
        return new StoreQueries.EffectPage(found, reached(session, indexScan, before));
    }

    private static List<EffectLedger.EffectRow> found(
            JdbcSession session,
            IndexScan indexScan,
            StoreQueries.EffectFilter filter,
            StoreQueries.EffectCursor before)
            throws SQLException {
        List<Object> values = new ArrayList<>(indexScan.from());
        values.addAll(List.of(before.run(), before.digest(), StoreQueries.EffectFilter.MAX_SCANNED));
        values.addAll(indexScan.more());
        for (String one : List.of(text(filter.workflowId()), text(filter.protection()), text(filter.key()))) {
            values.add(one);
            values.add(one);
        }
        values.add(filter.limit());
        return session.queryList(indexScan.list(), EffectLedgerRepository::mapRow, values.toArray());
    }

    private static StoreQueries.@Nullable EffectCursor reached(
            JdbcSession session, IndexScan indexScan, StoreQueries.EffectCursor before) throws SQLException {
        List<Object> values = new ArrayList<>(indexScan.from());
        values.addAll(List.of(before.run(), before.digest(), StoreQueries.EffectFilter.MAX_SCANNED - 1));
        return session.queryOne(
                indexScan.reached(),
                row -> new StoreQueries.EffectCursor(RunId.of(row.getBytes(1)), row.getString(2)),
                values.toArray());
    }

    /** The statements use an empty text for no filter. */
    private static String text(@Nullable String wanted) {
        return wanted == null ? "" : wanted;
    }
}
