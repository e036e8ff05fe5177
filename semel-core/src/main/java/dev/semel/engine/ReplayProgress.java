package dev.semel.engine;

import dev.semel.replay.ApplyOptions;
import dev.semel.run.RunId;
import dev.semel.workflow.RunState;
import dev.semel.store.ReplayPlanQueries;
import dev.semel.store.StoreQueries;
import dev.semel.store.ReplayPlanOperation;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Progress of a replay plan: how many of its runs started, ended and failed.
 * The executing worker reads all items once; after that it polls only runs that have not ended, a bounded number at a
 * time.
 */
final class ReplayProgress {
    private static final int LOOKED_AT = 1_000;
    private static final int FOR_EACH_FAILURE = 10;

    private final Set<RunId> open = new LinkedHashSet<>();
    private long applied;
    private long failed;
    private long ended;

    static ReplayProgress load(StoreQueries reads, RunId plan) {
        ReplayProgress progress = new ReplayProgress();
        ReplayPlanQueries.ItemFilter made = new ReplayPlanQueries.ItemFilter(plan, 0, ReplayPlanOperation.ItemOutcome.APPLIED);
        RunId after = null;
        List<ReplayPlanOperation.PlanItem> page;
        do {
            page = reads.plans().items(made, after, LOOKED_AT);
            progress.addApplied(page);
            after = page.isEmpty() ? null : page.getLast().run();
        } while (page.size() == LOOKED_AT);
        return progress;
    }

    /** Adds processed items; those that were applied have runs. */
    void addApplied(List<ReplayPlanOperation.PlanItem> items) {
        for (ReplayPlanOperation.PlanItem item : items) {
            if (item.outcome() == ReplayPlanOperation.ItemOutcome.APPLIED && item.newRun() != null && open.add(item.newRun())) {
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
    String reasonToStop(ApplyOptions manner) {
        if (manner.canary() > 0 && applied <= manner.canary() && failed > 0) {
            return failed + " of the first " + manner.canary() + " runs failed";
        }
        return manner.stopAfter() > 0 && failed >= manner.stopAfter() ? failed + " of its runs failed" : null;
    }

    /** Number of runs that may start now: none while canary runs are still active. */
    int allowedStarts(ApplyOptions manner, int most) {
        int limited = limitByFailures(manner, most);
        if (manner.canary() == 0 || applied > manner.canary()) {
            return limited;
        }
        long left = manner.canary() - applied;
        return left > 0 ? (int) Math.min(left, limited) : ended < applied ? 0 : limited;
    }

    /**
     * A plan that stops after failures limits its active runs; otherwise all would have started before the first
     * failure.
     */
    private int limitByFailures(ApplyOptions manner, int most) {
        if (manner.stopAfter() == 0) {
            return most;
        }
        long room = Math.max(ApplyOptions.MAX_UNFINISHED, FOR_EACH_FAILURE * (long) manner.stopAfter()) - open.size();
        return Math.clamp(room, 0, most);
    }
}
