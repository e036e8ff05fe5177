package dev.semel.replay;

import dev.semel.effect.Ledger;
import dev.semel.journal.Entry;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Everything that is known about a run to be replayed: journal, ledger rows, versions and child runs.
 *
 * @param entries its whole journal, in order
 * @param rows ledger rows that runs of its lineage hold
 * @param called the child runs by the ids in its journal; deleted ones are missing
 * @param otherData runs of its lineage that were replayed with another input
 * @param now by the store's clock
 */
public record Past(
        RunId lineage,
        RunState state,
        List<Entry> entries,
        List<Ledger.Row> rows,
        Versions versions,
        Map<String, Called> called,
        Set<RunId> otherData,
        long now) {
    /** A run whose lineage always had the same input. */
    Past(
            RunId lineage,
            RunState state,
            List<Entry> entries,
            List<Ledger.Row> rows,
            Versions versions,
            Map<String, Called> called,
            long now) {
        this(lineage, state, entries, rows, versions, called, Set.of(), now);
    }
}
