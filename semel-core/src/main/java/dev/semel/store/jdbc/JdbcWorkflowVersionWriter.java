package dev.semel.store.jdbc;

import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreWriteCommand;
import dev.semel.store.WorkflowVersionRollout;
import dev.semel.store.jdbc.session.JdbcSession;
import dev.semel.store.jdbc.session.RowMappers;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

final class JdbcWorkflowVersionWriter {
    private static final String CREATE = """
        INSERT INTO semel_workflow (ws, name, workflow_id, version, paused, created_at)
        VALUES (?, ?, ?, 0, 0, ?) ON CONFLICT (ws, name) DO NOTHING
        """;

    private static final String LOCK = """
        UPDATE semel_workflow SET version = version WHERE ws = ? AND name = ?
        """;

    private static final String LOCK_BY_ID = """
        UPDATE semel_workflow SET version = version WHERE ws = ? AND workflow_id = ?
        """;

    private static final String FIND = """
        SELECT ws, name, workflow_id, version, paused, created_at, candidate_version, rollout_percent,
            (SELECT MAX(v.version) FROM semel_workflow_version v WHERE v.workflow_id = semel_workflow.workflow_id)
        FROM semel_workflow WHERE ws = ? AND name = ?
        """;

    private static final String FIND_BY_ID = """
        SELECT ws, name, workflow_id, version, paused, created_at, candidate_version, rollout_percent,
            (SELECT MAX(v.version) FROM semel_workflow_version v WHERE v.workflow_id = semel_workflow.workflow_id)
        FROM semel_workflow WHERE ws = ? AND workflow_id = ?
        """;

    private static final String HAS_TEXT = """
        SELECT 1 FROM semel_workflow_version WHERE workflow_id = ? AND version = ? AND body = ?
        """;

    private static final String TEXT = """
        SELECT body FROM semel_workflow_version WHERE workflow_id = ? AND version = ?
        """;

    private static final String ADD = """
        INSERT INTO semel_workflow_version (workflow_id, version, body, published_at, published_by)
            VALUES (?, ?, ?, ?, ?)
        """;

    private static final String SET_ROLLOUT = """
        UPDATE semel_workflow SET version = ?, candidate_version = ?, rollout_percent = ? WHERE workflow_id = ?
        """;

    private final JdbcSession session;
    private final StoreWriteCommandExecutor edits;

    JdbcWorkflowVersionWriter(JdbcSession session, StoreWriteCommandExecutor edits) {
        this.session = session;
        this.edits = edits;
    }

    private record VersionText(String body, String actor, long at) {}

    DatabaseRows.WorkflowRow publish(StoreWriteCommand.PublishVersion publish, long now) throws SQLException {
        session.update(CREATE, publish.workspace(), publish.name(), publish.workflowId(), now);
        session.update(LOCK, publish.workspace(), publish.name());
        DatabaseRows.WorkflowRow before =
                session.queryOne(FIND, RowMappers::mapWorkflow, publish.workspace(), publish.name());
        if (before == null) {
            throw new IllegalStateException("Workflow " + publish.name() + " was not found while it was published");
        }
        WorkflowVersionRollout next = before.rollout().publish(same(before, publish.body()));
        return saveRollout(before, next, new VersionText(publish.body(), publish.actor(), now));
    }

    /** The caller has locked the catalog, so that what is read here does not change before this transaction ends. */
    DatabaseRows.@Nullable WorkflowRow publish(StoreWriteCommand.PublishIfUnchanged over, long now)
            throws SQLException {
        StoreWriteCommand.PublishVersion publish = over.publish();
        DatabaseRows.WorkflowRow before =
                session.queryOne(FIND, RowMappers::mapWorkflow, publish.workspace(), publish.name());
        boolean current =
                before != null && same(before, publish.body()) == WorkflowVersionRollout.MatchingVersion.CURRENT;
        Long change = session.queryOne("SELECT revision FROM semel_catalog WHERE singleton = 1", row -> row.getLong(1));
        boolean counted = over.catalogVersion() == null || over.catalogVersion().equals(change);
        boolean seen = over.expected() == null || over.expected().matches(before == null ? null : before.rollout());
        return current || counted && seen ? publish(publish, now) : null;
    }

    DatabaseRows.@Nullable WorkflowRow stageCandidate(StoreWriteCommand.StageCandidate stage, long now)
            throws SQLException {
        session.update(LOCK, stage.workspace(), stage.name());
        DatabaseRows.WorkflowRow before =
                session.queryOne(FIND, RowMappers::mapWorkflow, stage.workspace(), stage.name());
        if (before == null) {
            return null;
        }
        WorkflowVersionRollout next = before.rollout().stage(same(before, stage.body()), stage.percentage());
        return saveRollout(before, next, new VersionText(stage.body(), stage.actor(), now));
    }

    DatabaseRows.@Nullable WorkflowRow promote(StoreWriteCommand.PromoteCandidate promote, long now)
            throws SQLException {
        DatabaseRows.WorkflowRow before = locked(promote.workspace(), promote.workflowId());
        if (before == null) {
            return null;
        }
        VersionText none = new VersionText("", promote.actor(), now);
        DatabaseRows.WorkflowRow after = saveRollout(before, before.rollout().promote(promote.version()), none);
        if (after.changed()) {
            String what = "version " + after.version();
            edits.writeAudit(
                    after.ws(),
                    now,
                    new StoreWriteCommand.ChangeAuthor(edits.newId(), promote.actor(), what),
                    "workflow.promote",
                    after.name());
        }
        return after;
    }

    DatabaseRows.@Nullable WorkflowRow rollback(StoreWriteCommand.RollBackVersion back, long now) throws SQLException {
        DatabaseRows.WorkflowRow before = locked(back.workspace(), back.workflowId());
        String body = back.version() == 0
                ? ""
                : session.queryOne(TEXT, row -> row.getString(1), back.workflowId(), back.version());
        if (before == null || body == null) {
            return null;
        }
        WorkflowVersionRollout next =
                back.version() == 0 ? before.rollout() : before.rollout().publish(same(before, body));
        DatabaseRows.WorkflowRow after =
                saveRollout(before, next.endCandidate(), new VersionText(body, back.actor(), now));
        if (after.changed()) {
            edits.writeAudit(
                    after.ws(),
                    now,
                    new StoreWriteCommand.ChangeAuthor(edits.newId(), back.actor(), back.reason()),
                    "workflow.rollback",
                    after.name());
        }
        return after;
    }

    DatabaseRows.@Nullable WorkflowRow pause(StoreWriteCommand.PauseWorkflow pause) throws SQLException {
        boolean ours = session.update(
                        "UPDATE semel_workflow SET paused = ? WHERE ws = ? AND workflow_id = ?",
                        pause.paused() ? 1 : 0,
                        pause.workspace(),
                        pause.workflowId())
                == 1;
        if (!ours) {
            return null; // unknown, or in another workspace
        }
        if (!pause.paused()) {
            session.update("""
                UPDATE semel_unfinished_run SET start_blocked = 0
                WHERE workflow_id = ? AND start_blocked = 1 AND (queue_state <> 2 OR NOT EXISTS (
                    SELECT 1 FROM semel_queue_entry p
                    WHERE p.run = semel_unfinished_run.run AND p.started = 0 AND p.ticket > 0))
                """, pause.workflowId());
        }
        edits.incrementCatalogRevision();
        return session.queryOne(FIND_BY_ID, RowMappers::mapWorkflow, pause.workspace(), pause.workflowId());
    }

    private DatabaseRows.@Nullable WorkflowRow locked(int workspace, String workflowId) throws SQLException {
        session.update(LOCK_BY_ID, workspace, workflowId);
        return session.queryOne(FIND_BY_ID, RowMappers::mapWorkflow, workspace, workflowId);
    }

    private WorkflowVersionRollout.MatchingVersion same(DatabaseRows.WorkflowRow workflow, String body)
            throws SQLException {
        if (has(workflow, workflow.version(), body)) {
            return WorkflowVersionRollout.MatchingVersion.CURRENT;
        }
        return has(workflow, workflow.rollout().candidate(), body)
                ? WorkflowVersionRollout.MatchingVersion.CANDIDATE
                : WorkflowVersionRollout.MatchingVersion.NONE;
    }

    private boolean has(DatabaseRows.WorkflowRow workflow, int version, String body) throws SQLException {
        return session.exists(HAS_TEXT, workflow.workflowId(), version, body);
    }

    /** Saves the rollout state; a new version number gets the text. */
    private DatabaseRows.WorkflowRow saveRollout(
            DatabaseRows.WorkflowRow before, WorkflowVersionRollout next, VersionText text) throws SQLException {
        WorkflowVersionRollout last = before.rollout();
        if (next.equals(last)) {
            return before;
        }
        if (next.latest() > last.latest()) {
            session.update(ADD, before.workflowId(), next.latest(), text.body(), text.at(), text.actor());
        }
        session.update(SET_ROLLOUT, next.version(), next.candidate(), next.percentage(), before.workflowId());
        edits.incrementCatalogRevision();
        return new DatabaseRows.WorkflowRow(
                before.ws(), before.name(), before.workflowId(), next, before.paused(), before.createdAt(), true);
    }
}
