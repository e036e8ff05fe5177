package dev.semel.engine;

import dev.semel.effect.Ledger;
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
final class LineRows {
    private final Execution execution;
    private @Nullable Map<String, List<Ledger.Id>> byStep;

    LineRows(Execution execution) {
        this.execution = execution;
    }

    synchronized List<Ledger.Id> of(String stepId) {
        if (byStep == null) {
            byStep = read();
        }
        return byStep.getOrDefault(stepId, List.of());
    }

    private Map<String, List<Ledger.Id>> read() {
        return execution.ask(reads -> {
            Map<String, List<Ledger.Id>> found = new HashMap<>();
            for (Ledger.Row row :
                    reads.effects(Earlier.members(reads, execution.run().lineage()))) {
                found.computeIfAbsent(row.holder().step(), _ -> new ArrayList<>())
                        .add(row.id());
            }
            return found;
        });
    }
}
