package dev.semel.replay;

import dev.semel.effect.Ledger;
import dev.semel.journal.Entry;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What is known of a run that is to be replayed.
 *
 * @param entries its whole journal, in order
 * @param rows of the ledger that runs of its lineage hold
 * @param called the runs that it called, by the ids in its journal; those that are gone are not there
 * @param otherData runs of its lineage that were about other data: somebody replayed them with another input
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
    /** All runs of its lineage were about the same data. */
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
