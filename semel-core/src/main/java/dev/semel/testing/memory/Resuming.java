package dev.semel.testing.memory;

import dev.semel.effect.Ledger;
import dev.semel.key.Known;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.Edit;
import dev.semel.store.Rows;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A run that failed goes on in place. */
final class Resuming {
    private final Tables tables;
    private final Edits edits;

    Resuming(Tables tables, Edits edits) {
        this.tables = tables;
        this.edits = edits;
    }

    Edit.Resumed resume(Edit.Resume resume, long now) {
        if (edits.isDone(resume.by())) {
            return Edit.Resumed.DONE;
        }
        Tables.Run run = tables.runs.get(resume.run());
        Tables.End end = tables.ends.get(resume.run());
        if (run == null
                || run.asked().workspace() != resume.workspace()
                || end == null
                || end.state() != RunState.FAILED
                || end.end().endedAt() != resume.endedAt()) {
            return Edit.Resumed.MOVED;
        }
        if (isFollowed(run) || tables.keys.has(resume.name().name())) {
            return Edit.Resumed.FOLLOWED;
        }
        Admitting.take(tables, resume.name(), run.id(), now);
        hold(run.id());
        apply(resume, run, now);
        return Edit.Resumed.DONE;
    }

    private boolean isFollowed(Tables.Run run) {
        return tables.links.rows().values().stream().anyMatch(link -> run.id().equals(link.replayOf()))
                || tables.runs.rows().values().stream()
                        .anyMatch(other -> other.lineage().equals(run.lineage())
                                && !other.lineage().equals(other.id())
                                && run.id().equals(other.previous()));
    }

    /** differs: nobody takes a name over at the same time here; the row is only to be the same. */
    private void hold(RunId run) {
        List<Tables.Key> freed = tables.keys.rows().values().stream()
                .filter(key -> key.run().equals(run) && (key.flags() & Known.RERUN_FAILED) != 0)
                .toList();
        for (Tables.Key key : freed) {
            var held = new Tables.Key(
                    key.name(), key.run(), key.digest(), key.firstAt(), key.expiresAt() + 1, key.flags());
            tables.keys.put(key.name(), held);
        }
    }

    private void apply(Edit.Resume resume, Tables.Run run, long now) {
        var chunk = new Tables.Chunk(run.id(), resume.seq(), now, resume.entries());
        tables.journal.add(new Pair<>(run.id(), resume.seq()), chunk);
        tables.ends.remove(run.id());
        Rows.@Nullable Workflow workflow = tables.workflowsById.get(run.asked().workflowId());
        boolean paused = workflow != null && workflow.paused();
        Work work = new Work(run.id(), run.asked().workflowId(), paused ? RunState.QUEUED : RunState.RUNNING);
        work.claims = resume.claims();
        work.held = paused;
        tables.work.put(run.id(), work);
        new Gates(tables).again(run.id(), resume.places());
        for (Ledger.Op op : resume.ops()) {
            Ledger.Row row = Ledger.apply(tables.effects.get(op.id()), op, now).row();
            tables.counted.deed(op, row);
            if (row != null) {
                tables.effects.put(op.id(), row);
            }
        }
        edits.audit(
                resume.workspace(),
                now,
                resume.by(),
                List.of("run.resume", run.id().text()));
    }
}
