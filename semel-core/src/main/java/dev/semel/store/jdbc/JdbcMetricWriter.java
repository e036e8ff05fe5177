package dev.semel.store.jdbc;

import dev.semel.run.RunId;
import dev.semel.store.CommitBatch;
import dev.semel.store.MetricCounter;
import dev.semel.store.MetricUpdateCollector;
import dev.semel.store.StoreWriteCommand;
import dev.semel.store.jdbc.session.JdbcSession;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

public final class JdbcMetricWriter {
    private static final int FINE = 1;
    private static final int HOUR = 60;

    private static final String COUNT = """
        INSERT INTO semel_metric_count (ws, minute, workflow_id, metric, step, span_minutes, lease, slot, total)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (ws, minute, workflow_id, metric, step, span_minutes, lease, slot)
        DO UPDATE SET total = semel_metric_count.total + excluded.total
        """;

    private static final String FACT = """
        INSERT INTO semel_metric_detail (ws, metric, at, run, digest, workflow_id, step, object, worth, data,
            key_first_at)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (ws, metric, at, run, digest) DO NOTHING
        """;

    private static final String WORKFLOW_OF_RUN = "SELECT ws, workflow_id FROM semel_run WHERE run = ?";

    private static final String OLD_COUNTS = """
        SELECT ws, minute, workflow_id, metric, step, span_minutes, lease, slot FROM semel_metric_count
        WHERE span_minutes = ? AND minute < ? ORDER BY minute, ws, workflow_id, metric, step, lease, slot LIMIT ?
        """;

    private static final String TAKE_COUNT = """
        DELETE FROM semel_metric_count WHERE ws = ? AND minute = ? AND workflow_id = ? AND metric = ? AND step = ?
            AND span_minutes = ? AND lease = ? AND slot = ? RETURNING total
        """;

    private static final String OLD_FACTS = """
        SELECT ws, metric, at, run, digest FROM semel_metric_detail WHERE at < ? ORDER BY at LIMIT ?
        """;

    private static final String DELETE_FACT = """
        DELETE FROM semel_metric_detail WHERE ws = ? AND metric = ? AND at = ? AND run = ? AND digest = ?
        """;

    private JdbcMetricWriter() {}

    /**
     * Writes the counters as the last statements of a batch. A batch that holds a slot has rows of its own and waits
     * for no other batch. Batches without a slot share rows and lock them in one order.
     */
    public static void write(JdbcSession session, MetricUpdateCollector counted, CommitBatch.@Nullable LeaseSlot hold)
            throws SQLException {
        if (counted.isEmpty()) {
            return;
        }
        long lease = hold == null ? 0 : hold.lease();
        int slot = hold == null ? 0 : hold.slot();
        List<@Nullable Object[]> counts = new ArrayList<>();
        counted.increments()
                .forEach((cell, n) -> counts.add(new @Nullable Object[] {
                    cell.ws(),
                    cell.minute(),
                    cell.workflowId(),
                    cell.counter().code(),
                    cell.step(),
                    FINE,
                    lease,
                    slot,
                    n
                }));
        session.updateBatch(COUNT, counts);
        List<@Nullable Object[]> facts = new ArrayList<>();
        for (MetricUpdateCollector.MetricFact fact : counted.facts()) {
            facts.add(new @Nullable Object[] {
                fact.ws(),
                fact.counter().code(),
                fact.at(),
                fact.run(),
                fact.digest(),
                fact.workflowId(),
                fact.step(),
                fact.object(),
                fact.worth(),
                fact.dataDigest(),
                fact.keyFirstUsedAt()
            });
        }
        session.updateBatch(FACT, facts);
    }

    /** Counts the recovery of a run that completed after a failure or crash. Reads its workflow from the run row. */
    public static void countRecovery(JdbcSession session, RunId run, long now, MetricUpdateCollector counted)
            throws SQLException {
        record RunWorkflow(int ws, String workflowId) {}
        RunWorkflow found =
                session.queryOne(WORKFLOW_OF_RUN, row -> new RunWorkflow(row.getInt(1), row.getString(2)), run);
        if (found != null) {
            counted.countRecovery(found.ws(), found.workflowId(), run, now);
        }
    }

    static int compact(JdbcSession session, StoreWriteCommand.CompactMetrics tidy) throws SQLException {
        int gone = 0;
        for (CounterRow old :
                session.queryList(OLD_COUNTS, JdbcMetricWriter::row, FINE, tidy.hourlyBefore(), tidy.limit())) {
            // The worker that deletes the row gets its number; another worker then counts nothing for it.
            Long n = take(session, old);
            if (n != null) {
                MetricUpdateCollector.CounterKey at = old.cell();
                long hour = at.minute() - at.minute() % HOUR;
                session.update(
                        COUNT, at.ws(), hour, at.workflowId(), at.counter().code(), at.step(), HOUR, 0L, 0, n);
                gone++;
            }
        }
        for (CounterRow old :
                session.queryList(OLD_COUNTS, JdbcMetricWriter::row, HOUR, tidy.countsBefore(), tidy.limit())) {
            gone += take(session, old) == null ? 0 : 1;
        }
        record Old(int ws, int figure, long at, RunId run, String digest) {}
        List<Old> facts = session.queryList(
                OLD_FACTS,
                row -> new Old(
                        row.getInt(1), row.getInt(2), row.getLong(3), RunId.of(row.getBytes(4)), row.getString(5)),
                tidy.factsBefore(),
                tidy.limit());
        for (Old old : facts) {
            gone += session.update(DELETE_FACT, old.ws(), old.figure(), old.at(), old.run(), old.digest());
        }
        return gone;
    }

    private record CounterRow(MetricUpdateCollector.CounterKey cell, int span, long lease, int slot) {}

    private static CounterRow row(ResultSet row) throws SQLException {
        MetricUpdateCollector.CounterKey cell = new MetricUpdateCollector.CounterKey(
                row.getInt(1), row.getLong(2), row.getString(3), MetricCounter.of(row.getInt(4)), row.getString(5));
        return new CounterRow(cell, row.getInt(6), row.getLong(7), row.getInt(8));
    }

    private static @Nullable Long take(JdbcSession session, CounterRow old) throws SQLException {
        MetricUpdateCollector.CounterKey at = old.cell();
        return session.queryOne(
                TAKE_COUNT,
                row -> row.getLong(1),
                at.ws(),
                at.minute(),
                at.workflowId(),
                at.counter().code(),
                at.step(),
                old.span(),
                old.lease(),
                old.slot());
    }
}
