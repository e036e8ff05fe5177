package dev.semel.store;

import dev.semel.effect.Ledger;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;

/** What the runs of a script do to the ledger: few effects, so that runs meet there. */
final class Ops {
    static final List<Ledger.Id> IDS = List.of(
            new Ledger.Id(1, "d1"),
            new Ledger.Id(1, "d2"),
            new Ledger.Id(1, "d3"),
            new Ledger.Id(1, "d4"),
            new Ledger.Id(2, "d1"),
            new Ledger.Id(2, "d2"));

    private static final Ledger.Facts FACTS =
            new Ledger.Facts("the key", "the path", "wf_pay", "provider_key", "create", "object", null);

    private final RandomGenerator random;
    private final Reads reads;
    private int turns;

    Ops(RandomGenerator random, Reads reads) {
        this.random = random;
        this.reads = reads;
    }

    /** Settles what the run holds, notes, and (where it may) reserves. */
    List<Ledger.Op> some(Write.Driver by, boolean reserves) {
        List<Ledger.Op> ops = new ArrayList<>();
        Rows.Run run = reads.claimed(by.run());
        int ws = run == null ? 1 : run.ws();
        List<Ledger.Id> ids = new ArrayList<>(IDS);
        ids.removeIf(id -> id.workspace() != ws);
        for (Ledger.Row row : reads.effects(by.run())) {
            if (random.nextInt(3) != 0) {
                Ledger.State to =
                        pick(List.of(Ledger.State.DONE, Ledger.State.DONE, Ledger.State.UNKNOWN, Ledger.State.FREE));
                ops.add(new Ledger.Settle(
                        row.id(), row.holder(), to, to == Ledger.State.DONE ? "{\"id\":" + ++turns + "}" : null));
            }
        }
        if (random.nextInt(6) == 0) {
            Ledger.Instead instead = random.nextBoolean() ? new Ledger.Instead("d4", "run_x 17") : null;
            ops.add(new Ledger.Note(pick(ids), holder(by), "{\"noted\":true}", FACTS, instead));
        }
        for (int i = reserves ? random.nextInt(3) : 0; i > 0; i--) {
            ops.add(new Ledger.Reserve(
                    ids.remove(random.nextInt(ids.size())),
                    holder(by),
                    pick(List.of(0L, 1_000_000L, 3_600_000_000L)),
                    pick(List.of(0L, 5_000_000L, 3_600_000_000L)),
                    pick(List.of(
                            Ledger.OnChange.SEND,
                            Ledger.OnChange.SUPPRESS,
                            Ledger.OnChange.REVIEW,
                            Ledger.OnChange.REVIEW)),
                    pick(List.of("data", "other")),
                    FACTS));
        }
        return ops;
    }

    private Ledger.Holder holder(Write.Driver by) {
        return new Ledger.Holder("step" + random.nextInt(4), by.run(), by.claim(), ++turns);
    }

    private <T> T pick(List<T> from) {
        return from.get(random.nextInt(from.size()));
    }
}
