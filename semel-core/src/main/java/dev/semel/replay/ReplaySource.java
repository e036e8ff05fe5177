package dev.semel.replay;

import dev.semel.effect.EffectLedger;
import dev.semel.journal.JournalEntry;
import dev.semel.run.RunId;
import dev.semel.workflow.RunState;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Everything that is known about a run to be replayed: journal, ledger rows, versions and child runs.
 *
 * @param entries its whole journal, in order
 * @param rows ledger rows that runs of its lineage hold
 * @param called the child runs by the ids in its journal; deleted ones are missing
 * @param runsWithOtherInput runs of its lineage that were replayed with another input
 * @param now by the store's clock
 */
public record ReplaySource(
        RunId lineage,
        RunState state,
        List<JournalEntry> entries,
        List<EffectLedger.EffectRow> rows,
        DeclaredVersions versions,
        Map<String, CalledRunState> called,
        Set<RunId> runsWithOtherInput,
        long now) {
    /** A run whose lineage always had the same input. */
    ReplaySource(
            RunId lineage,
            RunState state,
            List<JournalEntry> entries,
            List<EffectLedger.EffectRow> rows,
            DeclaredVersions versions,
            Map<String, CalledRunState> called,
            long now) {
        this(lineage, state, entries, rows, versions, called, Set.of(), now);
    }
}
