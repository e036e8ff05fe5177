package dev.semel.store;

import dev.semel.effect.Ledger;
import dev.semel.run.RunId;
import dev.semel.run.StepPath;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What a batch has to count, gathered while it is applied and written as its last statements. A store tells only of what
 * the batch changed: a write that is applied again, because the answer to its COMMIT was lost, changes nothing and so
 * counts nothing.
 */
public final class Counted {
    public static final long MINUTE = 60_000_000;

    private static final int CONFLICT = 422;

    private final TreeMap<Cell, Long> cells = new TreeMap<>();
    private final List<Fact> facts = new ArrayList<>();

    /** Where a count stands. In the order of the store's key, so that batches lock rows alike. */
    public record Cell(int ws, long minute, String workflowId, Figure figure, String step) implements Comparable<Cell> {
        private static final Comparator<Cell> ORDER = Comparator.comparingInt(Cell::ws)
                .thenComparingLong(Cell::minute)
                .thenComparing(Cell::workflowId)
                .thenComparingInt(cell -> cell.figure().code())
                .thenComparing(Cell::step);

        @Override
        public int compareTo(Cell other) {
            return ORDER.compare(this, other);
        }
    }

    /**
     * One of those that were counted.
     *
     * @param digest of the effect; empty where none is meant
     * @param data digest of what was sent, where the effect is once for a window
     * @param sinceAt when an expired key was first used; 0 elsewhere
     */
    public record Fact(
            Figure figure,
            int ws,
            long at,
            RunId run,
            String digest,
            String workflowId,
            String step,
            @Nullable String object,
            @Nullable String worth,
            @Nullable String data,
            long sinceAt) {
        static Fact ofRun(Figure figure, NewRun run, long at, long sinceAt) {
            return new Fact(figure, run.workspace(), at, run.id(), "", run.workflowId(), "", null, null, null, sinceAt);
        }
    }

    public boolean isEmpty() {
        return cells.isEmpty() && facts.isEmpty();
    }

    public SortedMap<Cell, Long> cells() {
        return cells;
    }

    public List<Fact> facts() {
        return facts;
    }

    /** Forgets everything, for the next batch. */
    public void clear() {
        cells.clear();
        facts.clear();
    }

    private void add(Cell cell, long n) {
        cells.merge(cell, n, Long::sum);
    }

    /**
     * A run was made just now. A safe replay is no request of a caller.
     *
     * @param sinceAt when the key of this trigger was first used, where it has expired since; 0 elsewhere
     */
    public void fresh(NewRun run, long sinceAt, long now) {
        if (run.links().replayOf() != null) {
            return;
        }
        boolean keyed = run.origin().key() != null || run.chosenId() != null;
        Figure figure = keyed ? Figure.KEYED : Figure.UNKEYED;
        add(new Cell(run.workspace(), now / MINUTE, run.workflowId(), figure, ""), 1);
        if (sinceAt > 0) {
            add(new Cell(run.workspace(), now / MINUTE, run.workflowId(), Figure.EXPIRED, ""), 1);
            facts.add(Fact.ofRun(Figure.EXPIRED, run, now, sinceAt));
        }
    }

    /** A row of the request list is new. It counts for the workflow of the run that it met. */
    public void seen(Write.Seen row, String workflowId) {
        Figure figure = !row.conflict()
                ? Figure.REPLAYED
                : row.statusCode() == CONFLICT ? Figure.CONFLICT : Figure.SAME_PAYLOAD;
        add(new Cell(row.workspace(), row.at() / MINUTE, workflowId, figure, ""), row.times());
    }

    /** A run completed just now, after a failed attempt or after its worker had died. */
    public void recovered(int ws, String workflowId, RunId run, long now) {
        add(new Cell(ws, now / MINUTE, workflowId, Figure.RECOVERED, ""), 1);
        facts.add(new Fact(Figure.RECOVERED, ws, now, run, "", workflowId, "", null, null, null, 0));
    }

    /** @param row what the op made of the row of the ledger; null where it changed nothing */
    public void deed(Ledger.Op op, Ledger.@Nullable Row row) {
        if (row == null) {
            return;
        }
        switch (op) {
            case Ledger.Settle _ -> {
                if (row.state() == Ledger.State.DONE) {
                    accepted(row);
                }
            }
            case Ledger.Note note -> {
                if (note.instead() != null) {
                    effect(Figure.SUPPRESSED, row);
                    facts.add(fact(Figure.SUPPRESSED, row, note.instead().digest()));
                }
            }
            case Ledger.Reserve _ -> {}
        }
    }

    private void accepted(Ledger.Row row) {
        Ledger.Facts facts = row.facts();
        Figure figure = facts.does().equals("notify") ? Figure.TOLD : Figure.WRITTEN;
        effect(figure, row);
        if (facts.protection().equals("none")) {
            effect(Figure.UNPROTECTED, row);
        }
        if (row.window() > 0 || figure == Figure.WRITTEN && facts.object() != null) {
            this.facts.add(fact(figure, row, row.id().digest()));
        }
    }

    private void effect(Figure figure, Ledger.Row row) {
        long minute = row.acceptedAt() / MINUTE;
        String step = StepPath.nameOf(row.facts().path());
        add(new Cell(row.id().workspace(), minute, row.facts().workflowId(), figure, step), 1);
    }

    private static Fact fact(Figure figure, Ledger.Row row, String digest) {
        return new Fact(
                figure,
                row.id().workspace(),
                row.acceptedAt(),
                row.holder().run(),
                digest,
                row.facts().workflowId(),
                StepPath.nameOf(row.facts().path()),
                row.facts().object(),
                row.facts().worth(),
                figure == Figure.SUPPRESSED ? null : row.data(), // what was not sent has none
                0);
    }
}
