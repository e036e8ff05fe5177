package dev.semel.store.jdbc.run;

import dev.semel.store.StoreWrite;
import dev.semel.store.jdbc.session.JdbcSession;
import java.sql.SQLException;
import java.util.List;

public final class WorkflowsWithDueRunsQuery {
    // Skips from workflow to workflow through the index; the first entry of each workflow is due first.
    private static final String GROUPS = """
        WITH RECURSIVE free(id) AS (
            SELECT min(workflow_id) FROM semel_unfinished_run WHERE owner IS NULL AND start_blocked = 0
            UNION ALL
            SELECT (SELECT min(w.workflow_id) FROM semel_unfinished_run w
                    WHERE w.owner IS NULL AND w.start_blocked = 0 AND w.workflow_id > free.id)
            FROM free WHERE free.id IS NOT NULL),
        first AS (
            SELECT free.id, (SELECT min(w.due_at) FROM semel_unfinished_run w
                WHERE w.owner IS NULL AND w.start_blocked = 0 AND w.workflow_id = free.id) AS due_at
            FROM free WHERE free.id IS NOT NULL)
        SELECT f.id, coalesce(known.ws, 0) FROM first f
        LEFT JOIN semel_workflow known ON known.workflow_id = f.id
        WHERE f.due_at <= ? ORDER BY f.id
        """;

    private WorkflowsWithDueRunsQuery() {}

    public static List<FairRunClaimer.DueWorkflow> list(JdbcSession session, StoreWrite.ClaimRuns claim, long now)
            throws SQLException {
        return session
                .queryList(GROUPS, row -> new FairRunClaimer.DueWorkflow(row.getInt(2), row.getString(1)), now)
                .stream()
                .filter(group -> !claim.excludedWorkflows().contains(group.workflowId()))
                .toList();
    }
}
