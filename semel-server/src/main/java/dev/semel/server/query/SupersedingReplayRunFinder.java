package dev.semel.server.query;

import dev.semel.run.RunId;
import dev.semel.runtime.SemelRuntime;
import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreQueries;
import java.util.List;
import org.jspecify.annotations.Nullable;

public final class SupersedingReplayRunFinder {
    private SupersedingReplayRunFinder() {}

    /** The public id of the newest replay; null if the run was never replayed. */
    public static @Nullable String findNewest(SemelRuntime semel, int workspace, RunId run) {
        return semel.view(reads -> findNewest(reads, workspace, run));
    }

    private static @Nullable String findNewest(StoreQueries reads, int workspace, RunId run) {
        DatabaseRows.RunRow row = reads.run(workspace, run);
        List<RunId> line = row == null ? List.of() : reads.lineage(row.lineage());
        for (RunId other : line.reversed()) {
            if (other.compareTo(run) <= 0) {
                return null;
            }
            DatabaseRows.RunRow one = reads.run(workspace, other);
            if (one != null && one.replayOf() != null) {
                return one.runIdText();
            }
        }
        return null;
    }
}
