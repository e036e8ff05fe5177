package dev.semel.server.query;

import dev.semel.effect.EffectLedger;
import dev.semel.runtime.SemelRuntime;
import dev.semel.store.DatabaseRows;
import dev.semel.store.MetricQueries;
import dev.semel.store.MetricUpdateCollector;
import dev.semel.store.StoreQueries;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Masks as the runs that wrote the names do. One instance serves one response and caches which workflows mark PII. */
public final class BusinessObjectNamePiiMasker {
    /** The newest effects of an object are enough: all of them derive its name in the same way. */
    private static final int MAX_ROWS = 3;

    private final SemelRuntime semel;
    private final int workspace;
    private final RunPiiMaskFactory masks;
    private final Map<String, Boolean> marking = new HashMap<>();

    public BusinessObjectNamePiiMasker(SemelRuntime semel, int workspace) {
        this.semel = semel;
        this.workspace = workspace;
        this.masks = new RunPiiMaskFactory(semel);
    }

    public String mask(MetricQueries.ObjectWrites objectWrites) {
        return mayHavePii(objectWrites.workflowId()) ? mask(objectWrites, rows(objectWrites)) : objectWrites.object();
    }

    /** @param rows effects of this object that the caller has already read */
    public String mask(MetricQueries.ObjectWrites objectWrites, List<EffectLedger.EffectRow> rows) {
        if (!mayHavePii(objectWrites.workflowId())) {
            return objectWrites.object();
        }
        // Without a recorded effect nothing shows which part of the name is PII, so all of it is masked.
        String shown = rows.isEmpty() ? RunPiiMaskFactory.MASK_TEXT : objectWrites.object();
        for (EffectLedger.EffectRow row : rows.subList(0, Math.min(rows.size(), MAX_ROWS))) {
            DatabaseRows.RunRow run =
                    semel.view(reads -> reads.run(workspace, row.holder().run()));
            shown = masks.of(run, workspace, objectWrites.workflowId()).maskText(shown);
        }
        return shown;
    }

    private List<EffectLedger.EffectRow> rows(MetricQueries.ObjectWrites objectWrites) {
        var filter = new StoreQueries.EffectFilter(
                workspace,
                null,
                objectWrites.workflowId(),
                objectWrites.object(),
                null,
                null,
                StoreQueries.EffectSelection.NOT_SUPPRESSED,
                null,
                MAX_ROWS);
        return StoreReader.read(semel, reads -> reads.effects(filter)).found();
    }

    /** Checks all versions of the workflow, because their runs are counted together. */
    private boolean mayHavePii(String workflowId) {
        return marking.computeIfAbsent(workflowId, id -> masks.hasPiiFields(workspace, id));
    }

    public static boolean hasName(MetricUpdateCollector.MetricFact fact, String object) {
        return object.equals(fact.object());
    }

    public static boolean hasName(MetricQueries.ObjectWrites objectWrites, String shown) {
        return shown.equals(objectWrites.object());
    }
}
