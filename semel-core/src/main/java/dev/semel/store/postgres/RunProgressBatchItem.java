package dev.semel.store.postgres;

import dev.semel.effect.EffectLedger;
import dev.semel.run.RunId;
import dev.semel.store.StoreWrite;
import java.util.ArrayList;
import java.util.List;

/** A write of a run's owner while a batch applies it: its position, the ledger's verdicts, whether it is deferred. */
final class RunProgressBatchItem {
    final int position;
    final StoreWrite<StoreWrite.OwnerWriteResult> write;
    final StoreWrite.RunExecution execution;
    final List<EffectLedger.LedgerOperation> ops;
    final List<EffectLedger.LedgerDecision> verdicts = new ArrayList<>();
    boolean deferred;

    private RunProgressBatchItem(
            int at,
            StoreWrite<StoreWrite.OwnerWriteResult> write,
            StoreWrite.RunExecution by,
            List<EffectLedger.LedgerOperation> ops) {
        this.position = at;
        this.write = write;
        this.execution = by;
        this.ops = ops;
    }

    /** Returns the owner writes of a batch, in its order. */
    static List<RunProgressBatchItem> of(List<StoreWrite<?>> writes) {
        List<RunProgressBatchItem> turns = new ArrayList<>();
        for (int at = 0; at < writes.size(); at++) {
            switch (writes.get(at)) {
                case StoreWrite.AppendJournal append ->
                    turns.add(new RunProgressBatchItem(at, append, append.by(), append.ops()));
                case StoreWrite.EndRun end -> turns.add(new RunProgressBatchItem(at, end, end.by(), end.ops()));
                case StoreWrite.AdmitRun _,
                        StoreWrite.RecordDuplicates _,
                        StoreWrite.SaveEvent _,
                        StoreWrite.ClaimRuns _,
                        StoreWrite.UserTransaction _,
                        StoreWrite.ExecuteCommand<?> _ -> {}
            }
        }
        return turns;
    }

    RunId run() {
        return execution.run();
    }

    boolean ends() {
        return write instanceof StoreWrite.EndRun;
    }

    /** Whether the run has no owner after this write. */
    boolean givesUpRun() {
        return ends() || write instanceof StoreWrite.AppendJournal append && append.suspension() != null;
    }

    /** Defers this write and all later ones of its run to the next transaction, because they depend on it. */
    static void defer(RunProgressBatchItem from, List<RunProgressBatchItem> turns) {
        for (RunProgressBatchItem turn : turns) {
            turn.deferred |= turn.position >= from.position && turn.run().equals(from.run());
        }
    }
}
