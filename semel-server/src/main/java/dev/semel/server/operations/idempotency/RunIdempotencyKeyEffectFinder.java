package dev.semel.server.operations.idempotency;

import dev.semel.effect.EffectLedger;
import dev.semel.journal.JournalCodec;
import dev.semel.journal.JournalEntry;
import dev.semel.run.RunId;
import dev.semel.run.StepId;
import dev.semel.runtime.SemelRuntime;
import dev.semel.server.query.StoreReader;
import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreQueries;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Finds all effects under a key: those of every run in its lineage (replays and retries too) and of their child runs.
 * The ledger has the effects, except those of `tx` steps, which are in the journal.
 */
record RunIdempotencyKeyEffectFinder(SemelRuntime semel) {
    private static final int MOST_RUNS = 200;
    private static final int MOST_EFFECTS = 100;
    private static final int AT_ONCE = 20;

    /**
     * The effects found, oldest first.
     *
     * @param truncated whether runs or effects beyond the limit are missing
     */
    record KeyEffects(List<EffectLedger.EffectRow> rows, Map<RunId, DatabaseRows.RunRow> runs, boolean truncated) {
        String runIdText(EffectLedger.EffectRow row) {
            DatabaseRows.RunRow run = runs.get(row.holder().run());
            return run == null ? row.holder().run().text() : run.runIdText();
        }

        /** Runs of the lineage that have not ended and may still have effects. */
        List<DatabaseRows.RunRow> unfinished(RunId lineage) {
            return runs.values().stream()
                    .filter(run -> run.end() == null && run.lineage().equals(lineage))
                    .toList();
        }

        boolean belongsTo(EffectLedger.EffectRow row, RunId lineage) {
            DatabaseRows.RunRow run = runs.get(row.holder().run());
            return run != null && run.lineage().equals(lineage);
        }
    }

    KeyEffects findByLineage(RunId lineage) {
        return StoreReader.read(semel, reads -> new Collector(reads).all(lineage));
    }

    private static final class Collector {
        private final StoreQueries reads;
        private final Map<RunId, DatabaseRows.RunRow> runs = new LinkedHashMap<>();
        private final Map<EffectLedger.EffectId, EffectLedger.EffectRow> rows = new LinkedHashMap<>();
        private final Set<RunId> lineages = new HashSet<>();
        private final Deque<RunId> open = new ArrayDeque<>();
        private boolean cut;

        Collector(StoreQueries reads) {
            this.reads = reads;
        }

        KeyEffects all(RunId lineage) {
            addLineage(lineage);
            while (!open.isEmpty() && runs.size() < MOST_RUNS) {
                DatabaseRows.RunRow child = reads.claimedRun(open.remove());
                if (child != null) {
                    addLineage(child.lineage());
                }
            }
            List<EffectLedger.EffectRow> effects = rows.values().stream()
                    .filter(row -> !row.isStepNote())
                    .sorted(Comparator.comparingLong(EffectLedger.EffectRow::firstAt)
                            .thenComparing(EffectLedger.EffectRow::id))
                    .toList();
            cut |= !open.isEmpty() || effects.size() > MOST_EFFECTS;
            return new KeyEffects(effects.subList(0, Math.min(effects.size(), MOST_EFFECTS)), runs, cut);
        }

        private void addLineage(RunId first) {
            if (!lineages.add(first)) {
                return;
            }
            List<RunId> members = new ArrayList<>();
            members.add(first);
            members.addAll(reads.lineage(first));
            int left = MOST_RUNS - runs.size();
            cut |= members.size() > left;
            for (int i = 0; i < Math.min(members.size(), left); i += AT_ONCE) {
                addRuns(members.subList(i, Math.min(i + AT_ONCE, Math.min(members.size(), left))));
            }
        }

        private void addRuns(List<RunId> members) {
            for (StoreQueries.JournaledRun one : reads.runsWithJournal(members)) {
                runs.put(one.run().id(), one.run());
                addTxSteps(one);
                open.addAll(reads.children(one.run().id(), MOST_RUNS)); // with so many, the result is truncated
            }
            reads.effects(members).forEach(row -> rows.put(row.id(), row));
        }

        /** Adds the `tx` steps of the journal as ledger rows. Replays have the same entries, so the first one wins. */
        private void addTxSteps(StoreQueries.JournaledRun recorded) {
            recorded.journal().forEach(chunk -> addTxSteps(recorded.run(), chunk.entries()));
            DatabaseRows.RunEnd end = recorded.run().end();
            if (end != null && !end.entries().isEmpty()) {
                addTxSteps(recorded.run(), end.entries());
            }
        }

        private void addTxSteps(DatabaseRows.RunRow run, String entries) {
            for (JournalEntry entry : JournalCodec.decode(entries)) {
                if (entry instanceof JournalEntry.StepResult done && done.kind() == JournalEntry.EntryKind.TX) {
                    String step = StepId.of(run.lineage(), done.path()).text();
                    EffectLedger.EffectId id = EffectLedger.EffectId.step(run.ws(), step);
                    rows.putIfAbsent(id, row(run, done, id, step));
                }
            }
        }

        private static EffectLedger.EffectRow row(
                DatabaseRows.RunRow run, JournalEntry.StepResult done, EffectLedger.EffectId id, String step) {
            return new EffectLedger.EffectRow(
                    id,
                    new EffectLedger.EffectHolder(step, run.id(), 0, 0),
                    EffectLedger.EffectState.DONE,
                    1,
                    Math.max(1, done.attempts()),
                    done.at(),
                    done.at(),
                    0,
                    0,
                    null,
                    null,
                    new EffectLedger.EffectDetails(step, done.path(), run.workflowId(), "tx", "update", null, null),
                    EffectLedger.LastSend.NONE);
        }
    }
}
