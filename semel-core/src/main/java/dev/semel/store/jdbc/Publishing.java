package dev.semel.store.jdbc;

import dev.semel.store.Edit;
import dev.semel.store.Rollout;
import dev.semel.store.Rows;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Publishes workflow versions, stages and promotes candidates, rolls back and pauses workflows. */
final class Publishing {
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

    private final Session session;
    private final Edits edits;

    Publishing(Session session, Edits edits) {
        this.session = session;
        this.edits = edits;
    }

    /** The text of a version with its publisher and time. */
    private record Text(String body, String actor, long at) {}

    Rows.Workflow publish(Edit.Publish publish, long now) throws SQLException {
        session.update(CREATE, publish.workspace(), publish.name(), publish.workflowId(), now);
        session.update(LOCK, publish.workspace(), publish.name());
        Rows.Workflow before = session.one(FIND, Read::workflow, publish.workspace(), publish.name());
        if (before == null) {
            throw new IllegalStateException("Workflow " + publish.name() + " was not found while it was published");
        }
        Rollout next = before.rollout().published(same(before, publish.body()));
        return saveRollout(before, next, new Text(publish.body(), publish.actor(), now));
    }

    /** The caller has locked the catalog, so that what is read here does not change before this transaction ends. */
    Rows.@Nullable Workflow publish(Edit.PublishOver over, long now) throws SQLException {
        Edit.Publish publish = over.publish();
        Rows.Workflow before = session.one(FIND, Read::workflow, publish.workspace(), publish.name());
        boolean current = before != null && same(before, publish.body()) == Rollout.Same.CURRENT;
        Long change = session.one("SELECT revision FROM semel_catalog WHERE singleton = 1", row -> row.getLong(1));
        boolean counted = over.counted() == null || over.counted().equals(change);
        boolean seen = over.seen() == null || over.seen().holds(before == null ? null : before.rollout());
        return current || counted && seen ? publish(publish, now) : null;
    }

    Rows.@Nullable Workflow stage(Edit.Stage stage, long now) throws SQLException {
        session.update(LOCK, stage.workspace(), stage.name());
        Rows.Workflow before = session.one(FIND, Read::workflow, stage.workspace(), stage.name());
        if (before == null) {
            return null;
        }
        Rollout next = before.rollout().staged(same(before, stage.body()), stage.share());
        return saveRollout(before, next, new Text(stage.body(), stage.actor(), now));
    }

    Rows.@Nullable Workflow promote(Edit.Promote promote, long now) throws SQLException {
        Rows.Workflow before = locked(promote.workspace(), promote.workflowId());
        if (before == null) {
            return null;
        }
        Text none = new Text("", promote.actor(), now);
        Rows.Workflow after = saveRollout(before, before.rollout().promoted(promote.version()), none);
        if (after.changed()) {
            String what = "version " + after.version();
            edits.audit(
                    after.ws(),
                    now,
                    new Edit.By(edits.newId(), promote.actor(), what),
                    List.of("workflow.promote", after.name()));
        }
        return after;
    }

    Rows.@Nullable Workflow rollback(Edit.Rollback back, long now) throws SQLException {
        Rows.Workflow before = locked(back.workspace(), back.workflowId());
        String body = back.version() == 0
                ? ""
                : session.one(TEXT, row -> row.getString(1), back.workflowId(), back.version());
        if (before == null || body == null) {
            return null;
        }
        Rollout next = back.version() == 0 ? before.rollout() : before.rollout().published(same(before, body));
        Rows.Workflow after = saveRollout(before, next.ended(), new Text(body, back.actor(), now));
        if (after.changed()) {
            edits.audit(
                    after.ws(),
                    now,
                    new Edit.By(edits.newId(), back.actor(), back.reason()),
                    List.of("workflow.rollback", after.name()));
        }
        return after;
    }

    Rows.@Nullable Workflow pause(Edit.Pause pause) throws SQLException {
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
            session.update(
                    """
                    UPDATE semel_unfinished_run SET start_blocked = 0
                    WHERE workflow_id = ? AND start_blocked = 1 AND queue_state <> 2
                    """,
                    pause.workflowId());
        }
        edits.bumpCatalog();
        return session.one(FIND_BY_ID, Read::workflow, pause.workspace(), pause.workflowId());
    }

    private Rows.@Nullable Workflow locked(int workspace, String workflowId) throws SQLException {
        session.update(LOCK_BY_ID, workspace, workflowId);
        return session.one(FIND_BY_ID, Read::workflow, workspace, workflowId);
    }

    private Rollout.Same same(Rows.Workflow workflow, String body) throws SQLException {
        if (has(workflow, workflow.version(), body)) {
            return Rollout.Same.CURRENT;
        }
        return has(workflow, workflow.rollout().candidate(), body) ? Rollout.Same.CANDIDATE : Rollout.Same.NONE;
    }

    private boolean has(Rows.Workflow workflow, int version, String body) throws SQLException {
        return session.one(HAS_TEXT, row -> 1, workflow.workflowId(), version, body) != null;
    }

    /** Saves the rollout state; a new version number gets the text. */
    private Rows.Workflow saveRollout(Rows.Workflow before, Rollout next, Text text) throws SQLException {
        Rollout last = before.rollout();
        if (next.equals(last)) {
            return before;
        }
        if (next.latest() > last.latest()) {
            session.update(ADD, before.workflowId(), next.latest(), text.body(), text.at(), text.actor());
        }
        session.update(SET_ROLLOUT, next.version(), next.candidate(), next.share(), before.workflowId());
        edits.bumpCatalog();
        return new Rows.Workflow(
                before.ws(), before.name(), before.workflowId(), next, before.paused(), before.createdAt(), true);
    }
}
