package dev.semel.testing.memory;

import dev.semel.effect.Ledger;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.Edit;
import dev.semel.store.Name;
import dev.semel.store.Rows;
import dev.semel.store.Write;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;

/** What people and other runs do to a run. */
final class RunEdits {
    private final Tables tables;
    private final Supplier<RunId> ids;

    RunEdits(Tables tables, Supplier<RunId> ids) {
        this.tables = tables;
        this.ids = ids;
    }

    Edit.Signalled signal(Edit.Signal signal, long now) {
        if (!unfinished(signal.workspace(), signal.run())) {
            return Edit.Signalled.GONE;
        }
        return deliver(signal.run(), new Rows.Signal(ids.get(), signal.name(), signal.key(), signal.value(), now));
    }

    Edit.Signalled deliver(RunId run, Rows.Signal row) {
        var key = new Pair<>(run, new Pair<>(row.name(), row.key()));
        if (!tables.signals.add(key, new Tables.Signal(run, row))) {
            return Edit.Signalled.REPEATED;
        }
        // A run that rests in doubt may wait for the signal in another branch.
        change(
                run,
                work -> work.state() == RunState.WAITING || work.state() == RunState.IN_DOUBT,
                work -> work.due = 0);
        return Edit.Signalled.DELIVERED;
    }

    private boolean unfinished(int workspace, RunId id) {
        Tables.Run run = tables.runs.get(id);
        return run != null && run.asked().workspace() == workspace && tables.work.has(id);
    }

    boolean cancel(Edit.Cancel cancel) {
        return unfinished(cancel.workspace(), cancel.run())
                && change(cancel.run(), _ -> true, work -> {
                    work.cancel = true;
                    work.due = Math.min(0, work.due); // a wake-up that is kept stays kept
                    work.held = false;
                });
    }

    int wake(Edit.Wake wake) {
        int woken = 0;
        for (RunId run : wake.runs()) {
            woken += change(run, _ -> true, RunEdits::wake) ? 1 : 0;
        }
        return woken;
    }

    /** What comes for a run that somebody drives is kept: below zero it does not rest before it has looked again. */
    private static void wake(Work work) {
        work.due = work.owner == null ? 0 : -1;
    }

    boolean giveBack(Write.Driver driver) {
        return change(
                driver.run(), work -> work.owner != null && work.claims == driver.claim(), work -> work.owner = null);
    }

    int wakeHeld(String workflowId) {
        int woken = 0;
        for (Work work : ofWorkflow(workflowId)) {
            boolean heldForCode = work.waits != null && work.waits.contains("\"for\":\"code\"");
            woken += change(work.run, _ -> work.owner == null && heldForCode, copy -> copy.due = 0) ? 1 : 0;
        }
        return woken;
    }

    boolean goOn(Edit.GoOn on) {
        return unfinished(on.workspace(), on.run())
                && change(on.run(), RunEdits::isHeld, work -> {
                    work.falls = 0;
                    work.due = 0;
                });
    }

    private static boolean isHeld(Work work) {
        return work.owner == null && waitsForRepair(work);
    }

    /** Whether what it says of its wait is that it is held. */
    static boolean waitsForRepair(Work work) {
        String waits = work.waits;
        return waits != null
                && (waits.contains("\"for\":\"code\"")
                        || waits.contains("\"for\":\"poison\"")
                        || waits.contains("\"for\":\"store\""));
    }

    private List<Work> ofWorkflow(String workflowId) {
        return tables.workByWorkflow.tailMap(new Pair<>(workflowId, Tables.FIRST)).values().stream()
                .takeWhile(work -> work.workflowId.equals(workflowId))
                .toList();
    }

    boolean decide(Edit.Decide decide, long now) {
        Ledger.Row row = tables.effects.get(decide.effect());
        if (row == null
                || row.state() != Ledger.State.UNKNOWN
                || !row.holder().run().equals(decide.run())) {
            return false;
        }
        Ledger.State to = decide.result() == null ? Ledger.State.FREE : Ledger.State.DONE;
        var settle = new Ledger.Settle(row.id(), row.holder(), to, decide.result());
        Ledger.Row decided = Ledger.apply(row, settle, now).row();
        tables.counted.deed(settle, decided);
        if (decided == null) {
            return false;
        }
        tables.effects.put(row.id(), decided);
        change(decide.run(), _ -> true, RunEdits::wake);
        change(decide.run(), work -> work.owner == null, work -> {
            work.waits = null;
            work.move(RunState.RUNNING);
        });
        return true;
    }

    int retire(Edit.DeleteRuns delete, long now) {
        int gone = 0;
        for (RunId first : delete.first()) {
            List<RunId> lineage = tables.runs.rows().values().stream()
                    .filter(run -> run.lineage().equals(first))
                    .map(Tables.Run::id)
                    .toList();
            if (lineage.stream().allMatch(run -> mayGo(run, delete.endedBefore(), now))) {
                lineage.forEach(this::remove);
                gone += lineage.size();
            }
        }
        return gone;
    }

    int blank(Edit.BlankRuns blank, long now) {
        int blanked = 0;
        for (RunId first : blank.first()) {
            List<RunId> lineage = tables.runs.rows().values().stream()
                    .filter(run -> run.lineage().equals(first))
                    .map(Tables.Run::id)
                    .toList();
            if (lineage.stream().allMatch(run -> mayGo(run, blank.endedBefore(), now))) {
                for (RunId run : lineage) {
                    blanked += tables.blank(run) ? 1 : 0;
                }
            }
        }
        return blanked;
    }

    private boolean mayGo(RunId run, long endedBefore, long now) {
        Tables.End end = tables.ends.get(run);
        boolean needed = tables.effects.rows().values().stream()
                        .anyMatch(row -> row.holder().run().equals(run)
                                && (row.state() == Ledger.State.RESERVED
                                        || row.state() == Ledger.State.UNKNOWN
                                        || row.expiresAt() > now))
                || tables.keys.rows().values().stream()
                        .anyMatch(key -> key.run().equals(run) && !lastsWithRun(key));
        return end != null && end.end().endedAt() < endedBefore && !needed && !hasParent(run, endedBefore);
    }

    /** Whether it was called by a run whose lineage stays: a replay of that one looks for what it did. */
    private boolean hasParent(RunId run, long endedBefore) {
        Tables.Link link = tables.links.get(run);
        Tables.Run parent = link == null || link.parent() == null ? null : tables.runs.get(link.parent());
        return parent != null
                && tables.runs.rows().values().stream()
                        .filter(one -> one.lineage().equals(parent.lineage()))
                        .map(one -> tables.ends.get(one.id()))
                        .anyMatch(end -> end == null || end.end().endedAt() >= endedBefore);
    }

    private static boolean lastsWithRun(Tables.Key key) {
        return key.name().kind() == Name.Kind.RUN || key.name().kind() == Name.Kind.CHILD;
    }

    private void remove(RunId run) {
        tables.removeAllOf(run);
    }

    /** Puts a changed copy in the place of the row, where there is one that fits. */
    private boolean change(RunId run, Predicate<Work> where, Consumer<Work> set) {
        Work work = tables.work.get(run);
        if (work == null || !where.test(work)) {
            return false;
        }
        Work copy = work.copy();
        set.accept(copy);
        tables.work.put(run, copy);
        return true;
    }

    /** Lets go what a pause held; answers how many. */
    int resume(List<Work> paused) {
        for (Work work : paused) {
            change(work.run, _ -> true, copy -> copy.held = false);
        }
        return paused.size();
    }
}
