package dev.semel.testing.memory;

import dev.semel.store.Edit;
import dev.semel.store.Rollout;
import dev.semel.store.Rows;
import dev.semel.store.StoreFailure;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Versions of workflows and who gets them. */
final class Publishing {
    private final Tables tables;
    private final Edits edits;

    Publishing(Tables tables, Edits edits) {
        this.tables = tables;
        this.edits = edits;
    }

    /** A text with whoever publishes it, and when. */
    private record Text(String body, String actor, long at) {}

    Rows.Workflow publish(Edit.Publish publish, long now) {
        Rows.Workflow before = tables.workflows.get(new Pair<>(publish.workspace(), publish.name()));
        if (before == null && tables.workflowsById.containsKey(publish.workflowId())) {
            throw new StoreFailure.Poisoned(
                    "the store refused a value", new IllegalArgumentException("another workflow has this id"));
        }
        Rows.Workflow known = before != null
                ? before
                : new Rows.Workflow(publish.workspace(), publish.name(), publish.workflowId(), 0, false, now, false);
        Rollout next = known.rollout().published(same(known, publish.body()));
        return turned(known, next, new Text(publish.body(), publish.actor(), now));
    }

    Rows.@Nullable Workflow publish(Edit.PublishOver over, long now) {
        Edit.Publish publish = over.publish();
        Rows.Workflow before = tables.workflows.get(new Pair<>(publish.workspace(), publish.name()));
        boolean current = before != null && same(before, publish.body()) == Rollout.Same.CURRENT;
        boolean counted = over.counted() == null || over.counted().equals(tables.catalog.get(Tables.ONE));
        boolean seen = over.seen() == null || over.seen().holds(before == null ? null : before.rollout());
        return current || counted && seen ? publish(publish, now) : null;
    }

    Rows.@Nullable Workflow stage(Edit.Stage stage, long now) {
        Rows.Workflow before = tables.workflows.get(new Pair<>(stage.workspace(), stage.name()));
        if (before == null) {
            return null;
        }
        Rollout next = before.rollout().staged(same(before, stage.body()), stage.share());
        return turned(before, next, new Text(stage.body(), stage.actor(), now));
    }

    Rows.@Nullable Workflow promote(Edit.Promote promote, long now) {
        Rows.Workflow before = find(promote.workspace(), promote.workflowId());
        if (before == null) {
            return null;
        }
        Text none = new Text("", promote.actor(), now);
        Rows.Workflow after = turned(before, before.rollout().promoted(promote.version()), none);
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

    Rows.@Nullable Workflow rollback(Edit.Rollback back, long now) {
        Rows.Workflow before = find(back.workspace(), back.workflowId());
        Tables.Version text = tables.versions.get(new Pair<>(back.workflowId(), back.version()));
        if (before == null || (back.version() != 0 && text == null)) {
            return null;
        }
        String body = text == null ? "" : text.body();
        Rollout next = text == null ? before.rollout() : before.rollout().published(same(before, body));
        Rows.Workflow after = turned(before, next.ended(), new Text(body, back.actor(), now));
        if (after.changed()) {
            edits.audit(
                    after.ws(),
                    now,
                    new Edit.By(edits.newId(), back.actor(), back.reason()),
                    List.of("workflow.rollback", after.name()));
        }
        return after;
    }

    /** A workflow of this workspace; null where it is not there, or another workspace's. */
    Rows.@Nullable Workflow find(int workspace, String workflowId) {
        Rows.Workflow found = tables.workflowsById.get(workflowId);
        return found == null || found.ws() != workspace ? null : found;
    }

    private Rollout.Same same(Rows.Workflow workflow, String body) {
        if (has(workflow, workflow.version(), body)) {
            return Rollout.Same.CURRENT;
        }
        return has(workflow, workflow.rollout().candidate(), body) ? Rollout.Same.CANDIDATE : Rollout.Same.NONE;
    }

    private boolean has(Rows.Workflow workflow, int version, String body) {
        Tables.Version row = tables.versions.get(new Pair<>(workflow.workflowId(), version));
        return row != null && row.body().equals(body);
    }

    /** A number that nobody had before gets the text. */
    private Rows.Workflow turned(Rows.Workflow before, Rollout next, Text text) {
        Rollout last = before.rollout();
        if (next.equals(last)) {
            return before;
        }
        String id = before.workflowId();
        if (next.latest() > last.latest()) {
            var version = new Tables.Version(id, next.latest(), text.body(), text.at(), text.actor());
            tables.versions.put(new Pair<>(id, next.latest()), version);
        }
        var after = new Rows.Workflow(before.ws(), before.name(), id, next, before.paused(), before.createdAt(), false);
        tables.workflows.put(new Pair<>(before.ws(), before.name()), after);
        edits.bumpCatalog();
        return after.changed(true);
    }
}
