package dev.semel.runtime;

import dev.semel.engine.commit.GroupCommitter;
import dev.semel.engine.run.RunExecutor;
import dev.semel.engine.timer.ScheduleTicker;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.run.RunId;
import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreWrite;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/** Lets the test kit observe whether an engine is idle and make it poll for work. Not for production code. */
public final class EngineIdleTestProbe {
    private static final int MOST_OWNED = 100_000;

    private final SemelRuntime semel;
    private final GroupCommitter committer;
    private final RunExecutor runs;
    private final ScheduleTicker ticker;

    EngineIdleTestProbe(SemelRuntime semel, GroupCommitter committer, RunExecutor runs, ScheduleTicker ticker) {
        this.semel = semel;
        this.committer = committer;
        this.runs = runs;
        this.ticker = ticker;
    }

    public long writeCount() {
        return committer.submittedWrites();
    }

    private record StoreState(long now, long next, boolean expiredResend, List<StoreWrite.RunExecution> owned) {}

    /** Empty while the engine has work. {@link StoreWrite.Suspension#NEVER}: only a message can create work. */
    public OptionalLong nextDueIfIdle() {
        long before = writeCount();
        Long lease = committer.lease();
        OptionalLong tick = ticker.idleUntil();
        OptionalLong replay = semel.replays().replayer().idleUntil();
        if (lease == null
                || tick.isEmpty()
                || replay.isEmpty()
                || runs.idleUntil().isEmpty()
                || !committer.isIdle()) {
            return OptionalLong.empty();
        }
        StoreState outside = Objects.requireNonNull(semel.view(reads -> new StoreState(
                reads.now(),
                reads.nextDue(),
                !reads.expiredResends(1).isEmpty(),
                reads.runsOfLease(lease, null, MOST_OWNED))));
        // Claimed but not loaded yet, or unloaded and about to be claimed again.
        boolean between = outside.owned().stream().anyMatch(driver -> !runs.isActive(driver.run()));
        OptionalLong inside = runs.idleUntil();
        if (between || outside.next() <= outside.now() || outside.expiredResend() || inside.isEmpty()) {
            return OptionalLong.empty();
        }
        return before == writeCount()
                ? OptionalLong.of(
                        LongStream.of(tick.getAsLong(), replay.getAsLong(), inside.getAsLong(), outside.next())
                                .min()
                                .getAsLong())
                : OptionalLong.empty();
    }

    public void lookForWork() {
        semel.lookForWork();
    }

    /** The runs that this engine owns according to the store. */
    public List<RunId> ownedRuns() {
        Long lease = committer.lease();
        List<StoreWrite.RunExecution> owned = lease == null
                ? List.of()
                : Objects.requireNonNull(semel.view(reads -> reads.runsOfLease(lease, null, MOST_OWNED)));
        return owned.stream().map(StoreWrite.RunExecution::run).toList();
    }

    /** The workspace of runs that Java code starts. */
    public int workspace() {
        return semel.javaWorkflows().defaultWorkspace().id();
    }

    /** The stored row of a run that Java code started; null if it does not exist. */
    public DatabaseRows.@Nullable RunRow findRun(String runId) {
        try {
            return semel.javaWorkflows().find(workspace(), runId);
        } catch (SemelException e) {
            if (e.code() == ErrorCode.NOT_FOUND) {
                return null;
            }
            throw e;
        }
    }
}
