package dev.semel.server.operations;

import dev.semel.admission.Trigger;
import dev.semel.runtime.SemelRuntime;
import dev.semel.store.DatabaseRows;
import java.util.concurrent.ConcurrentHashMap;

/** Caches the id and key secret of each workspace, which never change. */
public final class WorkspaceIdAndSecretCache {
    private final SemelRuntime semel;
    private final ConcurrentHashMap<Integer, Trigger.TriggerWorkspace> cache = new ConcurrentHashMap<>();

    public WorkspaceIdAndSecretCache(SemelRuntime semel) {
        this.semel = semel;
    }

    public Trigger.TriggerWorkspace get(int workspace) {
        Trigger.TriggerWorkspace space = cache.get(workspace);
        if (space == null) {
            DatabaseRows.WorkspaceRow row = semel.view(reads -> reads.workspace(workspace));
            if (row == null) {
                throw new IllegalStateException("workspace " + workspace + " of a token does not exist");
            }
            space = new Trigger.TriggerWorkspace(row.ws(), row.secret());
            cache.put(workspace, space);
        }
        return space;
    }
}
