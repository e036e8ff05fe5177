package dev.semel.store.jdbc;

import dev.semel.effect.Ledger;
import dev.semel.run.RunId;
import dev.semel.store.Reads;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Lists effects of the ledger for users, those of the newest runs first. Rare effects have an index: those about an
 * object, suppressed ones, and those in doubt or not done. Other filters scan a bounded number of rows and return a
 * cursor.
 */
final class EffectPages {
    private static final Reads.EffectPlace AFTER_ALL = new Reads.EffectPlace(new RunId(-1L, -1L), "");

    private static final String OF_WORKSPACE = """
        SELECT ws, digest, step, run, claim, reservation, state, generation, attempt, first_at, accepted_at,
            window_micros, expires_at,
               data, result, key, path, workflow_id, protection, action, object, worth
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
               data, result, key, path, workflow_id, protection, action, object, worth
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
               data, result, key, path, workflow_id, protection, action, object, worth
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

    // The first condition on the state repeats the index predicate.
    private static final String UNSETTLED = """
        SELECT ws, digest, step, run, claim, reservation, state, generation, attempt, first_at, accepted_at,
            window_micros, expires_at,
               data, result, key, path, workflow_id, protection, action, object, worth
        FROM (SELECT * FROM semel_effect WHERE ws = ? AND state > 2 AND state = ? AND (run, digest) < (?, ?)
            ORDER BY run DESC, digest DESC LIMIT ?) e
        WHERE (? = '' OR workflow_id = ?) AND (? = '' OR protection = ?) AND (? = '' OR key = ?)
        ORDER BY run DESC, digest DESC LIMIT ?
        """;

    private static final String REACHED_UNSETTLED = """
        SELECT run, digest FROM semel_effect WHERE ws = ? AND state > 2 AND state = ? AND (run, digest) < (?, ?)
        ORDER BY run DESC, digest DESC LIMIT 1 OFFSET ?
        """;

    private EffectPages() {}

    /**
     * The statements and parameters for one filter.
     *
     * @param from parameters before the cursor
     * @param more parameters before workflow, protection and key
     */
    private record Walk(String list, String reached, List<Object> from, List<Object> more) {
        static Walk of(Reads.EffectFilter filter) {
            int state = filter.state() == null ? 0 : filter.state().code();
            int part = filter.part().ordinal();
            if (filter.object() != null) {
                return new Walk(
                        OF_OBJECT,
                        REACHED_OF_OBJECT,
                        List.of(filter.ws(), filter.object()),
                        List.of(part, part, state, state));
            }
            if (filter.part() == Reads.Part.SUPPRESSED) {
                return new Walk(SUPPRESSED, REACHED_SUPPRESSED, List.of(filter.ws()), List.of(state, state));
            }
            if (state > Ledger.State.DONE.code()) { // none of them is a copy
                return new Walk(UNSETTLED, REACHED_UNSETTLED, List.of(filter.ws(), state), List.of());
            }
            return new Walk(OF_WORKSPACE, REACHED_OF_WORKSPACE, List.of(filter.ws()), List.of(part, state, state));
        }
    }

    /** Scans a bounded number of rows, so that a filter that matches nothing costs no more than a full page. */
    static Reads.LedgerPage list(Session session, Reads.EffectFilter filter) throws SQLException {
        Walk walk = Walk.of(filter);
        Reads.EffectPlace before = filter.before() == null ? AFTER_ALL : filter.before();
        List<Ledger.Row> found = found(session, walk, filter, before);
        if (found.size() == filter.limit()) {
            Ledger.Row last = found.getLast();
            return new Reads.LedgerPage(
                    found, new Reads.EffectPlace(last.holder().run(), last.id().digest()));
        }
        return new Reads.LedgerPage(found, reached(session, walk, before));
    }

    private static List<Ledger.Row> found(
            Session session, Walk walk, Reads.EffectFilter filter, Reads.EffectPlace before) throws SQLException {
        List<Object> values = new ArrayList<>(walk.from());
        values.addAll(List.of(before.run(), before.digest(), Reads.EffectFilter.LOOKED_AT));
        values.addAll(walk.more());
        for (String one : List.of(text(filter.workflowId()), text(filter.protection()), text(filter.key()))) {
            values.add(one);
            values.add(one);
        }
        values.add(filter.limit());
        return session.list(walk.list(), Effects::row, values.toArray());
    }

    private static Reads.@Nullable EffectPlace reached(Session session, Walk walk, Reads.EffectPlace before)
            throws SQLException {
        List<Object> values = new ArrayList<>(walk.from());
        values.addAll(List.of(before.run(), before.digest(), Reads.EffectFilter.LOOKED_AT - 1));
        return session.one(
                walk.reached(),
                row -> new Reads.EffectPlace(RunId.of(row.getBytes(1)), row.getString(2)),
                values.toArray());
    }

    /** The statements use an empty text for no filter. */
    private static String text(@Nullable String wanted) {
        return wanted == null ? "" : wanted;
    }
}
