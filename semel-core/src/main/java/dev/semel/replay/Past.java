package dev.semel.replay;

import dev.semel.effect.Ledger;
import dev.semel.journal.Entry;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.workflow.Expected;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What is known of a run that is to be replayed.
 *
 * @param entries its whole journal, in order
 * @param rows of the ledger that runs of its lineage hold
 * @param expected every effect that its workflow declares; null where it is code, which is not known beforehand
 * @param now by the store's clock
 */
public record Past(
        RunId lineage,
        RunState state,
        List<Entry> entries,
        List<Ledger.Row> rows,
        @Nullable List<Expected> expected,
        long now) {}
