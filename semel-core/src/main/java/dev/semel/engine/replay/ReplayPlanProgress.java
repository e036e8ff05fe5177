package dev.semel.engine.replay;

import dev.semel.replay.ReplayPlanApplyOptions;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.ReplayPlanQueries;
import dev.semel.store.ReplayPlanStoreWriteCommand;
import dev.semel.store.StoreQueries;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The worker reads all items once; after that it polls only runs that have not ended, a bounded number at a time. */
final class ReplayPlanProgress {
    private static final int LOOKED_AT = 1_000;
    private static final int FOR_EACH_FAILURE = 10;

    private final Set<RunId> open = new LinkedHashSet<>();
    private long applied;
    private long failed;
    private long ended;

    static ReplayPlanProgress load(StoreQueries reads, RunId plan) {
        ReplayPlanProgress progress = new ReplayPlanProgress();
        ReplayPlanQueries.ItemFilter made =
                new ReplayPlanQueries.ItemFilter(plan, 0, ReplayPlanStoreWriteCommand.ItemOutcome.APPLIED);
        RunId after = null;
        List<ReplayPlanStoreWriteCommand.PlanItem> page;
        do {
            page = reads.plans().items(made, after, LOOKED_AT);
            progress.addApplied(page);
            after = page.isEmpty() ? null : page.getLast().run();
        } while (page.size() == LOOKED_AT);
        return progress;
    }

    /** Adds processed items; those that were applied have runs. */
    void addApplied(List<ReplayPlanStoreWriteCommand.PlanItem> items) {
        for (ReplayPlanStoreWriteCommand.PlanItem item : items) {
            if (item.outcome() == ReplayPlanStoreWriteCommand.ItemOutcome.APPLIED
                    && item.newRun() != null
                    && open.add(item.newRun())) {
                applied++;
            }
        }
    }

    /** Polls the runs that were polled least recently. */
    void refresh(StoreQueries reads) {
        Set<RunId> some = new LinkedHashSet<>(open.stream().limit(LOOKED_AT).toList());
        for (ReplayPlanQueries.EndedRun one : reads.plans().endedRuns(List.copyOf(some))) {
            open.remove(one.run());
            some.remove(one.run());
            ended++;
            failed += one.state() == RunState.FAILED || one.state() == RunState.CANCELLED ? 1 : 0;
        }
        if (some.size() < open.size()) {
            some.forEach(open::remove);
            open.addAll(some);
        }
    }

    /** Returns why the plan must stop, or null to continue. */
    @Nullable
    String reasonToStop(ReplayPlanApplyOptions applyOptions) {
        if (applyOptions.canary() > 0 && applied <= applyOptions.canary() && failed > 0) {
            return failed + " of the first " + applyOptions.canary() + " runs failed";
        }
        return applyOptions.stopAfter() > 0 && failed >= applyOptions.stopAfter()
                ? failed + " of its runs failed"
                : null;
    }

    /** Number of runs that may start now: none while canary runs are still active. */
    int allowedStarts(ReplayPlanApplyOptions applyOptions, int most) {
        int limited = limitByFailures(applyOptions, most);
        if (applyOptions.canary() == 0 || applied > applyOptions.canary()) {
            return limited;
        }
        long left = applyOptions.canary() - applied;
        return left > 0 ? (int) Math.min(left, limited) : ended < applied ? 0 : limited;
    }

    /** Without this limit, all runs would have started before the first failure. */
    private int limitByFailures(ReplayPlanApplyOptions applyOptions, int most) {
        if (applyOptions.stopAfter() == 0) {
            return most;
        }
        long room = Math.max(ReplayPlanApplyOptions.MAX_UNFINISHED, FOR_EACH_FAILURE * (long) applyOptions.stopAfter())
                - open.size();
        return Math.clamp(room, 0, most);
    }
}
