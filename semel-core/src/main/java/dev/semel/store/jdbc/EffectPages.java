package dev.semel.store.jdbc;

import dev.semel.effect.Ledger;
import dev.semel.run.RunId;
import dev.semel.store.Reads;
import java.sql.SQLException;
import java.util.List;

/**
 * Pages of the ledger for people, in statements that both stores understand. Ids of runs rise with time, so the effects
 * of the newest runs come first, and the ledger needs no index more for every effect that is sent.
 */
final class EffectPages {
    private static final RunId AFTER_ALL = new RunId(-1L, -1L);

    private static final String LIST = """
        SELECT ws, digest, step, run, claim, turn, state, generation, attempt, first_at, accepted_at, lasts, expires_at,
               data, result, key, path, workflow_id, protection, does, object, worth
        FROM (SELECT * FROM semel_effect WHERE run <= ? AND (run < ? OR digest < ?)
            ORDER BY run DESC, digest DESC LIMIT ?) e
        WHERE ws = ? AND (? = 0 OR state = ?) AND (? = '' OR workflow_id = ?) AND (? = '' OR protection = ?)
        ORDER BY run DESC, digest DESC LIMIT ?
        """;

    private static final String REACHED = """
        SELECT run, digest FROM semel_effect WHERE run <= ? AND (run < ? OR digest < ?)
        ORDER BY run DESC, digest DESC LIMIT 1 OFFSET ?
        """;

    private static final String OF_OBJECT = """
        SELECT ws, digest, step, run, claim, turn, state, generation, attempt, first_at, accepted_at, lasts, expires_at,
               data, result, key, path, workflow_id, protection, does, object, worth
        FROM (SELECT * FROM semel_effect WHERE ws = ? AND object = ? AND (run, digest) < (?, ?)
            ORDER BY run DESC, digest DESC LIMIT ?) e
        WHERE (? = 0 OR state = ?) AND (? = '' OR workflow_id = ?) AND (? = '' OR protection = ?)
        ORDER BY run DESC, digest DESC LIMIT ?
        """;

    private static final String REACHED_OF_OBJECT = """
        SELECT run, digest FROM semel_effect WHERE ws = ? AND object = ? AND (run, digest) < (?, ?)
        ORDER BY run DESC, digest DESC LIMIT 1 OFFSET ?
        """;

    private EffectPages() {}

    /** Looks at a stated number of rows at most, so that a filter that fits nothing costs no more than a full page. */
    static Reads.LedgerPage list(Session session, Reads.EffectFilter filter) throws SQLException {
        Reads.EffectPlace before = filter.before() == null ? new Reads.EffectPlace(AFTER_ALL, "") : filter.before();
        List<Ledger.Row> found = filter.object() == null
                ? newest(session, filter, before)
                : ofObject(session, filter, before, filter.object());
        if (found.size() == filter.limit()) {
            Ledger.Row last = found.getLast();
            return new Reads.LedgerPage(
                    found, new Reads.EffectPlace(last.holder().run(), last.id().digest()));
        }
        int looked = Reads.EffectFilter.LOOKED_AT - 1;
        Session.RowReader<Reads.EffectPlace> reader =
                row -> new Reads.EffectPlace(RunId.of(row.getBytes(1)), row.getString(2));
        Reads.EffectPlace reached = filter.object() == null
                ? session.one(REACHED, reader, before.run(), before.run(), before.digest(), looked)
                : session.one(
                        REACHED_OF_OBJECT, reader, filter.ws(), filter.object(), before.run(), before.digest(), looked);
        return new Reads.LedgerPage(found, reached);
    }

    private static List<Ledger.Row> newest(Session session, Reads.EffectFilter filter, Reads.EffectPlace before)
            throws SQLException {
        Narrow narrow = Narrow.of(filter);
        return session.list(
                LIST,
                Effects::row,
                before.run(),
                before.run(),
                before.digest(),
                Reads.EffectFilter.LOOKED_AT,
                filter.ws(),
                narrow.state(),
                narrow.state(),
                narrow.workflow(),
                narrow.workflow(),
                narrow.protection(),
                narrow.protection(),
                filter.limit());
    }

    private static List<Ledger.Row> ofObject(
            Session session, Reads.EffectFilter filter, Reads.EffectPlace before, String object) throws SQLException {
        Narrow narrow = Narrow.of(filter);
        return session.list(
                OF_OBJECT,
                Effects::row,
                filter.ws(),
                object,
                before.run(),
                before.digest(),
                Reads.EffectFilter.LOOKED_AT,
                narrow.state(),
                narrow.state(),
                narrow.workflow(),
                narrow.workflow(),
                narrow.protection(),
                narrow.protection(),
                filter.limit());
    }

    /** What a page is narrowed to, as statements take it: 0 or empty for anything. */
    private record Narrow(int state, String workflow, String protection) {
        static Narrow of(Reads.EffectFilter filter) {
            return new Narrow(
                    filter.state() == null ? 0 : filter.state().code(),
                    filter.workflowId() == null ? "" : filter.workflowId(),
                    filter.protection() == null ? "" : filter.protection());
        }
    }
}
