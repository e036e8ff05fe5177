package dev.semel.server.api;

import dev.semel.Semel;
import dev.semel.effect.Ledger;
import dev.semel.journal.Entry;
import dev.semel.journal.Journal;
import dev.semel.run.RunId;
import dev.semel.run.StepId;
import dev.semel.store.Reads;
import dev.semel.store.Rows;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * Finds all effects under a key: those of every run in its lineage (replays and retries too) and of their child runs.
 * The ledger has the effects, except those of `tx` steps, which are in the journal.
 */
final class KeyDeeds {
    private static final int MOST_RUNS = 200;
    private static final int MOST_EFFECTS = 100;
    private static final int AT_ONCE = 20;

    private final Semel semel;

    KeyDeeds(Semel semel) {
        this.semel = semel;
    }

    /**
     * The effects found, oldest first.
     *
     * @param cut whether runs or effects beyond the limit are missing
     */
    record Found(List<Ledger.Row> rows, Map<RunId, Rows.Run> runs, boolean cut) {
        String runIdText(Ledger.Row row) {
            Rows.Run run = runs.get(row.holder().run());
            return run == null ? row.holder().run().text() : run.runIdText();
        }

        /** Runs of the lineage that have not ended and may still have effects. */
        List<Rows.Run> unfinished(RunId lineage) {
            return runs.values().stream()
                    .filter(run -> run.end() == null && run.lineage().equals(lineage))
                    .toList();
        }

        boolean isOf(Ledger.Row row, RunId lineage) {
            Rows.Run run = runs.get(row.holder().run());
            return run != null && run.lineage().equals(lineage);
        }
    }

    Found of(RunId lineage) {
        return Objects.requireNonNull(semel.view(reads -> new Collector(reads).all(lineage)));
    }

    private static final class Collector {
        private final Reads reads;
        private final Map<RunId, Rows.Run> runs = new LinkedHashMap<>();
        private final Map<Ledger.Id, Ledger.Row> rows = new LinkedHashMap<>();
        private final Set<RunId> lineages = new HashSet<>();
        private final Deque<RunId> open = new ArrayDeque<>();
        private boolean cut;

        Collector(Reads reads) {
            this.reads = reads;
        }

        Found all(RunId lineage) {
            addLineage(lineage);
            while (!open.isEmpty() && runs.size() < MOST_RUNS) {
                Rows.Run child = reads.claimed(open.remove());
                if (child != null) {
                    addLineage(child.lineage());
                }
            }
            List<Ledger.Row> effects = rows.values().stream()
                    .filter(row -> !row.isNote())
                    .sorted(Comparator.comparingLong(Ledger.Row::firstAt).thenComparing(Ledger.Row::id))
                    .toList();
            cut |= !open.isEmpty() || effects.size() > MOST_EFFECTS;
            return new Found(effects.subList(0, Math.min(effects.size(), MOST_EFFECTS)), runs, cut);
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
            for (Reads.Recorded one : reads.recorded(members)) {
                runs.put(one.run().id(), one.run());
                addTxSteps(one);
                open.addAll(reads.children(one.run().id()));
            }
            reads.effects(members).forEach(row -> rows.put(row.id(), row));
        }

        /** Adds the `tx` steps of the journal as ledger rows. Replays have the same entries, so the first one wins. */
        private void addTxSteps(Reads.Recorded recorded) {
            recorded.journal().forEach(chunk -> addTxSteps(recorded.run(), chunk.entries()));
            Rows.End end = recorded.run().end();
            if (end != null && !end.entries().isEmpty()) {
                addTxSteps(recorded.run(), end.entries());
            }
        }

        private void addTxSteps(Rows.Run run, String entries) {
            for (Entry entry : Journal.decode(entries)) {
                if (entry instanceof Entry.Done done && done.kind() == Entry.Kind.TX) {
                    String step = StepId.of(run.lineage(), done.path()).text();
                    Ledger.Id id = Ledger.Id.step(run.ws(), step);
                    rows.putIfAbsent(id, row(run, done, id, step));
                }
            }
        }

        private static Ledger.Row row(Rows.Run run, Entry.Done done, Ledger.Id id, String step) {
            return new Ledger.Row(
                    id,
                    new Ledger.Holder(step, run.id(), 0, 0),
                    Ledger.State.DONE,
                    1,
                    Math.max(1, done.attempts()),
                    done.at(),
                    done.at(),
                    0,
                    0,
                    null,
                    null,
                    new Ledger.Facts(step, done.path(), run.workflowId(), "tx", "update", null, null));
        }
    }
}
