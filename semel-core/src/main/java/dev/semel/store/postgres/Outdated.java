package dev.semel.store.postgres;

import dev.semel.run.RunId;
import dev.semel.store.Write;
import dev.semel.store.Write.Admitted;
import dev.semel.store.jdbc.Session;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Rejects triggers whose workflow was looked up under another catalog revision than the batch's. */
final class Outdated {
    private static final String RECORDED = """
        SELECT r.run FROM unnest(?::bytea[]) AS u(run)
        CROSS JOIN LATERAL (SELECT run FROM semel_run r WHERE r.run = u.run LIMIT 1) r
        """;

    private Outdated() {}

    /** Sets the outcome of stale triggers and returns the others. */
    static List<PostgresLane.Indexed<Write.Admit>> refuse(
            Session session, Admitting.Moment moment, List<PostgresLane.Indexed<Write.Admit>> admits, Object[] outcomes)
            throws SQLException {
        List<PostgresLane.Indexed<Write.Admit>> current = new ArrayList<>();
        List<PostgresLane.Indexed<Write.Admit>> stale = new ArrayList<>();
        for (var indexed : admits) {
            (indexed.write().change() == moment.change() ? current : stale).add(indexed);
        }
        if (stale.isEmpty()) {
            return admits;
        }
        Set<RunId> recorded = recorded(session, stale);
        for (var indexed : stale) {
            if (recorded.contains(indexed.write().run().id())) {
                current.add(indexed); // it was in time; this is a retry after a lost response
            } else {
                outcomes[indexed.at()] = new Admitted.Stale();
            }
        }
        return current;
    }

    private static Set<RunId> recorded(Session session, List<PostgresLane.Indexed<Write.Admit>> admits)
            throws SQLException {
        PreparedStatement statement = session.statement(RECORDED);
        new Arrays(session, statement)
                .bytes(admits.stream()
                        .map(indexed -> indexed.write().run().id().bytes())
                        .toArray(byte[][]::new));
        return Driving.runs(statement);
    }
}
