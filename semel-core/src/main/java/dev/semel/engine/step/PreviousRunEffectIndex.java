package dev.semel.engine.step;

import dev.semel.effect.EffectLedger;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Read once per execution, and only the ids: a run may have tens of thousands of rows. */
public final class PreviousRunEffectIndex {
    private final InMemoryRunExecutionState execution;
    private @Nullable Map<String, List<EffectLedger.EffectId>> byStep;

    PreviousRunEffectIndex(InMemoryRunExecutionState execution) {
        this.execution = execution;
    }

    public synchronized List<EffectLedger.EffectId> findByStep(String stepId) {
        if (byStep == null) {
            byStep = read();
        }
        return byStep.getOrDefault(stepId, List.of());
    }

    private Map<String, List<EffectLedger.EffectId>> read() {
        return execution.read(reads -> {
            Map<String, List<EffectLedger.EffectId>> found = new HashMap<>();
            for (EffectLedger.EffectRow row : reads.effects(
                    PreviousRunResultFinder.findMembers(reads, execution.run().lineage()))) {
                found.computeIfAbsent(row.holder().step(), _ -> new ArrayList<>())
                        .add(row.id());
            }
            return found;
        });
    }
}
