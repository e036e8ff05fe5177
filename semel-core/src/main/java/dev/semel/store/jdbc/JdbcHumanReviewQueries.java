package dev.semel.store.jdbc;

import dev.semel.run.RunId;
import dev.semel.store.HumanReviewStoreWriteCommand;
import dev.semel.store.jdbc.session.JdbcSession;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

final class JdbcHumanReviewQueries extends JdbcQueries implements HumanReviewStoreWriteCommand.ReviewQueries {
    private static final String ONE = """
        SELECT ws, id, run, step, workflow_id, kind, version, effect, reviewer, question, opened_at, due_at,
            next_reminder_at, decided_at,
            decision, decided_by, note
        FROM semel_review WHERE ws = ? AND id = ?
        """;

    private static final String OF_RUN = """
        SELECT ws, id, run, step, workflow_id, kind, version, effect, reviewer, question, opened_at, due_at,
            next_reminder_at, decided_at,
            decision, decided_by, note
        FROM semel_review WHERE run = ? ORDER BY opened_at, id
        """;

    // Hides reviews of runs that have ended or are no longer held; an effect may stay in doubt. If a run and its replay
    // asked about one effect, only the last review is listed.
    private static final String OPEN = """
        SELECT v.ws, v.id, v.run, v.step, v.workflow_id, v.kind, v.version, v.effect, v.reviewer, v.question,
            v.opened_at,
            v.due_at, v.next_reminder_at, v.decided_at, v.decision, v.decided_by, v.note
        FROM (SELECT * FROM semel_review WHERE ws = ? AND decided_at = 0 AND (due_at, opened_at, id) > (?, ?, ?)
            ORDER BY due_at, opened_at, id LIMIT ?) v
        WHERE (? = 0 OR v.kind = ?) AND (? = '' OR v.workflow_id = ?) AND (? = '' OR v.reviewer = ?)
            AND (EXISTS (SELECT 1 FROM semel_effect e
                    WHERE v.kind = 1 AND e.ws = v.ws AND e.digest = v.effect AND e.state = 3
                        AND NOT EXISTS (SELECT 1 FROM semel_review o WHERE o.ws = v.ws AND o.effect = v.effect
                            AND o.decided_at = 0 AND (o.opened_at, o.run) > (v.opened_at, v.run)))
                OR EXISTS (SELECT 1 FROM semel_unfinished_run w WHERE v.kind <> 1 AND w.run = v.run AND (v.kind <> 4
                    OR w.waiting_for LIKE '%"for":"code"%' OR w.waiting_for LIKE '%"for":"poison"%'
                        OR w.waiting_for LIKE '%"for":"store"%')))
        ORDER BY v.due_at, v.opened_at, v.id LIMIT ?
        """;

    // The same condition as OPEN, for one review.
    private static final String IS_ASKED = """
        SELECT 1 FROM semel_review v WHERE v.ws = ? AND v.id = ? AND v.decided_at = 0
            AND (EXISTS (SELECT 1 FROM semel_effect e
                    WHERE v.kind = 1 AND e.ws = v.ws AND e.digest = v.effect AND e.state = 3
                        AND NOT EXISTS (SELECT 1 FROM semel_review o WHERE o.ws = v.ws AND o.effect = v.effect
                            AND o.decided_at = 0 AND (o.opened_at, o.run) > (v.opened_at, v.run)))
                OR EXISTS (SELECT 1 FROM semel_unfinished_run w WHERE v.kind <> 1 AND w.run = v.run AND (v.kind <> 4
                    OR w.waiting_for LIKE '%"for":"code"%' OR w.waiting_for LIKE '%"for":"poison"%'
                        OR w.waiting_for LIKE '%"for":"store"%')))
        """;

    private static final String ABOUT = """
        SELECT ws, id, run, step, workflow_id, kind, version, effect, reviewer, question, opened_at, due_at,
            next_reminder_at, decided_at,
            decision, decided_by, note
        FROM semel_review WHERE ws = ? AND effect = ? AND decided_at = 0 ORDER BY opened_at DESC, run DESC LIMIT 1
        """;

    private static final String REACHED = """
        SELECT due_at, opened_at, id FROM semel_review
        WHERE ws = ? AND decided_at = 0 AND (due_at, opened_at, id) > (?, ?, ?)
        ORDER BY due_at, opened_at, id LIMIT 1 OFFSET ?
        """;

    private static final String DECIDED = """
        SELECT ws, id, run, step, workflow_id, kind, version, effect, reviewer, question, opened_at, due_at,
            next_reminder_at, decided_at,
            decision, decided_by, note
        FROM semel_review WHERE ws = ? AND decided_at > 0 AND (decided_at, id) < (?, ?)
        ORDER BY decided_at DESC, id DESC LIMIT ?
        """;

    private static final String DUE_REMINDERS = """
        SELECT ws, id, run, step, workflow_id, kind, version, effect, reviewer, question, opened_at, due_at,
            next_reminder_at, decided_at,
            decision, decided_by, note
        FROM semel_review WHERE decided_at = 0 AND next_reminder_at <= ? ORDER BY next_reminder_at, ws, id LIMIT ?
        """;

    JdbcHumanReviewQueries(JdbcSession session) {
        super(session);
    }

    @Override
    public HumanReviewStoreWriteCommand.@Nullable ReviewRow review(int ws, String id) {
        return queryNullable(() -> find(session, ws, id));
    }

    static HumanReviewStoreWriteCommand.@Nullable ReviewRow find(JdbcSession session, int ws, String id)
            throws SQLException {
        return session.queryOne(ONE, JdbcHumanReviewQueries::row, ws, id);
    }

    @Override
    public List<HumanReviewStoreWriteCommand.ReviewRow> reviewsOf(RunId run) {
        return list(OF_RUN, JdbcHumanReviewQueries::row, run);
    }

    @Override
    public HumanReviewStoreWriteCommand.ReviewPage open(HumanReviewStoreWriteCommand.OpenReviewFilter filter) {
        return query(() -> page(filter));
    }

    /** Scans a bounded number of rows, so that a filter that matches nothing costs no more than a full page. */
    private HumanReviewStoreWriteCommand.ReviewPage page(HumanReviewStoreWriteCommand.OpenReviewFilter filter)
            throws SQLException {
        HumanReviewStoreWriteCommand.ReviewCursor after = filter.after();
        int kind = filter.kind() == null ? 0 : filter.kind().code();
        String workflow = filter.workflowId() == null ? "" : filter.workflowId();
        String reviewer = filter.reviewer() == null ? "" : filter.reviewer();
        List<HumanReviewStoreWriteCommand.ReviewRow> found = session.queryList(
                OPEN,
                JdbcHumanReviewQueries::row,
                filter.ws(),
                after.at(),
                after.openedAt(),
                after.id(),
                HumanReviewStoreWriteCommand.OpenReviewFilter.MAX_SCANNED,
                kind,
                kind,
                workflow,
                workflow,
                reviewer,
                reviewer,
                filter.limit());
        if (found.size() == filter.limit()) {
            return new HumanReviewStoreWriteCommand.ReviewPage(
                    found, HumanReviewStoreWriteCommand.ReviewCursor.due(found.getLast()));
        }
        HumanReviewStoreWriteCommand.ReviewCursor reached = session.queryOne(
                REACHED,
                row -> new HumanReviewStoreWriteCommand.ReviewCursor(row.getLong(1), row.getLong(2), row.getString(3)),
                filter.ws(),
                after.at(),
                after.openedAt(),
                after.id(),
                HumanReviewStoreWriteCommand.OpenReviewFilter.MAX_SCANNED - 1);
        return new HumanReviewStoreWriteCommand.ReviewPage(found, reached);
    }

    @Override
    public List<HumanReviewStoreWriteCommand.ReviewRow> decided(
            int ws, HumanReviewStoreWriteCommand.@Nullable ReviewCursor before, int limit) {
        long at = before == null ? Long.MAX_VALUE : before.at();
        String id = before == null ? "" : before.id();
        return list(DECIDED, JdbcHumanReviewQueries::row, ws, at, id, limit);
    }

    @Override
    public List<HumanReviewStoreWriteCommand.ReviewRow> dueReminders(long now, int limit) {
        return list(DUE_REMINDERS, JdbcHumanReviewQueries::row, now, limit);
    }

    @Override
    public boolean isStillOpen(HumanReviewStoreWriteCommand.ReviewRow row) {
        return exists(IS_ASKED, row.ws(), row.id());
    }

    @Override
    public HumanReviewStoreWriteCommand.@Nullable ReviewRow openReviewOf(int ws, String effect) {
        return one(ABOUT, JdbcHumanReviewQueries::row, ws, effect);
    }

    private static HumanReviewStoreWriteCommand.ReviewRow row(ResultSet row) throws SQLException {
        return new HumanReviewStoreWriteCommand.ReviewRow(
                row.getInt(1),
                row.getString(2),
                RunId.of(row.getBytes(3)),
                row.getString(4),
                row.getString(5),
                HumanReviewStoreWriteCommand.ReviewKind.of(row.getInt(6)),
                row.getInt(7),
                row.getString(8),
                row.getString(9),
                row.getString(10),
                row.getLong(11),
                row.getLong(12),
                row.getLong(13),
                row.getLong(14),
                row.getString(15),
                row.getString(16),
                row.getString(17));
    }
}
