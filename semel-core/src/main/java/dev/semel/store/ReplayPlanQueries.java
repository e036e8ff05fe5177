package dev.semel.store;

import dev.semel.run.RunId;
import dev.semel.workflow.RunState;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Queries for safe-replay plans and their items. */
public interface ReplayPlanQueries {
    ReplayPlanOperation.@Nullable ReplayPlan plan(int ws, RunId id);

    /** Newest first. */
    List<ReplayPlanOperation.ReplayPlan> page(int ws, @Nullable RunId before, int limit);

    /**
     * Items in the order of their runs.
     *
     * @param wanted the plan and the filter
     */
    List<ReplayPlanOperation.PlanItem> items(ItemFilter wanted, @Nullable RunId after, int limit);

    /** Selects items of a plan: by action, one bit each (0 for all), and by outcome (null for all). */
    record ItemFilter(RunId plan, int actions, ReplayPlanOperation.@Nullable ItemOutcome outcome) {}

    /** Number of items by outcome and by the current state of their new runs. */
    List<ItemCount> progress(RunId plan);

    /**
     * Number of plan items with one outcome and run state.
     *
     * @param state of the new runs; null if there are none or they were deleted
     */
    record ItemCount(ReplayPlanOperation.ItemOutcome outcome, @Nullable RunState state, long items) {}

    /** Those of these runs that have ended, with their final state. */
    List<EndedRun> endedRuns(List<RunId> runs);

    /** A run that has ended, with its final state. */
    record EndedRun(RunId run, RunState state) {}

    /** The plan being applied that a worker claimed longest ago; null for none. */
    ReplayPlanOperation.@Nullable ReplayPlan applying();

    /** Plans being applied that this worker holds or that no worker holds at this time, longest waiting first. */
    List<ReplayPlanOperation.ReplayPlan> claimable(RunId worker, long now, int limit);

    /** Whether a plan was created before this time. */
    boolean hasPlansBefore(long time);
}
