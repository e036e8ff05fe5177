package dev.semel.server.api;

import dev.semel.Semel;
import dev.semel.effect.Ledger;
import dev.semel.store.Counted;
import dev.semel.store.Figures;
import dev.semel.store.Reads;
import dev.semel.store.Rows;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Masks personal data (PII) in object names of the monitoring lists, as the runs that wrote them mask it. One instance
 * serves one response and caches which workflows mark PII fields.
 */
final class ObjectMasks {
    /** The newest effects of an object are enough: all of them derive its name in the same way. */
    private static final int MAX_ROWS = 3;

    private final Semel semel;
    private final int workspace;
    private final Masks masks;
    private final Map<String, Boolean> marking = new HashMap<>();

    ObjectMasks(Semel semel, int workspace) {
        this.semel = semel;
        this.workspace = workspace;
        this.masks = new Masks(semel);
    }

    String of(Figures.Thing thing) {
        return marks(thing.workflowId()) ? of(thing, rows(thing)) : thing.object();
    }

    /** @param rows effects of this object that the caller has already read */
    String of(Figures.Thing thing, List<Ledger.Row> rows) {
        if (!marks(thing.workflowId())) {
            return thing.object();
        }
        // Without a recorded effect nothing shows which part of the name is PII, so all of it is masked.
        String shown = rows.isEmpty() ? Masks.MARK : thing.object();
        for (Ledger.Row row : rows.subList(0, Math.min(rows.size(), MAX_ROWS))) {
            Rows.Run run = semel.view(reads -> reads.run(workspace, row.holder().run()));
            shown = masks.of(run, workspace, thing.workflowId()).text(shown);
        }
        return shown;
    }

    private List<Ledger.Row> rows(Figures.Thing thing) {
        var filter = new Reads.EffectFilter(
                workspace, null, thing.workflowId(), thing.object(), null, null, Reads.Part.DEEDS, null, MAX_ROWS);
        return Objects.requireNonNull(semel.view(reads -> reads.effects(filter)))
                .found();
    }

    /** Checks all versions of the workflow, because their runs are counted together. */
    private boolean marks(String workflowId) {
        return marking.computeIfAbsent(workflowId, id -> masks.marks(workspace, id));
    }

    static boolean is(Counted.Fact fact, String object) {
        return object.equals(fact.object());
    }

    static boolean is(Figures.Thing thing, String shown) {
        return shown.equals(thing.object());
    }
}
