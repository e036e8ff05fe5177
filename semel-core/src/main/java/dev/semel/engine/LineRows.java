package dev.semel.engine;

import dev.semel.effect.Ledger;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Which rows of the ledger the runs of a line hold, by the step they are of. Read once for a run that is driven, and only
 * their ids are kept: a run may have tens of thousands, and each of its effects asks.
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
