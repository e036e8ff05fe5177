package dev.semel.server.api;

import dev.semel.Semel;
import dev.semel.store.Rows;
import dev.semel.trigger.Trigger;
import java.util.concurrent.ConcurrentHashMap;

/** Caches the id and key secret of each workspace, which never change. */
final class Spaces {
    private final Semel semel;
    private final ConcurrentHashMap<Integer, Trigger.Space> cache = new ConcurrentHashMap<>();

    Spaces(Semel semel) {
        this.semel = semel;
    }

    Trigger.Space of(int workspace) {
        Trigger.Space space = cache.get(workspace);
        if (space == null) {
            Rows.Workspace row = semel.view(reads -> reads.workspace(workspace));
            if (row == null) {
                throw new IllegalStateException("workspace " + workspace + " of a token does not exist");
            }
            space = new Trigger.Space(row.ws(), row.secret());
            cache.put(workspace, space);
        }
        return space;
    }
}
