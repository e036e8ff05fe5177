package dev.semel.engine;

import dev.semel.journal.Entry;
import dev.semel.journal.Journal;
import dev.semel.journal.Memory;
import dev.semel.journal.Resumptions;
import dev.semel.key.Admissions;
import dev.semel.key.IdempotencyKey;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.Reads;
import dev.semel.store.Rows;
import dev.semel.workflow.Durable;
import dev.semel.workflow.Start;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** What earlier runs of a lineage have on record, for those that replay them. */
final class Earlier {
    private Earlier() {}

    /**
     * What a tx step of another run of the line left, whose rows are in the database since then; null where there is none.
     * No row of the ledger tells of it: the record of that run is the one that was committed with the rows. All others are
     * asked, whatever their ids: those are made by the clocks of workers, and a run that began later may come here first.
     */
    static @Nullable JsonNode committed(Execution execution, String path) {
        RunLoop.Resident run = execution.run();
        if (execution.memory().redo().contains(path)) {
            return null;
        }
        return execution.maybe(reads -> {
            for (RunId other : members(reads, run.lineage()).reversed()) { // the last word, where it was done again
                JsonNode result = other.equals(run.id()) ? null : committed(reads, other, path);
                if (result != null) {
                    return result;
                }
            }
            return null;
        });
    }

    /** What is written in these parts of a journal. */
    static List<Entry> entries(List<Reads.Chunk> chunks) {
        List<Entry> entries = new ArrayList<>();
        chunks.forEach(chunk -> entries.addAll(Journal.decode(chunk.entries())));
        return entries;
    }

    /** Whether nothing was done before it: it is the first run of its line, in its first life. */
    static boolean isFirst(RunLoop.Resident run) {
        return run.lineage().equals(run.id())
                && !Resumptions.isResumed(run.driver().claim());
    }

    /** All runs of a lineage, the oldest first. */
    static List<RunId> members(Reads reads, RunId first) {
        List<RunId> all = new ArrayList<>();
        all.add(first);
        all.addAll(reads.lineage(first));
        return all;
    }

    private static @Nullable JsonNode committed(Reads reads, RunId run, String path) {
        for (Entry entry : record(reads.claimed(run), reads.journal(run)).reversed()) {
            if (entry instanceof Entry.Done done
                    && done.kind() == Entry.Kind.TX
                    && done.path().equals(path)) {
                return done.result();
            }
        }
        return null;
    }

    /** Signals that came to a run and that it did not take; not what people decided, which is for the very question. */
    static List<Rows.Signal> untaken(Reads reads, RunId run) {
        Set<String> taken = new Memory(record(reads.claimed(run), reads.journal(run))).takenSignals();
        return reads.signals(run).stream()
                .filter(signal -> !signal.name().startsWith("#")
                        && !taken.contains(signal.id().text()))
                .toList();
    }

    /**
     * The run that a run of the lineage called at this place, also this one before it went on in place, whatever became of
     * the name under which it was found then; null where there is none, or this call means another one.
     */
    static @Nullable RunId called(Execution execution, String path, Durable.Child child) {
        if (isFirst(execution.run())) {
            return null;
        }
        RunLoop.Resident run = execution.run();
        String workflowId = execution.engine().starter().workflowId(run, child);
        return execution.maybe(reads -> {
            for (RunId member : members(reads, run.lineage()).reversed()) {
                RunId called = called(reads, member, path);
                Rows.Run found = called == null ? null : reads.claimed(called);
                if (found != null
                        && found.workflowId().equals(workflowId)
                        && isNamed(found, child.start())
                        && !runsAgain(reads, found)) {
                    return called;
                }
            }
            return null;
        });
    }

    private static @Nullable RunId called(Reads reads, RunId run, String path) {
        for (Entry entry : record(reads.claimed(run), reads.journal(run)).reversed()) {
            if (entry instanceof Entry.Begun begun
                    && begun.kind() == Entry.Kind.CALL
                    && begun.path().equals(path)
                    && begun.ref() != null) {
                return RunId.parse(begun.ref());
            }
        }
        return null;
    }

    /** One that has a name of its own is meant by it; one that has none is meant by its place. */
    private static boolean isNamed(Rows.Run run, Start start) {
        String key = start.key();
        String id = start.id();
        if (key == null && id == null) {
            return run.origin().key() == null && run.chosenId() == null;
        }
        return (key == null || IdempotencyKey.of(key).text().equals(run.origin().key()))
                && (id == null || id.equals(run.chosenId()));
    }

    /** It failed, and its key says that it is to be run again by whoever asks for it next. */
    private static boolean runsAgain(Reads reads, Rows.Run run) {
        String key = run.origin().key();
        Rows.Run speaks = speaker(reads, run.id());
        if (key == null || speaks == null || speaks.state() != RunState.FAILED) {
            return false;
        }
        long now = reads.now();
        return reads.key(run.ws(), key).stream()
                .map(Rows.Held::known)
                .anyMatch(known ->
                        known.run().equals(run.id()) && Admissions.standing(known, now) == Admissions.Standing.FAILED);
    }

    /**
     * Who speaks for a run that was called: itself, or where it has not completed what replayed it since, above all one
     * that did complete. Null where it is gone.
     */
    static Rows.@Nullable Run speaker(Reads reads, RunId called) {
        Rows.Run run = reads.claimed(called);
        if (run == null || run.end() == null || run.state() == RunState.COMPLETED) {
            return run;
        }
        return speaker(run, reads.heads(reads.lineage(run.lineage())));
    }

    /** @param line runs of its lineage, in any order */
    static Rows.Run speaker(Rows.Run called, List<Rows.Run> line) {
        Rows.Run best = called;
        for (Rows.Run one : line) {
            boolean later = one.id().compareTo(best.id()) > 0;
            boolean completed = one.state() == RunState.COMPLETED;
            boolean before = one.id().compareTo(called.id()) < 0;
            if (!before && (best.state() == RunState.COMPLETED ? completed && later : completed || later)) {
                best = one;
            }
        }
        return best;
    }

    /** The whole journal of a run: its chunks, and what its end holds. */
    static List<Entry> record(Rows.@Nullable Run run, List<Reads.Chunk> chunks) {
        List<Entry> entries = new ArrayList<>();
        chunks.forEach(chunk -> entries.addAll(Journal.decode(chunk.entries())));
        Rows.End end = run == null ? null : run.end();
        if (end != null && !end.entries().isEmpty()) {
            entries.addAll(Journal.decode(end.entries()));
        }
        return entries;
    }
}
