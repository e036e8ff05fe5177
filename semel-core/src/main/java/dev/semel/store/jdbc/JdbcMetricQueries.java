package dev.semel.store.jdbc;

import dev.semel.run.RunId;
import dev.semel.store.DatabaseRows;
import dev.semel.store.MetricCounter;
import dev.semel.store.MetricQueries;
import dev.semel.store.MetricUpdateCollector;
import dev.semel.store.StoreWriteCommand;
import dev.semel.store.jdbc.run.EffectLedgerRepository;
import dev.semel.store.jdbc.session.JdbcSession;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

final class JdbcMetricQueries extends JdbcQueries implements MetricQueries {
    /** The next character. A step `n` with several messages counts them as `n.email` and so on. */
    private static final char AFTER_DOT = '.' + 1;

    private static final String SUMS = """
        SELECT workflow_id, metric, step, minute - minute % ? AS start_minute, CAST(sum(total) AS bigint)
            FROM semel_metric_count
        WHERE ws = ? AND minute >= ? AND minute < ?
            AND (? = '' OR workflow_id = ?) AND (? = '' OR step = ? OR (step > ? AND step < ?))
        GROUP BY workflow_id, metric, step, start_minute ORDER BY start_minute, workflow_id, metric, step
        """;

    private static final String TOTALS = """
        SELECT ws, workflow_id, metric, step, CAST(sum(total) AS bigint) FROM semel_metric_count
        WHERE span_minutes IN (1, 60) AND minute >= ? AND minute < ?
        GROUP BY ws, workflow_id, metric, step ORDER BY ws, workflow_id, metric, step
        """;

    private static final String FACTS = """
        SELECT metric, ws, at, run, digest, workflow_id, step, object, worth, data, key_first_at
            FROM semel_metric_detail
        WHERE ws = ? AND metric = ? AND at >= ? AND at < ?
            AND (? = '' OR workflow_id = ?) AND (? = '' OR step = ? OR (step > ? AND step < ?))
            AND (at, run, digest) < (?, ?, ?)
        ORDER BY at DESC, run DESC, digest DESC LIMIT ?
        """;

    private static final String WRITTEN = """
        SELECT workflow_id, count(*), count(DISTINCT object) FROM semel_metric_detail
        WHERE ws = ? AND metric = ? AND at >= ? AND at < ?
            AND (? = '' OR workflow_id = ?) AND (? = '' OR step = ? OR (step > ? AND step < ?))
            AND object IS NOT NULL
        GROUP BY workflow_id ORDER BY workflow_id
        """;

    private static final String OBJECTS = """
        SELECT workflow_id, object, count(*) AS writes, min(at), max(at) FROM semel_metric_detail
        WHERE ws = ? AND metric = ? AND at >= ? AND at < ?
            AND (? = '' OR workflow_id = ?) AND (? = '' OR step = ? OR (step > ? AND step < ?))
            AND object IS NOT NULL
        GROUP BY workflow_id, object HAVING count(*) > ? ORDER BY writes DESC, workflow_id, object LIMIT ?
        """;

    // The first condition on the state repeats the index predicate.
    private static final String FAILURES = """
        SELECT COALESCE(f.error_code, '') AS code, COALESCE(f.error_step, '') AS step, count(*) AS runs
        FROM (SELECT error_code, error_step FROM semel_finished_run
            WHERE ws = ? AND state > 10 AND state = 11 AND ended_at >= ? AND ended_at < ?
                AND (? = '' OR workflow_id = ?) AND (? = '' OR error_step = ?)
            ORDER BY ended_at, run LIMIT ?) f
        GROUP BY code, step ORDER BY runs DESC, code, step
        """;

    private static final String FIRST_FAILURE = """
        SELECT run FROM semel_finished_run
        WHERE ws = ? AND state > 10 AND state = 11 AND ended_at >= ? AND ended_at < ?
            AND (? = '' OR workflow_id = ?) AND (? = '' OR error_step = ?)
        ORDER BY ended_at, run LIMIT 1
        """;

    private static final String REPLAYED = """
        SELECT g.run, g.request_count, r.workflow_id, r.version,
            CASE WHEN length(r.input) > ? THEN NULL ELSE r.input END
        FROM (SELECT n.run, CAST(sum(n.request_count) AS bigint) AS request_count
            FROM (SELECT run, request_count, conflict, at FROM semel_duplicate_request WHERE ws = ? AND id < ?
                AND id >= ?
                ORDER BY id DESC LIMIT ?) n
            WHERE n.conflict = 0 AND n.at >= ? AND n.at < ?
            GROUP BY n.run) g
        CROSS JOIN semel_run r
        WHERE r.run = g.run AND (? = '' OR r.workflow_id = ?)
        ORDER BY g.run
        """;

    private static final String REPLAYED_SCAN_END = """
        SELECT id FROM semel_duplicate_request WHERE ws = ? AND id < ? AND id >= ? ORDER BY id DESC LIMIT 1 OFFSET ?
        """;

    // If a replay finds an effect in doubt, the row stays with the finished run that sent it; its review is open.
    private static final String IN_DOUBT = """
        SELECT e.workflow_id, count(*), min(e.first_at) FROM semel_effect e
        WHERE e.ws = ? AND e.state = 3
            AND (EXISTS (SELECT 1 FROM semel_unfinished_run w WHERE w.run = e.run AND w.state = 5)
                OR EXISTS (SELECT 1 FROM semel_review v
                    WHERE v.ws = e.ws AND v.effect = e.digest AND v.decided_at = 0))
        GROUP BY e.workflow_id ORDER BY e.workflow_id
        """;

    private static final String ARRIVALS = """
        SELECT r.run, r.trigger_source, r.actor, r.key, r.field_hashes, r.created_at, COALESCE(e.ended_at, 0)
        FROM semel_run r LEFT JOIN semel_finished_run e ON e.run = r.run
        WHERE r.ws = ? AND r.workflow_id = ? AND r.run < ? ORDER BY r.run DESC LIMIT ?
        """;

    private static final String NEEDS_COMPACTION = """
        SELECT 1 WHERE EXISTS (SELECT 1 FROM semel_metric_count WHERE span_minutes = 1 AND minute < ?)
            OR EXISTS (SELECT 1 FROM semel_metric_count WHERE span_minutes = 60 AND minute < ?)
            OR EXISTS (SELECT 1 FROM semel_metric_detail WHERE at < ?)
        """;

    JdbcMetricQueries(JdbcSession session) {
        super(session);
    }

    @Override
    public List<CounterSum> sums(MetricRange range, int grain) {
        return list(
                SUMS,
                JdbcMetricQueries::sum,
                grain,
                range.ws(),
                range.since() / MetricUpdateCollector.MICROS_PER_MINUTE,
                range.until() / MetricUpdateCollector.MICROS_PER_MINUTE,
                range.workflowId(),
                range.workflowId(),
                range.step(),
                range.step(),
                range.step() + ".",
                range.step() + AFTER_DOT);
    }

    @Override
    public List<CounterTotal> totals(long from, long until) {
        return list(
                TOTALS,
                row -> new CounterTotal(
                        row.getInt(1),
                        row.getString(2),
                        MetricCounter.of(row.getInt(3)),
                        row.getString(4),
                        row.getLong(5)),
                from,
                until);
    }

    private static CounterSum sum(ResultSet row) throws SQLException {
        return new CounterSum(
                row.getString(1), MetricCounter.of(row.getInt(2)), row.getString(3), row.getLong(4), row.getLong(5));
    }

    @Override
    public List<MetricUpdateCollector.MetricFact> facts(
            MetricRange range, MetricCounter figure, FactCursor behind, int limit) {
        return list(
                FACTS,
                JdbcMetricQueries::fact,
                where(range, figure, behind.at(), behind.run(), behind.digest(), limit));
    }

    private static MetricUpdateCollector.MetricFact fact(ResultSet row) throws SQLException {
        return new MetricUpdateCollector.MetricFact(
                MetricCounter.of(row.getInt(1)),
                row.getInt(2),
                row.getLong(3),
                RunId.of(row.getBytes(4)),
                row.getString(5),
                row.getString(6),
                row.getString(7),
                row.getString(8),
                row.getString(9),
                row.getString(10),
                row.getLong(11));
    }

    @Override
    public List<WriteCounts> writeCounts(MetricRange range) {
        return list(
                WRITTEN,
                row -> new WriteCounts(row.getString(1), row.getLong(2), row.getLong(3)),
                where(range, MetricCounter.WRITTEN));
    }

    @Override
    public List<ObjectWrites> mostWrittenObjects(MetricRange range, long more, int limit) {
        return list(
                OBJECTS,
                row -> new ObjectWrites(
                        row.getString(1), row.getString(2), row.getLong(3), row.getLong(4), row.getLong(5)),
                where(range, MetricCounter.WRITTEN, more, limit));
    }

    /** The parameters of a query for details of one counter: the range, then {@code more}. */
    private static Object[] where(MetricRange range, MetricCounter counter, Object... more) {
        String workflow = range.workflowId();
        List<Object> values = new ArrayList<>(List.of(range.ws(), counter.code(), range.since(), range.until()));
        values.addAll(
                List.of(workflow, workflow, range.step(), range.step(), range.step() + ".", range.step() + AFTER_DOT));
        values.addAll(List.of(more));
        return values.toArray();
    }

    @Override
    public FailureSummary failures(MetricRange range, int most) {
        Object[] where = {
            range.ws(), range.since(), range.until(), range.workflowId(), range.workflowId(), range.step(), range.step()
        };
        Object[] counted = Arrays.copyOf(where, where.length + 1);
        counted[where.length] = most;
        List<FailureGroup> errors =
                list(FAILURES, row -> new FailureGroup(row.getString(1), row.getString(2), row.getLong(3)), counted);
        long runs = errors.stream().mapToLong(FailureGroup::runs).sum();
        RunId first = one(FIRST_FAILURE, row -> RunId.of(row.getBytes(1)), where);
        return new FailureSummary(runs, runs == most, first, errors);
    }

    @Override
    public ReplayedPage replayedRuns(MetricRange range, RequestScan among) {
        // The end of the slice is read first: newer requests cannot move rows into the next slice.
        RunId reached = one(
                REPLAYED_SCAN_END,
                row -> RunId.of(row.getBytes(1)),
                range.ws(),
                among.before(),
                among.from(),
                among.limit() - 1);
        List<ReplayedRun> runs = list(
                REPLAYED,
                JdbcMetricQueries::replayed,
                MAX_INPUT_LENGTH,
                range.ws(),
                among.before(),
                reached == null ? among.from() : reached,
                reached == null ? among.limit() : Integer.MAX_VALUE,
                range.since(),
                range.until(),
                range.workflowId(),
                range.workflowId());
        return new ReplayedPage(runs, reached);
    }

    private static ReplayedRun replayed(ResultSet row) throws SQLException {
        return new ReplayedRun(
                RunId.of(row.getBytes(1)), row.getLong(2), row.getString(3), row.getInt(4), row.getString(5));
    }

    @Override
    public List<InDoubtCount> inDoubtCounts(int ws) {
        return list(IN_DOUBT, row -> new InDoubtCount(row.getString(1), row.getLong(2), row.getLong(3)), ws);
    }

    @Override
    public List<AdmittedTrigger> admittedTriggers(int ws, String workflowId, RunId before, int limit) {
        return list(
                ARRIVALS,
                row -> new AdmittedTrigger(
                        RunId.of(row.getBytes(1)),
                        row.getInt(2),
                        row.getString(3),
                        row.getString(4),
                        row.getBytes(5),
                        row.getLong(6),
                        row.getLong(7)),
                ws,
                workflowId,
                before.bytes(),
                limit);
    }

    @Override
    public boolean needsCompaction(StoreWriteCommand.CompactMetrics tidy) {
        return exists(NEEDS_COMPACTION, tidy.hourlyBefore(), tidy.countsBefore(), tidy.factsBefore());
    }

    @Override
    public List<DatabaseRows.ExpiringResend> expiringResends(
            int ws, String workflowId, long after, long until, int limit) {
        return query(() -> EffectLedgerRepository.listExpiringResends(session, ws, workflowId, after, until, limit));
    }

    @Override
    public long lostResends(int ws, String workflowId, long since) {
        return query(() -> EffectLedgerRepository.countLostResends(session, ws, workflowId, since));
    }
}
