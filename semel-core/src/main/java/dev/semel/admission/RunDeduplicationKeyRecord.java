package dev.semel.admission;

import dev.semel.run.RunId;
import dev.semel.run.RunState;
import org.jspecify.annotations.Nullable;

/** Contains no payload, only a digest and one keyed hash per field. Times are microseconds of the store's clock. */
public record RunDeduplicationKeyRecord(
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

    /** The key does not expire while its run is unfinished. */
    public static final int HOLD = 1;
    /** A failed run releases the key, and the next run belongs to the same lineage. */
    public static final int RERUN_FAILED = 2;
    /** An operator released the key. */
    public static final int RELEASED = 4;

    public boolean has(int flag) {
        return (flags & flag) != 0;
    }

    public RunDeduplicationKeyRecord withRun(RunId newer, @Nullable String chosen, RunState newerState) {
        return new RunDeduplicationKeyRecord(
                newer, chosen, digest, fields, workflowId, version, newerState, lineage, firstAt, expiresAt, flags);
    }

    /** The run id that callers see. */
    public String runIdText() {
        return chosenRunId != null ? chosenRunId : run.text();
    }
}
