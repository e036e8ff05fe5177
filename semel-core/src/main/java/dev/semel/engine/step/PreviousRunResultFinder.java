package dev.semel.engine.step;

import dev.semel.admission.TriggerAdmissionRules;
import dev.semel.definition.DurableWorkflowOperations;
import dev.semel.idempotency.IdempotencyKey;
import dev.semel.journal.JournalCodec;
import dev.semel.journal.JournalEntry;
import dev.semel.journal.ResumedRunJournalReader;
import dev.semel.journal.RunJournalStepIndex;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreQueries;
import dev.semel.workflow.Start;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Finds what other runs of a lineage recorded: transaction results, called runs and unconsumed signals. */
public final class PreviousRunResultFinder {
    private PreviousRunResultFinder() {}

    /** Only that run's journal has it, committed with the user's rows. Ids give no order, so all runs are checked. */
    static @Nullable JsonNode findTransactionResult(InMemoryRunExecutionState execution, String path) {
        ActiveRun run = execution.run();
        if (execution.journal().redoPaths().contains(path)) {
            return null;
        }
        return execution.readNullable(reads -> {
            for (RunId other :
                    findMembers(reads, run.lineage()).reversed()) { // newest first, in case it was done again
                JsonNode result = other.equals(run.id()) ? null : findTransactionResult(reads, other, path);
                if (result != null) {
                    return result;
                }
            }
            return null;
        });
    }

    static List<JournalEntry> decode(List<StoreQueries.JournalChunk> chunks) {
        return JournalCodec.decodeAll(
                chunks.stream().map(StoreQueries.JournalChunk::entries).toList());
    }

    /** Whether nothing ran before: the first run of its lineage, never resumed. */
    public static boolean isFirstExecution(ActiveRun run) {
        return run.lineage().equals(run.id())
                && !ResumedRunJournalReader.isAfterResumption(run.driver().claim());
    }

    /** Returns all runs of a lineage, oldest first. */
    public static List<RunId> findMembers(StoreQueries reads, RunId first) {
        List<RunId> all = new ArrayList<>();
        all.add(first);
        all.addAll(reads.lineage(first));
        return all;
    }

    private static @Nullable JsonNode findTransactionResult(StoreQueries reads, RunId run, String path) {
        for (JournalEntry entry :
                readJournal(reads.claimedRun(run), reads.journal(run)).reversed()) {
            if (entry instanceof JournalEntry.StepResult done
                    && done.kind() == JournalEntry.EntryKind.TX
                    && done.path().equals(path)) {
                return done.result();
            }
        }
        return null;
    }

    /** Decisions are left out: they answer one specific question. */
    public static List<DatabaseRows.SignalRow> findUnconsumedSignals(StoreQueries reads, RunId run) {
        Set<String> taken =
                new RunJournalStepIndex(readJournal(reads.claimedRun(run), reads.journal(run))).consumedSignals();
        return reads.signals(run).stream()
                .filter(signal -> !signal.name().startsWith("#")
                        && !taken.contains(signal.id().text()))
                .toList();
    }

    /** Finds it even if its key has expired since. Null if there is none, or if this call means another run. */
    public static @Nullable RunId findCalledRun(
            InMemoryRunExecutionState execution, String path, DurableWorkflowOperations.ChildWorkflowCall child) {
        if (isFirstExecution(execution.run())) {
            return null;
        }
        ActiveRun run = execution.run();
        String workflowId = execution.engine().childStarter().workflowId(run, child);
        return execution.readNullable(reads -> {
            for (RunId member : findMembers(reads, run.lineage()).reversed()) {
                RunId called = findCalledRun(reads, member, path);
                DatabaseRows.RunRow found = called == null ? null : reads.claimedRun(called);
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

    private static @Nullable RunId findCalledRun(StoreQueries reads, RunId run, String path) {
        for (JournalEntry entry :
                readJournal(reads.claimedRun(run), reads.journal(run)).reversed()) {
            if (entry instanceof JournalEntry.WaitStart begun
                    && begun.kind() == JournalEntry.EntryKind.CALL
                    && begun.path().equals(path)
                    && begun.ref() != null) {
                return RunId.parse(begun.ref());
            }
        }
        return null;
    }

    /** A run with its own key or id must match it; one without must have been called without. */
    private static boolean isNamed(DatabaseRows.RunRow run, Start start) {
        String key = start.key();
        String id = start.id();
        if (key == null && id == null) {
            return run.origin().key() == null && run.chosenId() == null;
        }
        return (key == null || IdempotencyKey.of(key).text().equals(run.origin().key()))
                && (id == null || id.equals(run.chosenId()));
    }

    /** Whether it failed and the policy of its key runs it again on the next request. */
    private static boolean runsAgain(StoreQueries reads, DatabaseRows.RunRow run) {
        String key = run.origin().key();
        DatabaseRows.RunRow speaks = findEffectiveRun(reads, run.id());
        if (key == null || speaks == null || speaks.state() != RunState.FAILED) {
            return false;
        }
        long now = reads.now();
        return reads.keyRecords(run.ws(), key).stream()
                .map(DatabaseRows.KeyRow::keyRecord)
                .anyMatch(known -> known.run().equals(run.id())
                        && TriggerAdmissionRules.statusOf(known, now) == TriggerAdmissionRules.KeyStatus.FAILED);
    }

    /** The run itself or, if it did not complete, its newest replay, completed ones first. Null if the run is gone. */
    public static DatabaseRows.@Nullable RunRow findEffectiveRun(StoreQueries reads, RunId called) {
        DatabaseRows.RunRow run = reads.claimedRun(called);
        if (run == null || run.end() == null || run.state() == RunState.COMPLETED) {
            return run;
        }
        return findEffectiveRun(run, reads.runsWithoutJournal(reads.lineage(run.lineage())));
    }

    /** @param line runs of its lineage, in any order */
    public static DatabaseRows.RunRow findEffectiveRun(DatabaseRows.RunRow called, List<DatabaseRows.RunRow> line) {
        DatabaseRows.RunRow best = called;
        for (DatabaseRows.RunRow one : line) {
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
    public static List<JournalEntry> readJournal(
            DatabaseRows.@Nullable RunRow run, List<StoreQueries.JournalChunk> chunks) {
        List<JournalEntry> entries = new ArrayList<>(decode(chunks));
        DatabaseRows.RunEnd end = run == null ? null : run.end();
        if (end != null && !end.entries().isEmpty()) {
            entries.addAll(JournalCodec.decode(end.entries()));
        }
        return entries;
    }
}
