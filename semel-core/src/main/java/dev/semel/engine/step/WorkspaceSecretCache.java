package dev.semel.engine.step;

import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreQueries;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The hash secrets of workspaces. A secret never changes, and a workspace is never deleted. */
public final class WorkspaceSecretCache {
    private static final int MOST = 10_000;

    private final ConcurrentHashMap<Integer, byte[]> secrets = new ConcurrentHashMap<>();

    interface StoreReader {
        DatabaseRows.@Nullable WorkspaceRow read(Function<StoreQueries, DatabaseRows.@Nullable WorkspaceRow> query);
    }

    /** @param reader reads from the store if the secret is not cached */
    byte[] find(int workspace, StoreReader reader) {
        byte[] known = secrets.get(workspace);
        if (known != null) {
            return known;
        }
        DatabaseRows.WorkspaceRow row = reader.read(reads -> reads.workspace(workspace));
        if (row == null) {
            throw new IllegalStateException("a run belongs to a workspace that does not exist");
        }
        if (secrets.size() >= MOST) {
            secrets.clear();
        }
        secrets.put(workspace, row.secret());
        return row.secret();
    }
}
