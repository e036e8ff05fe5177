package dev.semel.server.api;

import dev.semel.Semel;
import dev.semel.store.Rows;
import dev.semel.trigger.Trigger;
import java.util.concurrent.ConcurrentHashMap;

/** Workspaces by number. Their secrets never change, so they may be remembered. */
final class Spaces {
    private final Semel semel;
    private final ConcurrentHashMap<Integer, Trigger.Space> known = new ConcurrentHashMap<>();

    Spaces(Semel semel) {
        this.semel = semel;
    }

    Trigger.Space of(int workspace) {
        Trigger.Space space = known.get(workspace);
        if (space == null) {
            Rows.Workspace row = semel.view(reads -> reads.workspace(workspace));
            if (row == null) {
                throw new IllegalStateException("a token belongs to workspace " + workspace + ", which does not exist");
            }
            space = new Trigger.Space(row.ws(), row.secret());
            known.put(workspace, space);
        }
        return space;
    }
}
