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
 * What was done under a key: by all runs of its line, so also by those that replayed it or tried it again, and by the
 * runs that steps of them started. The ledger has it, but for what a tx step wrote; that stands in the journal.
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
     * What was found, the oldest first.
     *
     * @param cut there is more: further runs, or further effects
     */
    record Found(List<Ledger.Row> rows, Map<RunId, Rows.Run> runs, boolean cut) {
        String runIdText(Ledger.Row row) {
            Rows.Run run = runs.get(row.holder().run());
            return run == null ? row.holder().run().text() : run.runIdText();
        }

        /** Of the line itself: what these will do yet is not known. */
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
        return Objects.requireNonNull(semel.view(reads -> new Gathering(reads).all(lineage)));
    }

    private static final class Gathering {
        private final Reads reads;
        private final Map<RunId, Rows.Run> runs = new LinkedHashMap<>();
        private final Map<Ledger.Id, Ledger.Row> rows = new LinkedHashMap<>();
        private final Set<RunId> lines = new HashSet<>();
        private final Deque<RunId> open = new ArrayDeque<>();
        private boolean cut;

        Gathering(Reads reads) {
            this.reads = reads;
        }

        Found all(RunId lineage) {
            line(lineage);
            while (!open.isEmpty() && runs.size() < MOST_RUNS) {
                Rows.Run child = reads.claimed(open.remove());
                if (child != null) {
                    line(child.lineage());
                }
            }
            List<Ledger.Row> told = rows.values().stream()
                    .filter(row -> !row.isNote())
                    .sorted(Comparator.comparingLong(Ledger.Row::firstAt).thenComparing(Ledger.Row::id))
                    .toList();
            cut |= !open.isEmpty() || told.size() > MOST_EFFECTS;
            return new Found(told.subList(0, Math.min(told.size(), MOST_EFFECTS)), runs, cut);
        }

        private void line(RunId first) {
            if (!lines.add(first)) {
                return;
            }
            List<RunId> members = new ArrayList<>();
            members.add(first);
            members.addAll(reads.lineage(first));
            int room = MOST_RUNS - runs.size();
            cut |= members.size() > room;
            for (int i = 0; i < Math.min(members.size(), room); i += AT_ONCE) {
                some(members.subList(i, Math.min(i + AT_ONCE, Math.min(members.size(), room))));
            }
        }

        private void some(List<RunId> members) {
            for (Reads.Recorded one : reads.recorded(members)) {
                runs.put(one.run().id(), one.run());
                written(one);
                open.addAll(reads.children(one.run().id()));
            }
            reads.effects(members).stream().filter(row -> !row.isNote()).forEach(row -> rows.put(row.id(), row));
        }

        /** What tx steps wrote, as rows of the ledger would say it. Those that replay them have them on record as well. */
        private void written(Reads.Recorded recorded) {
            recorded.journal().forEach(chunk -> tx(recorded.run(), chunk.entries()));
            Rows.End end = recorded.run().end();
            if (end != null && !end.entries().isEmpty()) {
                tx(recorded.run(), end.entries());
            }
        }

        private void tx(Rows.Run run, String entries) {
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
