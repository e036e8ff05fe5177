package dev.semel.server.api;

import dev.semel.runtime.SemelRuntime;
import dev.semel.effect.EffectLedger;
import dev.semel.store.MetricUpdates;
import dev.semel.store.MetricQueries;
import dev.semel.store.StoreQueries;
import dev.semel.store.StoredRows;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Masks personal data (PII) in object names of the monitoring lists, as the runs that wrote them mask it. One instance
 * serves one response and caches which workflows mark PII fields.
 */
final class ObjectNameMasker {
    /** The newest effects of an object are enough: all of them derive its name in the same way. */
    private static final int MAX_ROWS = 3;

    private final SemelRuntime semel;
    private final int workspace;
    private final PiiMasks masks;
    private final Map<String, Boolean> marking = new HashMap<>();

    ObjectNameMasker(SemelRuntime semel, int workspace) {
        this.semel = semel;
        this.workspace = workspace;
        this.masks = new PiiMasks(semel);
    }

    String mask(MetricQueries.ObjectWrites thing) {
        return mayHavePii(thing.workflowId()) ? mask(thing, rows(thing)) : thing.object();
    }

    /** @param rows effects of this object that the caller has already read */
    String mask(MetricQueries.ObjectWrites thing, List<EffectLedger.EffectRow> rows) {
        if (!mayHavePii(thing.workflowId())) {
            return thing.object();
        }
        // Without a recorded effect nothing shows which part of the name is PII, so all of it is masked.
        String shown = rows.isEmpty() ? PiiMasks.MASK_TEXT : thing.object();
        for (EffectLedger.EffectRow row : rows.subList(0, Math.min(rows.size(), MAX_ROWS))) {
            StoredRows.RunRow run = semel.view(reads -> reads.run(workspace, row.holder().run()));
            shown = masks.of(run, workspace, thing.workflowId()).maskText(shown);
        }
        return shown;
    }

    private List<EffectLedger.EffectRow> rows(MetricQueries.ObjectWrites thing) {
        var filter = new StoreQueries.EffectFilter(
                workspace, null, thing.workflowId(), thing.object(), null, null, StoreQueries.EffectSelection.DEEDS, null, MAX_ROWS);
        return Objects.requireNonNull(semel.view(reads -> reads.effects(filter)))
                .found();
    }

    /** Checks all versions of the workflow, because their runs are counted together. */
    private boolean mayHavePii(String workflowId) {
        return marking.computeIfAbsent(workflowId, id -> masks.hasPiiFields(workspace, id));
    }

    static boolean hasName(MetricUpdates.MetricFact fact, String object) {
        return object.equals(fact.object());
    }

    static boolean hasName(MetricQueries.ObjectWrites thing, String shown) {
        return shown.equals(thing.object());
    }
}
