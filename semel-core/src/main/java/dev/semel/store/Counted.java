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
 * Collects the counter increments and metric facts of one batch; the store writes them as the batch's last statements.
 * A store reports only what the batch changed. A write that is applied again after a lost COMMIT response changes
 * nothing, so it counts nothing.
 */
public final class Counted {
    public static final long MINUTE = 60_000_000;

    private static final int CONFLICT = 422;

    private final TreeMap<Cell, Long> cells = new TreeMap<>();
    private final List<Fact> facts = new ArrayList<>();

    /**
     * The key of one counter row: workspace, minute, workflow, counter and step. Sorted as in the store, so that all
     * batches lock rows in one order.
     */
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
     * One counted occurrence with its run and its effect, for drilling down from a metric.
     *
     * @param digest of the effect; empty if no effect is meant
     * @param data digest of the sent data, if the effect has a `once` window
     * @param sinceAt when an expired key was first used; 0 for other counters
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

    /** Clears everything for the next batch. */
    public void clear() {
        cells.clear();
        facts.clear();
    }

    private void add(Cell cell, long n) {
        cells.merge(cell, n, Long::sum);
    }

    /**
     * Counts a run that was just created. A safe replay is not a request of a caller and is not counted.
     *
     * @param sinceAt when the expired key of this trigger was first used; 0 if it is not expired
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

    /** Counts a new row of the request list for the workflow of the run that the request matched. */
    public void seen(Write.Seen row, String workflowId) {
        Figure figure = !row.conflict()
                ? Figure.REPLAYED
                : row.statusCode() == CONFLICT ? Figure.CONFLICT : Figure.SAME_PAYLOAD;
        add(new Cell(row.workspace(), row.at() / MINUTE, workflowId, figure, ""), row.times());
    }

    /** Counts a run that completed after a failed attempt or after its worker crashed. */
    public void recovered(int ws, String workflowId, RunId run, long now) {
        add(new Cell(ws, now / MINUTE, workflowId, Figure.RECOVERED, ""), 1);
        facts.add(new Fact(Figure.RECOVERED, ws, now, run, "", workflowId, "", null, null, null, 0));
    }

    /**
     * Counts an accepted or suppressed effect.
     *
     * @param row the ledger row after the operation; null if the operation changed nothing
     */
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
                figure == Figure.SUPPRESSED ? null : row.data(), // a suppressed effect has no sent data
                0);
    }
}
