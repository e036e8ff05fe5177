package dev.semel.store.postgres;

import dev.semel.effect.Ledger;
import dev.semel.run.RunId;
import dev.semel.store.Write;
import java.util.ArrayList;
import java.util.List;

/** A write of a run's owner while a batch applies it: its position, the ledger's verdicts, whether it is deferred. */
final class Turn {
    final int at;
    final Write<Write.Owned> write;
    final Write.Driver by;
    final List<Ledger.Op> ops;
    final List<Ledger.Verdict> verdicts = new ArrayList<>();
    boolean deferred;

    private Turn(int at, Write<Write.Owned> write, Write.Driver by, List<Ledger.Op> ops) {
        this.at = at;
        this.write = write;
        this.by = by;
        this.ops = ops;
    }

    /** Returns the owner writes of a batch, in its order. */
    static List<Turn> of(List<Write<?>> writes) {
        List<Turn> turns = new ArrayList<>();
        for (int at = 0; at < writes.size(); at++) {
            switch (writes.get(at)) {
                case Write.Append append -> turns.add(new Turn(at, append, append.by(), append.ops()));
                case Write.End end -> turns.add(new Turn(at, end, end.by(), end.ops()));
                case Write.Admit _, Write.Tally _, Write.Keep _, Write.Claim _, Write.Tx _, Write.Change<?> _ -> {}
            }
        }
        return turns;
    }

    RunId run() {
        return by.run();
    }

    boolean ends() {
        return write instanceof Write.End;
    }

    /** Whether the run has no owner after this write. */
    boolean isLast() {
        return ends() || write instanceof Write.Append append && append.rest() != null;
    }

    /** Defers this write and all later ones of its run to the next transaction, because they depend on it. */
    static void defer(Turn from, List<Turn> turns) {
        for (Turn turn : turns) {
            turn.deferred |= turn.at >= from.at && turn.run().equals(from.run());
        }
    }
}
