package dev.semel.key;

import dev.semel.run.RunId;
import dev.semel.run.RunState;
import org.jspecify.annotations.Nullable;

/**
 * What the store remembers under a name (a key, a chosen run id, a payload), with the head of the run it names. It holds
 * no payload: a digest, and one keyed hash per field so that a conflict can say which field differs. Times are
 * microseconds of the store's clock.
 */
public record Known(
        RunId run,
        @Nullable String chosenRunId,
        byte[] digest,
        byte[] fields,
        String workflowId,
        int version,
        RunState state,
        RunId lineage,
        long firstAt,
        long expiresAt,
        int flags) {

    /** The name does not expire while its run is unfinished. */
    public static final int HOLD = 1;
    /** A failed run frees the name, and the next run belongs to the same lineage. */
    public static final int RERUN_FAILED = 2;
    /** An operator let the name go. */
    public static final int RELEASED = 4;

    public boolean has(int flag) {
        return (flags & flag) != 0;
    }

    /** The same name, where another run of the line stands for it by now. */
    public Known stoodForBy(RunId newer, @Nullable String chosen, RunState newerState) {
        return new Known(
                newer, chosen, digest, fields, workflowId, version, newerState, lineage, firstAt, expiresAt, flags);
    }

    /** The run id that callers see. */
    public String runIdText() {
        return chosenRunId != null ? chosenRunId : run.text();
    }
}
