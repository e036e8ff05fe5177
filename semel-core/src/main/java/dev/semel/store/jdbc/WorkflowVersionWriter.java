package dev.semel.store.jdbc;

import dev.semel.store.Rollout;
import dev.semel.store.StoreCommand;
import dev.semel.store.StoredRows;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Publishes workflow versions, stages and promotes candidates, rolls back and pauses workflows. */
final class WorkflowVersionWriter {
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
    private final StoreCommandExecutor edits;

    WorkflowVersionWriter(JdbcSession session, StoreCommandExecutor edits) {
        this.session = session;
        this.edits = edits;
    }

    /** The text of a version with its publisher and time. */
    private record VersionText(String body, String actor, long at) {}

    StoredRows.WorkflowRow publish(StoreCommand.PublishVersion publish, long now) throws SQLException {
        session.update(CREATE, publish.workspace(), publish.name(), publish.workflowId(), now);
        session.update(LOCK, publish.workspace(), publish.name());
        StoredRows.WorkflowRow before =
                session.queryOne(FIND, RowMappers::mapWorkflow, publish.workspace(), publish.name());
        if (before == null) {
            throw new IllegalStateException("Workflow " + publish.name() + " was not found while it was published");
        }
        Rollout next = before.rollout().publish(same(before, publish.body()));
        return saveRollout(before, next, new VersionText(publish.body(), publish.actor(), now));
    }

    /** The caller has locked the catalog, so that what is read here does not change before this transaction ends. */
    StoredRows.@Nullable WorkflowRow publish(StoreCommand.PublishIfUnchanged over, long now) throws SQLException {
        StoreCommand.PublishVersion publish = over.publish();
        StoredRows.WorkflowRow before =
                session.queryOne(FIND, RowMappers::mapWorkflow, publish.workspace(), publish.name());
        boolean current = before != null && same(before, publish.body()) == Rollout.MatchingVersion.CURRENT;
        Long change = session.queryOne("SELECT revision FROM semel_catalog WHERE singleton = 1", row -> row.getLong(1));
        boolean counted = over.catalogVersion() == null || over.catalogVersion().equals(change);
        boolean seen = over.expected() == null || over.expected().matches(before == null ? null : before.rollout());
        return current || counted && seen ? publish(publish, now) : null;
    }

    StoredRows.@Nullable WorkflowRow stageCandidate(StoreCommand.StageCandidate stage, long now) throws SQLException {
        session.update(LOCK, stage.workspace(), stage.name());
        StoredRows.WorkflowRow before =
                session.queryOne(FIND, RowMappers::mapWorkflow, stage.workspace(), stage.name());
        if (before == null) {
            return null;
        }
        Rollout next = before.rollout().stage(same(before, stage.body()), stage.percentage());
        return saveRollout(before, next, new VersionText(stage.body(), stage.actor(), now));
    }

    StoredRows.@Nullable WorkflowRow promote(StoreCommand.PromoteCandidate promote, long now) throws SQLException {
        StoredRows.WorkflowRow before = locked(promote.workspace(), promote.workflowId());
        if (before == null) {
            return null;
        }
        VersionText none = new VersionText("", promote.actor(), now);
        StoredRows.WorkflowRow after = saveRollout(before, before.rollout().promote(promote.version()), none);
        if (after.changed()) {
            String what = "version " + after.version();
            edits.writeAudit(
                    after.ws(),
                    now,
                    new StoreCommand.ChangeAuthor(edits.newId(), promote.actor(), what),
                    List.of("workflow.promote", after.name()));
        }
        return after;
    }

    StoredRows.@Nullable WorkflowRow rollback(StoreCommand.RollBackVersion back, long now) throws SQLException {
        StoredRows.WorkflowRow before = locked(back.workspace(), back.workflowId());
        String body = back.version() == 0
                ? ""
                : session.queryOne(TEXT, row -> row.getString(1), back.workflowId(), back.version());
        if (before == null || body == null) {
            return null;
        }
        Rollout next = back.version() == 0 ? before.rollout() : before.rollout().publish(same(before, body));
        StoredRows.WorkflowRow after =
                saveRollout(before, next.endCandidate(), new VersionText(body, back.actor(), now));
        if (after.changed()) {
            edits.writeAudit(
                    after.ws(),
                    now,
                    new StoreCommand.ChangeAuthor(edits.newId(), back.actor(), back.reason()),
                    List.of("workflow.rollback", after.name()));
        }
        return after;
    }

    StoredRows.@Nullable WorkflowRow pause(StoreCommand.PauseWorkflow pause) throws SQLException {
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
                WHERE workflow_id = ? AND start_blocked = 1 AND queue_state <> 2
                """, pause.workflowId());
        }
        edits.incrementCatalogRevision();
        return session.queryOne(FIND_BY_ID, RowMappers::mapWorkflow, pause.workspace(), pause.workflowId());
    }

    private StoredRows.@Nullable WorkflowRow locked(int workspace, String workflowId) throws SQLException {
        session.update(LOCK_BY_ID, workspace, workflowId);
        return session.queryOne(FIND_BY_ID, RowMappers::mapWorkflow, workspace, workflowId);
    }

    private Rollout.MatchingVersion same(StoredRows.WorkflowRow workflow, String body) throws SQLException {
        if (has(workflow, workflow.version(), body)) {
            return Rollout.MatchingVersion.CURRENT;
        }
        return has(workflow, workflow.rollout().candidate(), body)
                ? Rollout.MatchingVersion.CANDIDATE
                : Rollout.MatchingVersion.NONE;
    }

    private boolean has(StoredRows.WorkflowRow workflow, int version, String body) throws SQLException {
        return session.queryOne(HAS_TEXT, row -> 1, workflow.workflowId(), version, body) != null;
    }

    /** Saves the rollout state; a new version number gets the text. */
    private StoredRows.WorkflowRow saveRollout(StoredRows.WorkflowRow before, Rollout next, VersionText text)
            throws SQLException {
        Rollout last = before.rollout();
        if (next.equals(last)) {
            return before;
        }
        if (next.latest() > last.latest()) {
            session.update(ADD, before.workflowId(), next.latest(), text.body(), text.at(), text.actor());
        }
        session.update(SET_ROLLOUT, next.version(), next.candidate(), next.percentage(), before.workflowId());
        edits.incrementCatalogRevision();
        return new StoredRows.WorkflowRow(
                before.ws(), before.name(), before.workflowId(), next, before.paused(), before.createdAt(), true);
    }
}
