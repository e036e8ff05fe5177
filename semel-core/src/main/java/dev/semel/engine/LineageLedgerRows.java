package dev.semel.engine;

import dev.semel.effect.EffectLedger;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Index of the ledger rows of a lineage by step.
 * Read once per execution, and only the ids: a run may have tens of thousands of rows, and each effect queries the
 * index.
 */
final class LineageLedgerRows {
    private final Execution execution;
    private @Nullable Map<String, List<EffectLedger.EffectId>> byStep;

    LineageLedgerRows(Execution execution) {
        this.execution = execution;
    }

    synchronized List<EffectLedger.EffectId> findByStep(String stepId) {
        if (byStep == null) {
            byStep = read();
        }
        return byStep.getOrDefault(stepId, List.of());
    }

    private Map<String, List<EffectLedger.EffectId>> read() {
        return execution.read(reads -> {
            Map<String, List<EffectLedger.EffectId>> found = new HashMap<>();
            for (EffectLedger.EffectRow row : reads.effects(
                    LineageResults.findMembers(reads, execution.run().lineage()))) {
                found.computeIfAbsent(row.holder().step(), _ -> new ArrayList<>())
                        .add(row.id());
            }
            return found;
        });
    }
}
