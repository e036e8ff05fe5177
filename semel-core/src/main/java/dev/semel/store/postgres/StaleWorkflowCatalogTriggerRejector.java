package dev.semel.store.postgres;

import dev.semel.run.RunId;
import dev.semel.store.StoreWrite;
import dev.semel.store.StoreWrite.AdmitResult;
import dev.semel.store.jdbc.session.JdbcSession;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Rejects triggers whose workflow was looked up under another catalog revision than the batch's. */
final class StaleWorkflowCatalogTriggerRejector {
    private static final String RECORDED = """
        SELECT r.run FROM unnest(?::bytea[]) AS u(run)
        CROSS JOIN LATERAL (SELECT run FROM semel_run r WHERE r.run = u.run LIMIT 1) r
        """;

    private StaleWorkflowCatalogTriggerRejector() {}

    /** Sets the outcome of stale triggers and returns the others. */
    static List<PostgresBatchWriter.IndexedWrite<StoreWrite.AdmitRun>> rejectStale(
            JdbcSession session,
            PostgresTriggerAdmissionWriter.BatchContext context,
            List<PostgresBatchWriter.IndexedWrite<StoreWrite.AdmitRun>> admits,
            Object[] outcomes)
            throws SQLException {
        List<PostgresBatchWriter.IndexedWrite<StoreWrite.AdmitRun>> current = new ArrayList<>();
        List<PostgresBatchWriter.IndexedWrite<StoreWrite.AdmitRun>> stale = new ArrayList<>();
        for (var indexed : admits) {
            (indexed.write().catalogVersion() == context.catalogRevision() ? current : stale).add(indexed);
        }
        if (stale.isEmpty()) {
            return admits;
        }
        Set<RunId> recorded = recorded(session, stale);
        for (var indexed : stale) {
            if (recorded.contains(indexed.write().run().id())) {
                current.add(indexed); // it was in time; this is a retry after a lost response
            } else {
                outcomes[indexed.position()] = new AdmitResult.CatalogChanged();
            }
        }
        return current;
    }

    private static Set<RunId> recorded(
            JdbcSession session, List<PostgresBatchWriter.IndexedWrite<StoreWrite.AdmitRun>> admits)
            throws SQLException {
        return new ArrayStatement<>(session, RECORDED, admits)
                .ids(indexed -> indexed.write().run().id())
                .runIds();
    }
}
