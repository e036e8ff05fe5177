package dev.semel.store;

import dev.semel.run.RunId;
import dev.semel.run.RunState;
import java.util.List;
import org.jspecify.annotations.Nullable;

public interface ReplayPlanQueries {
    ReplayPlanStoreWriteCommand.@Nullable ReplayPlan plan(int ws, RunId id);

    /** Newest first. */
    List<ReplayPlanStoreWriteCommand.ReplayPlan> page(int ws, @Nullable RunId before, int limit);

    /** Those that lose safe re-send soonest first, then in the order of their runs. */
    List<ReplayPlanStoreWriteCommand.PlanItem> items(ItemFilter wanted, @Nullable RunId after, int limit);

    /** Selects items of a plan: by action, one bit each (0 for all), and by outcome (null for all). */
    record ItemFilter(RunId plan, int actions, ReplayPlanStoreWriteCommand.@Nullable ItemOutcome outcome) {}

    /** Number of items by outcome and by the current state of their new runs. */
    List<ItemCount> progress(RunId plan);

    /** @param state of the new runs; null if there are none or they were deleted */
    record ItemCount(
            ReplayPlanStoreWriteCommand.ItemOutcome outcome,
            @Nullable RunState state,
            long items) {}

    /** Those of these runs that have ended, with their final state. */
    List<EndedRun> endedRuns(List<RunId> runs);

    record EndedRun(RunId run, RunState state) {}

    /** The plan being applied that a worker claimed longest ago; null for none. */
    ReplayPlanStoreWriteCommand.@Nullable ReplayPlan applying();

    /** Plans being applied that this worker holds or that no worker holds at this time, longest waiting first. */
    List<ReplayPlanStoreWriteCommand.ReplayPlan> claimable(RunId worker, long now, int limit);

    boolean hasPlansBefore(long time);
}
