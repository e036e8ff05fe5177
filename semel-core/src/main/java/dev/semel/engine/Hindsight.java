package dev.semel.engine;

import dev.semel.effect.Ledger;
import dev.semel.journal.Entry;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.Reads;
import dev.semel.store.Rows;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Everything that a replay preview reads from the store: lineages, newest journals, ledger rows and called runs.
 *
 * @param runs the requested runs and all runs of their lineages, without journals
 * @param lines the other runs of a lineage by its first run, oldest first
 * @param journals of the newest runs
 * @param rows by the run that holds them
 * @param called the called runs by their ids in the journal, without deleted ones
 */
record Hindsight(
        long now,
        Map<RunId, Rows.Run> runs,
        Map<RunId, List<RunId>> lines,
        Map<RunId, List<Entry>> journals,
        Map<RunId, List<Ledger.Row>> rows,
        Map<String, Heard> called) {
    /** A called run, and the run of its lineage whose outcome counts. */
    record Heard(Rows.Run called, Rows.Run speaks) {}

    static Hindsight of(Reads reads, List<RunId> ids, int workspace) {
        Map<RunId, Rows.Run> runs = new HashMap<>();
        keep(reads, ids, workspace, runs);
        Map<RunId, List<RunId>> lines = reads.lineages(firsts(runs.values()));
        Set<RunId> relatives = new HashSet<>();
        lines.forEach((first, others) -> {
            relatives.add(first);
            relatives.addAll(others);
        });
        relatives.removeAll(runs.keySet());
        keep(reads, List.copyOf(relatives), workspace, runs);
        Map<RunId, List<Ledger.Row>> rows = new HashMap<>();
        for (Ledger.Row row : reads.effects(List.copyOf(runs.keySet()))) {
            rows.computeIfAbsent(row.holder().run(), _ -> new ArrayList<>()).add(row);
        }
        Map<RunId, List<Entry>> journals = journals(reads, runs, lines);
        return new Hindsight(reads.now(), runs, lines, journals, rows, called(reads, workspace, journals.values()));
    }

    private static List<RunId> firsts(Collection<Rows.Run> runs) {
        return runs.stream().map(Rows.Run::lineage).distinct().toList();
    }

    private static void keep(Reads reads, List<RunId> ids, int workspace, Map<RunId, Rows.Run> runs) {
        for (Rows.Run one : ids.isEmpty() ? List.<Rows.Run>of() : reads.heads(ids)) {
            if (one.ws() == workspace) {
                runs.put(one.id(), one);
            }
        }
    }

    /** Reads only the newest journal of each lineage, since only that run is replayed. */
    private static Map<RunId, List<Entry>> journals(
            Reads reads, Map<RunId, Rows.Run> runs, Map<RunId, List<RunId>> lines) {
        Set<RunId> newest = new HashSet<>();
        for (RunId first : firsts(runs.values())) {
            List<RunId> others = lines.getOrDefault(first, List.of());
            newest.add(others.isEmpty() ? first : others.getLast());
        }
        newest.retainAll(runs.keySet());
        Map<RunId, List<Entry>> journals = new HashMap<>();
        for (Reads.Recorded one : newest.isEmpty() ? List.<Reads.Recorded>of() : reads.recorded(List.copyOf(newest))) {
            journals.put(one.run().id(), Earlier.record(one.run(), one.journal()));
        }
        return journals;
    }

    private static Map<String, Heard> called(Reads reads, int workspace, Collection<List<Entry>> journals) {
        Set<RunId> refs = new HashSet<>();
        for (List<Entry> entries : journals) {
            for (Entry entry : entries) {
                RunId ref = entry instanceof Entry.Begun begun && begun.kind() == Entry.Kind.CALL && begun.ref() != null
                        ? RunId.parse(begun.ref())
                        : null;
                if (ref != null) {
                    refs.add(ref);
                }
            }
        }
        Map<RunId, Rows.Run> found = new HashMap<>();
        keep(reads, List.copyOf(refs), workspace, found);
        List<Rows.Run> failed = found.values().stream()
                .filter(run -> run.end() != null && run.state() != RunState.COMPLETED)
                .toList();
        Map<RunId, List<RunId>> lines = failed.isEmpty() ? Map.of() : reads.lineages(firsts(failed));
        Map<RunId, Rows.Run> later = new HashMap<>();
        keep(reads, lines.values().stream().flatMap(List::stream).toList(), workspace, later);
        Map<String, Heard> called = new HashMap<>();
        found.forEach((id, run) -> {
            List<Rows.Run> line = later.values().stream()
                    .filter(one -> one.lineage().equals(run.lineage()))
                    .toList();
            called.put(id.text(), new Heard(run, failed.contains(run) ? Earlier.speaker(run, line) : run));
        });
        return called;
    }

    /** Returns all existing runs of its lineage, oldest first. */
    List<Rows.Run> line(Rows.Run run) {
        List<RunId> ids = new ArrayList<>();
        ids.add(run.lineage());
        ids.addAll(lines.getOrDefault(run.lineage(), List.of()));
        List<Rows.Run> members = new ArrayList<>();
        for (RunId id : ids) {
            Rows.Run one = runs.get(id);
            if (one != null) {
                members.add(one);
            }
        }
        return members.isEmpty() ? List.of(run) : members;
    }

    /** Returns null if its journal was deleted. */
    @Nullable
    List<Entry> journal(Rows.Run run) {
        return journals.get(run.id());
    }
}
