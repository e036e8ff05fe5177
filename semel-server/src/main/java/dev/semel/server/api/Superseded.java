package dev.semel.server.api;

import dev.semel.Semel;
import dev.semel.run.RunId;
import dev.semel.store.Reads;
import dev.semel.store.Rows;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Finds the safe replay that superseded a run. */
final class Superseded {
    private Superseded() {}

    /** The public id of the newest replay; null if the run was never replayed. */
    static @Nullable String by(Semel semel, int workspace, RunId run) {
        return semel.view(reads -> by(reads, workspace, run));
    }

    private static @Nullable String by(Reads reads, int workspace, RunId run) {
        Rows.Run row = reads.run(workspace, run);
        List<RunId> line = row == null ? List.of() : reads.lineage(row.lineage());
        for (RunId other : line.reversed()) {
            if (other.compareTo(run) <= 0) {
                return null;
            }
            Rows.Run one = reads.run(workspace, other);
            if (one != null && one.replayOf() != null) {
                return one.runIdText();
            }
        }
        return null;
    }
}
