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

/** Finds what other runs of a lineage recorded: transaction results, called runs and unconsumed signals. */
final class Earlier {
    private Earlier() {}

    /**
     * Returns the result of a tx step that another run of the lineage committed, or null.
     * The ledger has no row for it: only the journal of that run does, committed with the user's rows. All runs are
     * checked: ids come from worker clocks and do not give the order.
     */
    static @Nullable JsonNode committed(Execution execution, String path) {
        RunLoop.Resident run = execution.run();
        if (execution.memory().redo().contains(path)) {
            return null;
        }
        return execution.maybe(reads -> {
            for (RunId other : members(reads, run.lineage()).reversed()) { // newest first, in case it was done again
                JsonNode result = other.equals(run.id()) ? null : committed(reads, other, path);
                if (result != null) {
                    return result;
                }
            }
            return null;
        });
    }

    /** Decodes the entries of journal chunks. */
    static List<Entry> entries(List<Reads.Chunk> chunks) {
        List<Entry> entries = new ArrayList<>();
        chunks.forEach(chunk -> entries.addAll(Journal.decode(chunk.entries())));
        return entries;
    }

    /** Whether nothing ran before: the first run of its lineage, never resumed. */
    static boolean isFirst(RunLoop.Resident run) {
        return run.lineage().equals(run.id())
                && !Resumptions.isResumed(run.driver().claim());
    }

    /** Returns all runs of a lineage, oldest first. */
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

    /**
     * Returns signals that a run received and did not consume, without decisions, which answer one specific question.
     */
    static List<Rows.Signal> untaken(Reads reads, RunId run) {
        Set<String> taken = new Memory(record(reads.claimed(run), reads.journal(run))).takenSignals();
        return reads.signals(run).stream()
                .filter(signal -> !signal.name().startsWith("#")
                        && !taken.contains(signal.id().text()))
                .toList();
    }

    /**
     * Returns the run that this lineage called at this step, even if its key has expired since.
     * Null if there is none, or if this call means another run.
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

    /** A run with its own key or id must match it; one without must have been called without. */
    private static boolean isNamed(Rows.Run run, Start start) {
        String key = start.key();
        String id = start.id();
        if (key == null && id == null) {
            return run.origin().key() == null && run.chosenId() == null;
        }
        return (key == null || IdempotencyKey.of(key).text().equals(run.origin().key()))
                && (id == null || id.equals(run.chosenId()));
    }

    /** Whether it failed and the policy of its key runs it again on the next request. */
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
     * Returns the run whose outcome counts for a called run: itself, or, if it did not complete, its newest replay.
     * Completed replays come first. Null if the run is gone.
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

    /** Decodes the whole journal of a run: its chunks and the entries of its end. */
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
