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
 * Objects that are counted over many runs, as everybody may see them: masked as the runs are that wrote to them. For one
 * answer; which workflows ever marked a field is found out once for each, and nothing more is read of the others.
 */
final class ObjectMasks {
    /** The newest that wrote to it. One object has one name, which all of them made in the same way. */
    private static final int MOST_ROWS = 3;

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

    /** @param rows of this object, as far as somebody read them already */
    String of(Figures.Thing thing, List<Ledger.Row> rows) {
        if (!marks(thing.workflowId())) {
            return thing.object();
        }
        // Nothing is left of who wrote to it, so nobody can say what of its name is personal.
        String shown = rows.isEmpty() ? Masks.MARK : thing.object();
        for (Ledger.Row row : rows.subList(0, Math.min(rows.size(), MOST_ROWS))) {
            Rows.Run run = semel.view(reads -> reads.run(workspace, row.holder().run()));
            shown = masks.of(run, workspace, thing.workflowId()).text(shown);
        }
        return shown;
    }

    private List<Ledger.Row> rows(Figures.Thing thing) {
        var filter = new Reads.EffectFilter(
                workspace, null, thing.workflowId(), thing.object(), null, null, Reads.Part.DEEDS, null, MOST_ROWS);
        return Objects.requireNonNull(semel.view(reads -> reads.effects(filter)))
                .found();
    }

    /** Whether any version of it does, since runs of all of them are counted together. */
    private boolean marks(String workflowId) {
        return marking.computeIfAbsent(workflowId, id -> masks.marks(workspace, id));
    }

    /** Whether somebody asks for this very object. */
    static boolean is(Counted.Fact fact, String object) {
        return object.equals(fact.object());
    }

    /** Whether it is shown as it is. */
    static boolean is(Figures.Thing thing, String shown) {
        return shown.equals(thing.object());
    }
}
