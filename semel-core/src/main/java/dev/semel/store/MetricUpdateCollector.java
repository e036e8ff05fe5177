package dev.semel.store;

import dev.semel.effect.EffectLedger;
import dev.semel.json.StorableText;
import dev.semel.run.JournalStepPathFormat;
import dev.semel.run.RunId;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Counts only what the batch changed: a write that is applied again after a lost COMMIT response counts nothing. */
public final class MetricUpdateCollector {
    public static final long MICROS_PER_MINUTE = 60_000_000;

    private static final int CONFLICT = 422;

    private final TreeMap<CounterKey, Long> increments = new TreeMap<>();
    private final List<MetricFact> facts = new ArrayList<>();

    /** Sorted as in the store, so that all batches lock rows in one order. */
    public record CounterKey(int ws, long minute, String workflowId, MetricCounter counter, String step)
            implements Comparable<CounterKey> {
        private static final Comparator<CounterKey> ORDER = Comparator.comparingInt(CounterKey::ws)
                .thenComparingLong(CounterKey::minute)
                .thenComparing(CounterKey::workflowId)
                .thenComparingInt(cell -> cell.counter().code())
                .thenComparing(CounterKey::step);

        @Override
        public int compareTo(CounterKey other) {
            return ORDER.compare(this, other);
        }
    }

    /**
     * @param digest of the effect; empty if no effect is meant
     * @param dataDigest digest of the sent data, if the effect has a `once` window
     * @param keyFirstUsedAt when an expired key was first used; 0 for other counters
     */
    public record MetricFact(
            MetricCounter counter,
            int ws,
            long at,
            RunId run,
            String digest,
            String workflowId,
            String step,
            @Nullable String object,
            @Nullable String worth,
            @Nullable String dataDigest,
            long keyFirstUsedAt) {
        static MetricFact ofRun(MetricCounter figure, NewRun run, long at, long sinceAt) {
            return new MetricFact(
                    figure, run.workspace(), at, run.id(), "", run.workflowId(), "", null, null, null, sinceAt);
        }
    }

    public boolean isEmpty() {
        return increments.isEmpty() && facts.isEmpty();
    }

    public SortedMap<CounterKey, Long> increments() {
        return increments;
    }

    public List<MetricFact> facts() {
        return facts;
    }

    public void clear() {
        increments.clear();
        facts.clear();
    }

    private void add(CounterKey cell, long n) {
        increments.merge(cell, n, Long::sum);
    }

    /** Without safe replays, which no caller requests. {@code sinceAt}: first use of its expired key; else 0. */
    public void countFreshTrigger(NewRun run, long sinceAt, long now) {
        if (run.links().replayOf() != null) {
            return;
        }
        boolean keyed = run.origin().key() != null || run.chosenId() != null;
        MetricCounter figure = keyed ? MetricCounter.KEYED : MetricCounter.UNKEYED;
        add(new CounterKey(run.workspace(), now / MICROS_PER_MINUTE, run.workflowId(), figure, ""), 1);
        if (sinceAt > 0) {
            add(
                    new CounterKey(
                            run.workspace(), now / MICROS_PER_MINUTE, run.workflowId(), MetricCounter.EXPIRED, ""),
                    1);
            facts.add(MetricFact.ofRun(MetricCounter.EXPIRED, run, now, sinceAt));
        }
    }

    /** Counts a new row of the request list for the workflow of the run that the request matched. */
    public void countDuplicateRequest(StoreWrite.DuplicateRequest row, String workflowId) {
        MetricCounter figure = !row.conflict()
                ? MetricCounter.REPLAYED
                : row.statusCode() == CONFLICT ? MetricCounter.CONFLICT : MetricCounter.DUPLICATE_PAYLOAD;
        add(new CounterKey(row.workspace(), row.at() / MICROS_PER_MINUTE, workflowId, figure, ""), row.times());
    }

    /** Counts a run that completed after a failed attempt or after its worker crashed. */
    public void countRecovery(int ws, String workflowId, RunId run, long now) {
        add(new CounterKey(ws, now / MICROS_PER_MINUTE, workflowId, MetricCounter.RECOVERED, ""), 1);
        facts.add(new MetricFact(MetricCounter.RECOVERED, ws, now, run, "", workflowId, "", null, null, null, 0));
    }

    /** @param row the ledger row after the operation; null if the operation changed nothing */
    public void countEffect(EffectLedger.LedgerOperation op, EffectLedger.@Nullable EffectRow row) {
        if (row == null) {
            return;
        }
        switch (op) {
            case EffectLedger.SettleSend _ -> {
                if (row.state() == EffectLedger.EffectState.DONE) {
                    accepted(row);
                }
            }
            case EffectLedger.NoteStepResult note -> {
                if (note.suppressedBy() != null) {
                    effect(MetricCounter.SUPPRESSED, row);
                    facts.add(fact(
                            MetricCounter.SUPPRESSED, row, note.suppressedBy().digest()));
                }
            }
            case EffectLedger.ReserveSend _ -> {}
        }
    }

    private void accepted(EffectLedger.EffectRow row) {
        EffectLedger.EffectDetails facts = row.details();
        MetricCounter figure = facts.does().equals("notify") ? MetricCounter.NOTIFIED : MetricCounter.WRITTEN;
        effect(figure, row);
        if (facts.protection().equals("none")) {
            effect(MetricCounter.UNPROTECTED, row);
        }
        if (row.window() > 0 || figure == MetricCounter.WRITTEN && facts.object() != null) {
            this.facts.add(fact(figure, row, row.id().digest()));
        }
    }

    private void effect(MetricCounter figure, EffectLedger.EffectRow row) {
        long minute = row.acceptedAt() / MICROS_PER_MINUTE;
        add(new CounterKey(row.id().workspace(), minute, row.details().workflowId(), figure, step(row)), 1);
    }

    /** The name of the step. The counters have it in their primary key. */
    private static String step(EffectLedger.EffectRow row) {
        return StorableText.shortenForIndex(
                JournalStepPathFormat.nameOf(row.details().path()));
    }

    private static MetricFact fact(MetricCounter figure, EffectLedger.EffectRow row, String digest) {
        return new MetricFact(
                figure,
                row.id().workspace(),
                row.acceptedAt(),
                row.holder().run(),
                digest,
                row.details().workflowId(),
                step(row),
                row.details().object(),
                row.details().worth(),
                figure == MetricCounter.SUPPRESSED ? null : row.dataDigest(), // a suppressed effect has no sent data
                0);
    }
}
