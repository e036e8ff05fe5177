package dev.semel.testing.memory;

import dev.semel.effect.Ledger;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.Fair;
import dev.semel.store.Rows;
import dev.semel.store.Write;
import dev.semel.store.Write.Owned;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What owners write about their runs, and what is remembered of repeats. */
final class Driving {
    private final Tables tables;
    private final Gates gates;

    Driving(Tables tables, Gates gates) {
        this.tables = tables;
        this.gates = gates;
    }

    Owned append(Write.Append append, MemoryLane.Moment moment) {
        Work mine = mine(append.by(), moment);
        if (mine == null) {
            return Owned.FENCED;
        }
        Work work = mine.copy();
        work.move(append.state());
        Write.Rest rest = append.rest();
        if (rest == null ? append.isProgress() : !rest.suspect()) {
            work.falls = 0;
        }
        if (rest != null) {
            work.owner = null;
            work.waits = rest.waits();
            // A signal that came while the run went to rest must not be slept through.
            boolean wanted =
                    work.due < 0 || (work.cancel && !rest.cancelled()) || tables.signalsOf(work.run) > rest.signals();
            work.due = wanted ? 0 : rest.due();
        }
        tables.work.put(work.run, work);
        if (!append.entries().isEmpty()) {
            var chunk = new Tables.Chunk(append.run(), append.seq(), moment.now(), append.entries());
            tables.journal.add(new Pair<>(append.run(), append.seq()), chunk);
        }
        return new Owned(true, work.cancel, ledger(append.ops(), moment.now()));
    }

    private @Nullable Work mine(Write.Driver by, MemoryLane.Moment moment) {
        Work work = tables.work.get(by.run());
        return work != null && moment.lease() != null && work.drivenBy(by, moment.lease()) ? work : null;
    }

    private List<Ledger.Verdict> ledger(List<Ledger.Op> ops, long now) {
        List<Ledger.Verdict> verdicts = new ArrayList<>(ops.size());
        for (Ledger.Op op : ops) {
            Ledger.Change change = Ledger.apply(tables.effects.get(op.id()), op, now);
            tables.counted.deed(op, change.row());
            if (change.row() != null) {
                tables.effects.put(op.id(), change.row());
            }
            verdicts.add(change.verdict());
        }
        return verdicts;
    }

    Owned end(Write.End end, MemoryLane.Moment moment) {
        Work work = mine(end.by(), moment);
        if (work == null) {
            // Applied a second time after a lost answer: with the lease still held, the end on record is ours.
            return moment.lease() != null && tables.ends.has(end.run()) ? Owned.RECORDED : Owned.FENCED;
        }
        tables.work.remove(end.run());
        tables.ends.add(
                end.run(),
                new Tables.End(end.run(), end.state(), new Rows.End(moment.now(), end.ending(), end.entries())));
        List<Ledger.Verdict> verdicts = ledger(end.ops(), moment.now());
        if (work.gated != Work.Gated.NO) {
            gates.leave(end.run());
        }
        Tables.Run run = tables.runs.get(end.run());
        if (run != null && end.state() == RunState.COMPLETED && (end.stumbled() || work.fell)) {
            tables.counted.recovered(run.asked().workspace(), run.asked().workflowId(), end.run(), moment.now());
        }
        return new Owned(true, false, verdicts);
    }

    boolean tally(Write.Tally tally) {
        for (Write.Seen row : tally.rows()) {
            Tables.Run there = tables.runs.get(row.run()); // one that was removed meanwhile has no requests any more
            if (there != null && tables.requests.add(new Pair<>(row.run(), row.id()), row)) {
                tables.counted.seen(row, there.asked().workflowId());
                Rows.Counts before = tables.uses.get(row.run());
                Rows.Counts counts = before == null ? Rows.Counts.NONE : before;
                tables.uses.put(
                        row.run(),
                        new Rows.Counts(
                                counts.replays() + (row.conflict() ? 0 : row.times()),
                                counts.conflicts() + (row.conflict() ? row.times() : 0),
                                before == null ? row.at() : Math.max(counts.lastSeenAt(), row.at())));
            }
        }
        return true;
    }

    List<Write.Driver> claim(Write.Claim claim, MemoryLane.Moment moment) {
        Long lease = moment.lease();
        if (lease == null || claim.limit() == 0) {
            return List.of();
        }
        List<Work> due = tables.workDue.values().stream()
                .takeWhile(work -> work.due <= moment.now())
                .filter(work -> !claim.except().contains(work.workflowId))
                .toList();
        List<Fair.Group> groups = due.stream()
                .map(work -> work.workflowId)
                .distinct()
                .sorted()
                .map(this::group)
                .toList();
        List<Work> takeable =
                due.stream().filter(work -> work.falls <= claim.falls()).toList();
        return Fair.claim(claim.limit(), groups, moment.now(), shares -> {
            List<Fair.Taken> taken = new ArrayList<>();
            for (Fair.Share share : shares) {
                takeable.stream()
                        .filter(work -> work.workflowId.equals(share.group().workflowId()) && isFree(work.run))
                        .limit(share.most())
                        .forEach(work -> taken.add(new Fair.Taken(work.workflowId, take(work, lease))));
            }
            return taken;
        });
    }

    private Fair.Group group(String workflowId) {
        Rows.Workflow known = tables.workflowsById.get(workflowId);
        return new Fair.Group(known == null ? 0 : known.ws(), workflowId);
    }

    private boolean isFree(RunId run) {
        Work work = tables.work.get(run);
        return work != null && work.free();
    }

    private Write.Driver take(Work free, long lease) {
        Work work = free.copy();
        work.owner = lease;
        work.claims++;
        work.waits = null;
        work.move(
                switch (free.state()) {
                    case QUEUED, STARTED -> RunState.STARTED;
                    case RUNNING, WAITING, IN_DOUBT -> RunState.RUNNING;
                    case COMPLETED, FAILED, CANCELLED -> free.state();
                });
        tables.work.put(work.run, work);
        return new Write.Driver(work.run, work.claims);
    }

    /** differs: the user's code has no database to write to here, so it is not run at all. */
    Write.TxOutcome tx(Write.Tx tx, MemoryLane.Moment moment) {
        Work mine = mine(tx.by(), moment);
        if (mine == null) {
            return Owned.FENCED;
        }
        Work work = mine.copy();
        work.falls = 0;
        tables.work.put(work.run, work);
        if (tables.journal.has(new Pair<>(work.run, tx.seq()))) {
            return Owned.RECORDED;
        }
        return new Write.Undone(
                new UnsupportedOperationException("a store in memory has no SQL; the transaction did not begin"));
    }
}
