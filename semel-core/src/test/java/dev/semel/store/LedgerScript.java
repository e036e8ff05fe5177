package dev.semel.store;

import dev.semel.effect.EffectLedger;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;

/** What the runs of a script do to the ledger: few effects, so that runs meet there. */
final class LedgerScript {
    static final List<EffectLedger.EffectId> IDS = List.of(
            new EffectLedger.EffectId(1, "d1"),
            new EffectLedger.EffectId(1, "d2"),
            new EffectLedger.EffectId(1, "d3"),
            new EffectLedger.EffectId(1, "d4"),
            new EffectLedger.EffectId(2, "d1"),
            new EffectLedger.EffectId(2, "d2"));

    private static final EffectLedger.EffectDetails FACTS =
            new EffectLedger.EffectDetails("the key", "the path", "wf_pay", "provider_key", "create", "object", null);

    private final RandomGenerator random;
    private final StoreQueries reads;
    private int turns;

    LedgerScript(RandomGenerator random, StoreQueries reads) {
        this.random = random;
        this.reads = reads;
    }

    /** Settles what the run holds, notes, and (where it may) reserves. */
    List<EffectLedger.LedgerOperation> some(StoreWrite.RunExecution by, boolean reserves) {
        List<EffectLedger.LedgerOperation> ops = new ArrayList<>();
        DatabaseRows.RunRow run = reads.claimedRun(by.run());
        int ws = run == null ? 1 : run.ws();
        List<EffectLedger.EffectId> ids = new ArrayList<>(IDS);
        ids.removeIf(id -> id.workspace() != ws);
        for (EffectLedger.EffectRow row : reads.effects(by.run())) {
            if (random.nextInt(3) != 0) {
                EffectLedger.EffectState to = pick(List.of(
                        EffectLedger.EffectState.DONE,
                        EffectLedger.EffectState.DONE,
                        EffectLedger.EffectState.UNKNOWN,
                        EffectLedger.EffectState.FREE));
                ops.add(new EffectLedger.SettleSend(
                        row.id(),
                        row.holder(),
                        to,
                        to == EffectLedger.EffectState.DONE ? "{\"id\":" + ++turns + "}" : null));
            }
        }
        if (random.nextInt(6) == 0) {
            EffectLedger.SuppressingEffect instead =
                    random.nextBoolean() ? new EffectLedger.SuppressingEffect("d4", "run_x 17") : null;
            ops.add(new EffectLedger.NoteStepResult(pick(ids), holder(by), "{\"noted\":true}", FACTS, instead, null));
        }
        for (int i = reserves ? random.nextInt(3) : 0; i > 0; i--) {
            ops.add(new EffectLedger.ReserveSend(
                    ids.remove(random.nextInt(ids.size())),
                    holder(by),
                    pick(List.of(0L, 1_000_000L, 3_600_000_000L)),
                    pick(List.of(0L, 5_000_000L, 3_600_000_000L)),
                    pick(List.of(
                            EffectLedger.ChangePolicy.SEND,
                            EffectLedger.ChangePolicy.SUPPRESS,
                            EffectLedger.ChangePolicy.REVIEW,
                            EffectLedger.ChangePolicy.REVIEW)),
                    pick(List.of("data", "other")),
                    FACTS,
                    false,
                    false,
                    generation -> "sent " + generation,
                    null));
        }
        return ops;
    }

    private EffectLedger.EffectHolder holder(StoreWrite.RunExecution by) {
        return new EffectLedger.EffectHolder("step" + random.nextInt(4), by.run(), by.claim(), ++turns);
    }

    private <T> T pick(List<T> from) {
        return from.get(random.nextInt(from.size()));
    }
}
