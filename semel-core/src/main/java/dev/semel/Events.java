package dev.semel;

import dev.semel.engine.Catalog;
import dev.semel.store.Rows;
import dev.semel.store.StoreFailure;
import dev.semel.workflow.Current;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What the doors for events need of the engine. */
public final class Events {
    private final Semel semel;
    private final Catalog catalog;

    Events(Semel semel, Catalog catalog) {
        this.semel = semel;
        this.catalog = catalog;
    }

    /** The workflows of a workspace that events may start. Those whose code is elsewhere are not known here. */
    public List<Current> subscribers(int workspace) {
        List<Current> all = new ArrayList<>();
        List<Rows.Workflow> rows = semel.view(reads -> reads.workflows(workspace));
        for (Rows.Workflow row : rows == null ? List.<Rows.Workflow>of() : rows) {
            Current current = current(row);
            if (current != null && !current.published().extras().doors().events().isEmpty()) {
                all.add(current);
            }
        }
        return all;
    }

    private @Nullable Current current(Rows.Workflow row) {
        try {
            return semel.workflow(row.ws(), row.workflowId());
        } catch (Catalog.NotKnownHere e) {
            return null;
        }
    }

    /** Looks whether anything was published since; {@link Semel#changes} is right afterwards. */
    public void look() {
        try {
            catalog.check();
        } catch (StoreFailure e) {
            throw Semel.unavailable(e);
        }
    }
}
