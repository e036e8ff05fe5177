package dev.semel.replay;

import dev.semel.effect.EffectLedger;
import dev.semel.journal.JournalEntry;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * @param entries its whole journal, in order
 * @param rows ledger rows that runs of its lineage hold
 * @param called the child runs by the ids in its journal; deleted ones are missing
 * @param runsWithOtherInput runs of its lineage that were replayed with another input
 * @param now by the store's clock
 */
public record ReplayPlannerInput(
        RunId lineage,
        RunState state,
        List<JournalEntry> entries,
        List<EffectLedger.EffectRow> rows,
        ReplayDeclaredStepsByVersion versions,
        Map<String, ChildRunState> called,
        Set<RunId> runsWithOtherInput,
        long now) {}
