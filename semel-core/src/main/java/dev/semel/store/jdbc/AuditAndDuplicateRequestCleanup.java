package dev.semel.store.jdbc;

import dev.semel.run.RunId;
import dev.semel.store.StoreWriteCommand;
import dev.semel.store.jdbc.session.JdbcSession;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Ids rise with time, so the oldest rows are first in the index and the cost does not depend on the table size. */
final class AuditAndDuplicateRequestCleanup {
    private static final String OLDEST_AUDIT = """
        SELECT id, at FROM semel_audit ORDER BY id LIMIT ?
        """;

    private static final String DELETE_AUDIT = """
        DELETE FROM semel_audit WHERE id = ?
        """;

    private static final String WORKSPACES = """
        SELECT ws FROM semel_workspace ORDER BY ws
        """;

    private static final String OLDEST_REQUESTS = """
        SELECT id, at, run FROM semel_duplicate_request WHERE ws = ? ORDER BY id LIMIT ?
        """;

    private static final String DELETE_REQUEST = """
        DELETE FROM semel_duplicate_request WHERE id = ? AND run = ?
        """;

    private final JdbcSession session;

    AuditAndDuplicateRequestCleanup(JdbcSession session) {
        this.session = session;
    }

    /** A row of the audit log, or of duplicate requests if it has a run. */
    private record HistoryRow(RunId id, long at, @Nullable RunId run) {}

    int deleteOldest(StoreWriteCommand.DeleteOldHistory forget) throws SQLException {
        return switch (forget.table()) {
            case AUDIT ->
                delete(
                        DELETE_AUDIT,
                        session.queryList(
                                OLDEST_AUDIT,
                                row -> new HistoryRow(RunId.of(row.getBytes(1)), row.getLong(2), null),
                                forget.limit()),
                        forget.before());
            case REQUESTS -> requests(forget);
        };
    }

    private int requests(StoreWriteCommand.DeleteOldHistory forget) throws SQLException {
        int deleted = 0;
        for (int ws : session.queryList(WORKSPACES, row -> row.getInt(1))) {
            int left = forget.limit() - deleted;
            if (left > 0) {
                List<HistoryRow> oldest = session.queryList(
                        OLDEST_REQUESTS,
                        row -> new HistoryRow(RunId.of(row.getBytes(1)), row.getLong(2), RunId.of(row.getBytes(3))),
                        ws,
                        left);
                deleted += delete(DELETE_REQUEST, oldest, forget.before());
            }
        }
        return deleted;
    }

    private int delete(String statement, List<HistoryRow> oldest, long before) throws SQLException {
        List<@Nullable Object[]> rows = new ArrayList<>();
        for (HistoryRow old : oldest) {
            if (old.at() < before) {
                rows.add(
                        old.run() == null
                                ? new @Nullable Object[] {old.id()}
                                : new @Nullable Object[] {old.id(), old.run()});
            }
        }
        int deleted = 0;
        for (int one : session.updateBatch(statement, rows)) {
            deleted += one;
        }
        return deleted;
    }
}
