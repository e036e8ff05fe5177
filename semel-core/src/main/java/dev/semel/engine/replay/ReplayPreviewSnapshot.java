package dev.semel.engine.replay;

import dev.semel.effect.EffectLedger;
import dev.semel.engine.step.PreviousRunResultFinder;
import dev.semel.journal.JournalEntry;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreQueries;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * @param runs the requested runs and all runs of their lineages, without journals
 * @param lineages the other runs of a lineage by its first run, oldest first
 * @param journals of the newest runs
 * @param ledgerRows by the run that holds them
 * @param calledRuns the called runs by their ids in the journal, without deleted ones
 */
record ReplayPreviewSnapshot(
        long now,
        Map<RunId, DatabaseRows.RunRow> runs,
        Map<RunId, List<RunId>> lineages,
        Map<RunId, List<JournalEntry>> journals,
        Map<RunId, List<EffectLedger.EffectRow>> ledgerRows,
        Map<String, CalledRun> calledRuns) {
    /** A called run, and the run of its lineage whose outcome counts. */
    record CalledRun(DatabaseRows.RunRow called, DatabaseRows.RunRow effective) {}

    static ReplayPreviewSnapshot read(StoreQueries reads, List<RunId> ids, int workspace) {
        Map<RunId, DatabaseRows.RunRow> runs = new HashMap<>();
        keep(reads, ids, workspace, runs);
        Map<RunId, List<RunId>> lines = reads.lineages(firsts(runs.values()));
        Set<RunId> relatives = new HashSet<>();
        lines.forEach((first, others) -> {
            relatives.add(first);
            relatives.addAll(others);
        });
        relatives.removeAll(runs.keySet());
        keep(reads, List.copyOf(relatives), workspace, runs);
        Map<RunId, List<EffectLedger.EffectRow>> rows = new HashMap<>();
        for (EffectLedger.EffectRow row : reads.effects(List.copyOf(runs.keySet()))) {
            rows.computeIfAbsent(row.holder().run(), _ -> new ArrayList<>()).add(row);
        }
        Map<RunId, List<JournalEntry>> journals = journals(reads, runs, lines);
        return new ReplayPreviewSnapshot(
                reads.now(), runs, lines, journals, rows, calledRuns(reads, workspace, journals.values()));
    }

    private static List<RunId> firsts(Collection<DatabaseRows.RunRow> runs) {
        return runs.stream().map(DatabaseRows.RunRow::lineage).distinct().toList();
    }

    private static void keep(StoreQueries reads, List<RunId> ids, int workspace, Map<RunId, DatabaseRows.RunRow> runs) {
        for (DatabaseRows.RunRow one : ids.isEmpty() ? List.<DatabaseRows.RunRow>of() : reads.runsWithoutJournal(ids)) {
            if (one.ws() == workspace) {
                runs.put(one.id(), one);
            }
        }
    }

    /** Reads only the newest journal of each lineage, since only that run is replayed. */
    private static Map<RunId, List<JournalEntry>> journals(
            StoreQueries reads, Map<RunId, DatabaseRows.RunRow> runs, Map<RunId, List<RunId>> lines) {
        Set<RunId> newest = new HashSet<>();
        for (RunId first : firsts(runs.values())) {
            List<RunId> others = lines.getOrDefault(first, List.of());
            newest.add(others.isEmpty() ? first : others.getLast());
        }
        newest.retainAll(runs.keySet());
        Map<RunId, List<JournalEntry>> journals = new HashMap<>();
        for (StoreQueries.JournaledRun one :
                newest.isEmpty() ? List.<StoreQueries.JournaledRun>of() : reads.runsWithJournal(List.copyOf(newest))) {
            journals.put(one.run().id(), PreviousRunResultFinder.readJournal(one.run(), one.journal()));
        }
        return journals;
    }

    private static Map<String, CalledRun> calledRuns(
            StoreQueries reads, int workspace, Collection<List<JournalEntry>> journals) {
        Set<RunId> refs = new HashSet<>();
        for (List<JournalEntry> entries : journals) {
            for (JournalEntry entry : entries) {
                RunId ref = entry instanceof JournalEntry.WaitStart begun
                                && begun.kind() == JournalEntry.EntryKind.CALL
                                && begun.ref() != null
                        ? RunId.parse(begun.ref())
                        : null;
                if (ref != null) {
                    refs.add(ref);
                }
            }
        }
        Map<RunId, DatabaseRows.RunRow> found = new HashMap<>();
        keep(reads, List.copyOf(refs), workspace, found);
        List<DatabaseRows.RunRow> failed = found.values().stream()
                .filter(run -> run.end() != null && run.state() != RunState.COMPLETED)
                .toList();
        Map<RunId, List<RunId>> lines = failed.isEmpty() ? Map.of() : reads.lineages(firsts(failed));
        Map<RunId, DatabaseRows.RunRow> later = new HashMap<>();
        keep(reads, lines.values().stream().flatMap(List::stream).toList(), workspace, later);
        Map<String, CalledRun> called = new HashMap<>();
        found.forEach((id, run) -> {
            List<DatabaseRows.RunRow> line = later.values().stream()
                    .filter(one -> one.lineage().equals(run.lineage()))
                    .toList();
            called.put(
                    id.text(),
                    new CalledRun(
                            run, failed.contains(run) ? PreviousRunResultFinder.findEffectiveRun(run, line) : run));
        });
        return called;
    }

    /** Returns all existing runs of its lineage, oldest first. */
    List<DatabaseRows.RunRow> lineageOf(DatabaseRows.RunRow run) {
        List<RunId> ids = new ArrayList<>();
        ids.add(run.lineage());
        ids.addAll(lineages.getOrDefault(run.lineage(), List.of()));
        List<DatabaseRows.RunRow> members = new ArrayList<>();
        for (RunId id : ids) {
            DatabaseRows.RunRow one = runs.get(id);
            if (one != null) {
                members.add(one);
            }
        }
        return members.isEmpty() ? List.of(run) : members;
    }

    /** Returns null if its journal was deleted. */
    @Nullable
    List<JournalEntry> journalOf(DatabaseRows.RunRow run) {
        return journals.get(run.id());
    }
}
